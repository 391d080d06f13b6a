package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bakeoff/harness/admin"
	"bakeoff/harness/control"
	"bakeoff/store/miniaero"
)

// storeFlags are what `bakeoff serve store` is told.
type storeFlags struct {
	addr       string
	namespaces []string
	advertise  []string
	defaultTTL time.Duration
	maxMemory  int64
	maxRecords int64
	maxConns   int
	control    bool
	admin      adminFlags
}

func serveStoreCommand(s *streams) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "store",
		Short: "serve the embedded Aerospike until it is stopped",
		Long: `serve store runs miniaero, a server that speaks Aerospike's wire protocol, by itself, with its data in memory. Any
Aerospike client can use it; a server of ours does with --store aerospike://host:port/namespace.`,
		Example: `  bakeoff serve store --addr 127.0.0.1:3000
  bakeoff serve grpc --store aerospike://127.0.0.1:3000/test`,
		Args: cobra.NoArgs,
		RunE: work(func(cmd *cobra.Command, _ []string) error { return serveStore(cmd.Context(), s, f) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:3000", "`host:port` to listen on; port 0 takes a free one")
	flags.StringSliceVar(&f.namespaces, "namespace", []string{storeNamespace}, "`names` of the namespaces, comma-separated")
	flags.StringSliceVar(&f.advertise, "advertise", nil, "`host:port` that clients are told to use (default: the one that they came by)")
	flags.DurationVar(&f.defaultTTL, "default-ttl", 0, "life of records whose writer leaves it to the namespace; 0 is for ever")
	flags.Int64Var(&f.maxMemory, "max-memory", 0, "`bytes` of a namespace, about; a write that grows it beyond fails; 0 is no bound")
	flags.Int64Var(&f.maxRecords, "max-records", 0, "records of a namespace; 0 is no bound")
	flags.IntVar(&f.maxConns, "max-conns", 15000, "connections; further ones are closed at once")
	f.admin.register(flags)
	flags.BoolVar(&f.control, "control", false, "speak control lines, and stop when stdin ends")
	flags.Lookup("control").Hidden = true
	return cmd
}

func (f storeFlags) check() error {
	for _, c := range []struct {
		flag string
		bad  bool
		want string
	}{
		{"--default-ttl", f.defaultTTL < 0, "must not be negative"},
		{"--max-memory", f.maxMemory < 0, "must not be negative"},
		{"--max-records", f.maxRecords < 0, "must not be negative"},
		{"--max-conns", f.maxConns < 1, "must be at least 1"},
		{"--namespace", len(f.namespaces) == 0, "needs a name"},
	} {
		if c.bad {
			return fmt.Errorf("%s: %s", c.flag, c.want)
		}
	}
	return nil
}

func serveStore(ctx context.Context, s *streams, f storeFlags) error {
	if err := errors.Join(f.check(), checkListen(ctx, f.addr), f.admin.check(ctx, f.addr)); err != nil {
		return usage(err)
	}
	var peer *control.Peer
	if f.control {
		var stop context.CancelFunc
		peer = control.NewPeer(s.in, s.out)
		ctx, stop = peer.Context(ctx)
		defer stop()
	}
	server, err := miniaero.Listen(f.addr, miniaero.Options{
		Namespaces: f.namespaces, Advertise: f.advertise, DefaultTTL: f.defaultTTL,
		MaxMemory: f.maxMemory, MaxRecords: f.maxRecords, MaxConns: f.maxConns,
	})
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES) {
			return listenError(f.addr, err)
		}
		return err
	}
	defer server.Close()
	beside, err := f.admin.open(ctx, func() map[string]int64 { return storeCounters(server) }, nil)
	if err != nil {
		return err
	}
	defer beside.close()
	told := beside.ready(admin.Info{Role: admin.RoleStore, Serves: "miniaero", Addr: server.Addr()})
	if peer == nil {
		if _, err := fmt.Fprintf(s.out, "the store is listening on %s, namespaces %v; Ctrl-C stops it\n%s", server.Addr(), f.namespaces, told); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	fmt.Fprint(s.err, told) // stdout has control lines
	if err := peer.Send(control.Line{Event: control.Listening, Addr: server.Addr()}); err != nil {
		return err
	}
	return tellCounters(ctx, peer, func() map[string]int64 { return storeCounters(server) })
}

// storeCounters are the operations on data; what clients ask to keep track of the cluster is not of a trial's calls.
func storeCounters(server *miniaero.Server) map[string]int64 {
	counters := map[string]int64{}
	for kind, n := range server.Counters() {
		if kind != miniaero.KindInfo {
			counters[kind.String()] = n
		}
	}
	return counters
}
