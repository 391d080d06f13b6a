package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"bakeoff/harness/admin"
	harness "bakeoff/harness/run"
	"bakeoff/protocol"
)

// adminFlags are those of the listener that tells what a server has used: of `serve NAME` and `serve store`.
type adminFlags struct {
	addr  string
	hosts []string
	pprof bool
}

func (f *adminFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.addr, "admin", "", "`host:port` of a second listener that tells what the server has used, for 'bakeoff run --target' and Prometheus;\n"+
		":port is one of loopback's (default: none)")
	flags.StringSliceVar(&f.hosts, "admin-host", nil, "`names` by which the admin listener may be asked, comma-separated, beside addresses and localhost")
	flags.BoolVar(&f.pprof, "admin-pprof", false, "the admin listener serves profiles, too, under /debug/pprof")
}

// check says what is wrong with the flags; measured is the address of the calls.
func (f adminFlags) check(ctx context.Context, measured string) error {
	if f.addr == "" {
		if len(f.hosts) > 0 || f.pprof {
			return errors.New("--admin-host, --admin-pprof: are about --admin, which is not given")
		}
		return nil
	}
	if err := checkListen(ctx, f.addr); err != nil {
		return asFlag("--admin", err)
	}
	_, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		return err
	}
	if _, other, err := net.SplitHostPort(measured); err == nil && other == port && !zeroPort(port) {
		return fmt.Errorf("--admin %s: has the port of --addr %s: calls are measured there, so that nothing else is answered; choose another", f.addr, measured)
	}
	return nil
}

// zeroPort says that a port means any that is free.
func zeroPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n == 0
}

// asFlag gives an error about --addr the name of the flag that it is about.
func asFlag(flag string, err error) error {
	return errors.New(strings.Replace(err.Error(), "--addr", flag, 1))
}

// listenAside opens a listener beside the one that is measured: on loopback unless a host is named.
func listenAside(ctx context.Context, flag, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := listen(ctx, net.JoinHostPort(host, port))
	if err != nil {
		return nil, asFlag(flag, err)
	}
	return l, nil
}

// aside is an admin listener under way. All of it may be called on nil, which is a server without one.
type aside struct{ server *admin.Server }

// open starts the listener; nothing is ready yet.
func (f adminFlags) open(ctx context.Context, counters func() map[string]int64, examine func(context.Context, func(port int)) error) (*aside, error) {
	if f.addr == "" {
		return nil, nil
	}
	l, err := listenAside(ctx, "--admin", f.addr)
	if err != nil {
		return nil, err
	}
	read := admin.Own(counters)
	if examine == nil { // then what this process starts is what it serves by
		read = admin.OwnTree(counters)
	}
	server := admin.Listen(l, admin.Options{
		Read: read,
		Own:  true, Hosts: f.hosts, Pprof: f.pprof, Examine: examine,
	})
	context.AfterFunc(ctx, server.Stopping) // what is in flight is answered still, and nothing new should come
	return &aside{server}, nil
}

// ready begins to tell what is served, and gives the words that say so.
func (a *aside) ready(info admin.Info) string {
	if a == nil {
		return ""
	}
	info.Version = version()
	a.server.Ready(info)
	return fmt.Sprintf("its admin listener is http://%s\n", a.server.Addr())
}

func (a *aside) close() error {
	if a == nil {
		return nil
	}
	return a.server.Close()
}

// serverInfo is what a server tells of itself.
func serverInfo(name, addr, store string, auth bool, o protocol.Options) (admin.Info, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return admin.Info{}, err
	}
	return admin.Info{Role: admin.RoleServer, Serves: name, Addr: addr, Store: store, Auth: auth, Options: b}, nil
}

// examination starts a server like this one in a process of its own, with what the conformance kit asks for, as a run does with
// servers that it starts: what the kit does to it is then in no figure of this one.
func examination(name string, f serveFlags, o protocol.Options) func(context.Context, func(port int)) error {
	return func(ctx context.Context, tell func(port int)) error {
		executable, err := ownFile()
		if err != nil {
			return fmt.Errorf("find this program's file, to start it again: %w", err)
		}
		host, _, err := net.SplitHostPort(f.addr)
		if err != nil {
			return err
		}
		o.InFlight = max(o.InFlight, conformanceCalls)
		b, err := json.Marshal(o)
		if err != nil {
			return err
		}
		server := harness.Command{Args: []string{"serve", name, "--control", "--probe", "--auth", "--addr", net.JoinHostPort(host, "0"), "--store", f.store, "--options", string(b)}}
		return harness.Serving(ctx, executable, "server "+name, nil, func(string) harness.Command { return server }, func(ctx context.Context, addr string) error {
			_, port, err := net.SplitHostPort(addr)
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(port)
			if err != nil {
				return err
			}
			tell(n)
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}
}
