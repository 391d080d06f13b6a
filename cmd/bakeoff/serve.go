package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bakeoff/harness/control"
	"bakeoff/harness/planted"
	"bakeoff/protocol"
	"bakeoff/protocol/conformance"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// serveFlags are what `bakeoff serve` is told. `bakeoff run` tells its servers by the same flags.
type serveFlags struct {
	addr, store string
	backend     string
	auth        bool
	clients     []string
	tokenTTL    time.Duration
	knobs       []string
	reflection  bool
	inFlight    int
	maxMessage  int
	options     string
	control     bool
	probe       bool
	planted     plantedFlags
	slow        slowFlags
	admin       adminFlags
	tls         serveTLSFlags
}

func serveCommand(s *streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve NAME",
		Short: "serve Data and RouteGuide over one protocol until it is stopped",
		Long: `serve runs the server of one subject ('bakeoff list' has the names) and answers until Ctrl-C.

Without --client, Login accepts the demo client: id ` + service.DemoClientID + `, secret ` + service.DemoSecret + `. Neither is a secret: they are the same
everywhere, so that a server on an address that others reach wants a --client of its own.

The gRPC server answers the published RouteGuide and Data clients, grpcurl and ghz; for its reflection service:
  bakeoff serve grpc --addr 127.0.0.1:20000 --reflection

Over TLS, with certificates of 'bakeoff certs certs':
  bakeoff serve grpc --addr 127.0.0.1:20000 --tls-cert certs/server.pem --tls-key certs/server-key.pem

A front (front-grpc, front-thrift, front-http, and in PHP php-grpc, php-http) makes each call again to a backend of that protocol: one that
runs already, by --backend, or else one of its own, in the same process:
  bakeoff serve grpc --addr 127.0.0.1:20000
  bakeoff serve front-grpc --addr 127.0.0.1:20001 --backend 127.0.0.1:20000 --option backend-conns=2`,
		Args: exactly(1, "the name of a protocol", "bakeoff serve grpc"),
		RunE: work(func(cmd *cobra.Command, args []string) error {
			p, err := suite.Find(args[0])
			if err != nil {
				return usage(err)
			}
			if err := f.checkBackend(cmd.Context(), p, cmd.Flags().Changed); err != nil {
				return usage(err)
			}
			if !f.control { // who starts it so has looked, and tells all servers the same
				if err := checkAlone(p, cmd.Flags().Changed); err != nil {
					return usage(err)
				}
				if p.Missing != nil {
					if err := p.Missing(cmd.Context()); err != nil {
						return fmt.Errorf("serve %s: %w", p.Name, err)
					}
				}
			}
			return serve(cmd.Context(), s, p, f)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", "127.0.0.1:0", "`host:port` to listen on; port 0 takes a free one")
	flags.StringVar(&f.store, "store", storeMemory, serveStoreUsage)
	flags.StringVar(&f.backend, "backend", "", "`host:port` of the server that a front asks (default: one of its own, within it)")
	flags.BoolVar(&f.auth, "auth", false, "refuse DataType without a token that Login gave")
	flags.StringArrayVar(&f.clients, "client", nil, "`id:secret` that Login accepts; may be repeated (default: the demo client, "+service.DemoClientID+":"+service.DemoSecret+")")
	flags.DurationVar(&f.tokenTTL, "token-ttl", 15*time.Minute, "life of a token")
	flags.StringArrayVar(&f.knobs, "option", nil, "`name=value`: an option of the protocol; may be repeated ('bakeoff list' has them)")
	flags.BoolVar(&f.reflection, "reflection", false, "the same as --option reflection=on, of subjects of gRPC")
	flags.IntVar(&f.inFlight, "in-flight", 64, "calls that are served at a time; sizes the store's pool")
	flags.IntVar(&f.maxMessage, "max-message", protocol.DefaultMaxMessage, "largest message in `bytes`, either way")
	flags.StringVar(&f.options, "options", "", "all options as JSON, in the place of the flags above")
	flags.BoolVar(&f.control, "control", false, "speak control lines, and stop when stdin ends")
	f.planted.register(flags)
	f.slow.register(flags, "answer")
	f.admin.register(flags)
	f.tls.register(flags)
	flags.BoolVar(&f.probe, "probe", false, "add the answers that the conformance kit asks for")
	for _, hidden := range []string{"options", "control", "probe"} {
		flags.Lookup(hidden).Hidden = true
	}
	cmd.AddCommand(serveStoreCommand(s))
	return cmd
}

// maxInFlight is far above what a run asks for; a server makes room for all of them before it listens.
const maxInFlight = 100_000

func serve(ctx context.Context, s *streams, p protocol.Protocol, f serveFlags) error {
	o, err := f.parse(p)
	if err == nil {
		_, err = o.ServerTLS()
	}
	if err != nil {
		return usage(err)
	}
	if err := errors.Join(f.planted.check(), f.slow.check()); err != nil {
		return usage(err)
	}
	clients, err := parseClients(f.clients)
	if err != nil {
		return usage(err)
	}
	if err := errors.Join(checkServeStore(f.store), checkListen(ctx, f.addr), f.admin.check(ctx, f.addr)); err != nil {
		return usage(err)
	}
	if f.tokenTTL <= 0 {
		return usage(fmt.Errorf("--token-ttl %v: must be above 0", f.tokenTTL))
	}
	var peer *control.Peer
	if f.control {
		var stop context.CancelFunc
		peer = control.NewPeer(s.in, s.out)
		ctx, stop = peer.Context(ctx) // the end of the parent is the end of its servers
		defer stop()
	}
	if o.GCPercent != 0 {
		debug.SetGCPercent(o.GCPercent)
	}
	behind, err := f.open(ctx, p, o, clients)
	if ctx.Err() != nil {
		behind.Close()
		return nil // told to stop while it started
	}
	if err != nil {
		return err
	}
	defer behind.Close()
	served := behind.api
	if f.probe {
		served = conformance.Probe(served)
	}
	if served, err = f.planted.Around(served); err != nil {
		return err
	}
	served = planted.Slowed(served, f.slow.pools)
	count := &counted{api: served}
	counters, examine := count.counters, examination(p.Name, f, o)
	if behind.api == nil { // calls pass by, and nobody counts them
		counters = func() map[string]int64 { return nil }
	}
	if p.Apart { // what it starts is metered with it
		examine = nil
	}
	beside, err := f.admin.open(ctx, counters, examine)
	if err != nil {
		return err
	}
	defer beside.close()
	l, err := listen(ctx, f.addr)
	if err != nil {
		return err
	}
	info, err := serverInfo(p.Name, l.Addr().String(), behind.store, f.auth, o)
	if err != nil {
		l.Close()
		return err
	}
	also := beside.ready(info)
	if peer != nil || beside != nil {
		served = count
	}
	if peer != nil {
		fmt.Fprint(s.err, also) // stdout has control lines
		err = peer.Send(control.Line{Event: control.Listening, Addr: l.Addr().String(), Describe: behind.store})
	} else {
		_, err = fmt.Fprintf(s.out, "%s is listening on %s%s (%s); Ctrl-C stops it\n%s", p.Name, l.Addr(), overTLS(o), behind.words, also)
	}
	if err != nil {
		l.Close()
		return fmt.Errorf("say that the server is ready: %w", err)
	}
	if peer == nil {
		return serving(p.Name, behind.serve(ctx, l, served, o))
	}
	ctx, stop := context.WithCancel(ctx)
	told := make(chan error, 1)
	go func() {
		defer stop() // a parent that can't be understood can't be served
		told <- tellCounters(ctx, peer, counters)
	}()
	err = serving(p.Name, behind.serve(ctx, l, served, o))
	stop()
	return errors.Join(err, <-told)
}

func serving(name string, err error) error {
	if err != nil {
		return fmt.Errorf("serve %s: %w", name, err)
	}
	return nil
}

// parse makes the options of one server of the flags, and checks the knobs before anything is opened.
func (f serveFlags) parse(p protocol.Protocol) (protocol.Options, error) {
	if f.options != "" {
		var o protocol.Options
		if err := json.Unmarshal([]byte(f.options), &o); err != nil {
			return o, fmt.Errorf("--options: %w", err)
		}
		return o.Defaulted(), p.Check(o)
	}
	if f.inFlight < 1 || f.inFlight > maxInFlight {
		return protocol.Options{}, fmt.Errorf("--in-flight %d: must be from 1 to %d", f.inFlight, maxInFlight)
	}
	if f.maxMessage < 1 {
		return protocol.Options{}, fmt.Errorf("--max-message %d: must be at least 1", f.maxMessage)
	}
	o := p.Options(f.inFlight, 0)
	o.MaxMessage = f.maxMessage
	given, err := parseKnobs(f.knobs)
	if err != nil {
		return o, err
	}
	if o.TLS, err = f.tls.options(); err != nil {
		return o, err
	}
	if f.reflection {
		const name = "reflection"
		if !slices.ContainsFunc(p.Knobs, func(k protocol.Knob) bool { return k.Name == name }) {
			return o, fmt.Errorf("--reflection: %s has none: it is gRPC's: leave it away", p.Name)
		}
		if value, too := given[name]; too {
			return o, fmt.Errorf("--reflection with --option %s=%s: give one of the two", name, value)
		}
		given[name] = "on"
	}
	knobs := make(map[string]string, len(o.Knobs)+len(given))
	maps.Copy(knobs, o.Knobs)
	maps.Copy(knobs, given)
	o.Knobs = knobs
	if err := p.Check(o); err != nil {
		return o, fmt.Errorf("--option of %s: %w", p.Name, err)
	}
	return o, nil
}

// parseKnobs reads name=value pairs.
func parseKnobs(pairs []string) (map[string]string, error) {
	knobs := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--option %q: must be name=value", pair)
		}
		if _, twice := knobs[name]; twice {
			return nil, fmt.Errorf("--option %q: %s was given before", pair, name)
		}
		knobs[name] = value
	}
	return knobs, nil
}

// parseClients reads id:secret pairs; none is the demo client.
func parseClients(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	clients := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		id, secret, ok := strings.Cut(pair, ":")
		if !ok || id == "" || secret == "" {
			return nil, errors.New("--client: must be id:secret, neither empty") // not quoted: it may hold a secret
		}
		clients[id] = secret
	}
	return clients, nil
}

// checkListen says what is wrong with the words of an address to listen on. Whether it can be had is for listen to find out.
func checkListen(ctx context.Context, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(ctx, "tcp", port)
	}
	if err == nil {
		return nil
	}
	why := err.Error()
	var wrong *net.AddrError
	var unknown *net.DNSError
	switch {
	case errors.As(err, &wrong):
		why = wrong.Err // without the address, which is said already
	case errors.As(err, &unknown):
		why = unknown.Err + " " + strconv.Quote(port)
	}
	return fmt.Errorf("--addr %q: %s: must be host:port, such as 127.0.0.1:20000, with a port from 0 to 65535", addr, why)
}

// listen opens the address; its error names it and the mend.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, listenError(addr, err)
	}
	return l, nil
}

func listenError(addr string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("--addr %s is in use by another program: stop it, choose another port, or port 0 for a free one", addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("--addr %s: this user may not listen there: choose a port above 1023", addr)
	}
	return fmt.Errorf("--addr %s: %w", addr, err)
}
