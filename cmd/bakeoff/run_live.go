package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"bakeoff/harness/live"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
)

// liveFlags say whether a run shows itself in a browser, and to whom.
type liveFlags struct {
	addr  string
	hosts []string
}

const (
	liveAddr  = "127.0.0.1:8099"
	liveHosts = "`names` by which the page may be asked for, comma-separated, beside addresses and localhost"
)

func (f *liveFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.addr, "live", "", "`host:port` of a page that shows the run as it goes, "+liveAddr+" for example; the report stays there until Ctrl-C")
	flags.StringSliceVar(&f.hosts, "live-host", nil, liveHosts)
}

// livePage is the page of a run. All of it may be called on nil, which is a run without one.
type livePage struct {
	l      net.Listener
	hosts  []string
	server *live.Server // nil until there is something to show
	told   teller
	stop   context.CancelFunc
	served sync.WaitGroup
	err    error // of serving; read after served
}

// open takes the address, so that one that can't be had is found before anything is measured.
func (f liveFlags) open(ctx context.Context) (*livePage, error) {
	if f.addr == "" {
		if len(f.hosts) > 0 {
			return nil, usage(errors.New("--live-host is for the page of --live"))
		}
		return nil, nil
	}
	if err := checkListen(ctx, f.addr); err != nil {
		return nil, usage(asFlag("--live", err))
	}
	l, err := listenAside(ctx, "--live", f.addr)
	if err != nil {
		return nil, usage(err)
	}
	return &livePage{l: l, hosts: f.hosts}, nil
}

// show begins to serve, and makes the page anew whenever a trial has been kept: then nothing is measured, and a trial waits for it.
func (p *livePage) show(o *session, s *streams) error {
	if p == nil {
		return nil
	}
	server, err := live.New(live.Options{Path: o.file.Path(), Report: o.reportOptions(), Hosts: p.hosts, Told: true})
	if err != nil {
		return err
	}
	p.server = server
	p.server.Refresh()
	if o.objective != nil {
		p.server.Tell(live.Progress{Doing: fmt.Sprintf("searching the highest rate that holds %s: no report before it is found", o.objective)})
	}
	sink, tell := o.config.Sink, o.config.Progress
	o.config.Sink = func(t result.Trial) error {
		err := sink(t)
		p.server.Refresh()
		return err
	}
	o.config.Progress = func(at harness.Progress) {
		tell(at)
		if p.told.due(at, time.Now()) {
			p.server.Tell(toldOf(at, o.say.rounds))
		}
	}
	ctx, stop := context.WithCancel(context.Background()) // Ctrl-C ends the run, and then the page
	p.stop = stop
	p.served.Go(func() { p.err = p.server.Serve(ctx, p.l) })
	o.say.say("the run can be watched at http://%s/", p.l.Addr())
	warnOpen(s, p.l.Addr())
	return nil
}

// teller keeps the page from being told of a trial under way more than once a second: each time takes the browsers' CPU, and a measurement goes on.
type teller struct {
	at    time.Time
	phase harness.Phase
}

func (l *teller) due(p harness.Progress, now time.Time) bool {
	if p.Phase == harness.Measuring && l.phase == harness.Measuring && now.Sub(l.at) < time.Second {
		return false
	}
	l.at, l.phase = now, p.Phase
	return true
}

// toldOf is what the page is told.
func toldOf(at harness.Progress, rounds int) live.Progress {
	p := live.Progress{Doing: doing(at, rounds), Left: at.Remaining}
	if at.Now != nil {
		p.Now = soFar(*at.Now)
	}
	return p
}

// doing says what is under way.
func doing(at harness.Progress, rounds int) string {
	load := fmt.Sprintf("%d in flight", at.Trial.Concurrency)
	if at.Trial.Rate != "" {
		load = at.Trial.Rate + "/s"
	}
	return fmt.Sprintf("block %d of %d: %s, %s with %s, %s", at.Trial.Round, rounds, at.Trial.Subject, at.Trial.Workload, load, at.Phase)
}

// linger keeps the report where the run was shown, until Ctrl-C.
func (p *livePage) linger(ctx context.Context, s *streams) {
	if p == nil {
		return
	}
	p.server.Refresh()
	p.server.Tell(live.Progress{Doing: "the run has ended", Over: true})
	fmt.Fprintf(s.err, "the report stays at http://%s/ until Ctrl-C\n", p.l.Addr())
	<-ctx.Done()
}

// close ends the page. It may be called without show.
func (p *livePage) close(s *streams) {
	switch {
	case p == nil:
	case p.stop == nil:
		p.l.Close()
	default:
		p.stop()
		if p.served.Wait(); p.err != nil {
			fmt.Fprintf(s.err, "warning: the page of the run: %v\n", p.err)
		}
	}
}

// warnOpen says that a page is there for others, too.
func warnOpen(s *streams, addr net.Addr) {
	if tcp, ok := addr.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		fmt.Fprintln(s.err, "warning: the page is open to all who reach this address: it shows the command line and the machine")
	}
}
