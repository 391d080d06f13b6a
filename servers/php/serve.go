package php

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

// The options of a subject whose server is a front in PHP.
const (
	KnobWorkers = "workers"
	// Those of the hop.
	hop         = "backend-"
	KnobReuse   = hop + "reuse"
	KnobTimeout = hop + "timeout"
)

// Knobs are the options of every front in PHP, HopKnobs those of one that has a backend.
var (
	Knobs = []protocol.Knob{
		{Name: KnobWorkers, Default: "auto", Doc: "PHP processes that answer, each one call at a time: auto is one for each call in flight, at most " +
			strconv.Itoa(mostWorkers) + "; or a number from 1 to 999"},
	}
	HopKnobs = []protocol.Knob{
		{Name: KnobReuse, Default: "on", Doc: "a worker's connection to the backend: on (it keeps the one that it has), or off (each call dials one of its own, " +
			"as PHP scripts do that begin anew for each request)"},
		{Name: KnobTimeout, Default: protocol.DefaultTimeout.String(), Doc: "how long a call to the backend may take, in whole milliseconds"},
	}
)

// mostWorkers is how many auto comes to at most.
const mostWorkers = 64

// front is a subject's: what clients speak to it, and what is behind.
type front struct {
	name   string
	kind   string            // of Config.Backend
	client protocol.Protocol // of which the server is PHP's
	behind protocol.Protocol // unless kind is None
	knobs  []protocol.Knob
}

// Alone is the subject whose server is workers in PHP that answer by themselves, to clients of p. They know the one published pair, and ask no store.
func Alone(name, doc string, p protocol.Protocol) protocol.Protocol {
	f := &front{name: name, kind: None, client: p}
	s := f.subject(doc, Knobs)
	s.Calls = []service.Call{service.CallKnown}
	return s
}

// Before is the subject whose server is workers in PHP that make each call again to a server of backend: by kind, HTTP or GRPC, which is what that
// one must speak. It has DataType and Login. Alone is the subject that differs from it in having no backend.
//
// Its Serve has a backend of its own, in the process that starts PHP, that answers by the API given. In a run it is a process of its own.
func Before(name, doc string, p protocol.Protocol, alone, kind string, backend protocol.Protocol) protocol.Protocol {
	f := &front{name: name, kind: kind, client: p, behind: backend}
	s := f.subject(doc, slices.Concat(Knobs, HopKnobs))
	s.Calls = []service.Call{service.CallLogin, service.CallDataType}
	s.Backend = &protocol.Backend{Protocol: backend, Alone: alone, Own: f.own, Options: f.hop, Front: f.over}
	return s
}

// subject is p with a server in PHP.
func (f *front) subject(doc string, knobs []protocol.Knob) protocol.Protocol {
	p := f.client
	f.knobs = slices.Concat(f.client.Knobs, knobs)
	p.Name, p.Doc, p.Knobs = f.name, doc, f.knobs
	p.Apart, p.Missing = true, Installed
	p.Check, p.Serve, p.Dial = f.check, f.serve, f.dial
	if f.client.Kept != nil {
		p.Kept = func(o protocol.Options) int { return f.client.Kept(f.clients(o)) }
	}
	return p
}

// without are options without the knobs of which drop says so.
func without(o protocol.Options, drop func(name string) bool) protocol.Options {
	knobs := make(map[string]string, len(o.Knobs))
	for name, value := range o.Knobs {
		if !drop(name) {
			knobs[name] = value
		}
	}
	o.Knobs = knobs
	return o
}

// own are the options of the front without those of the hop; clients are those of the clients' side.
func (f *front) own(o protocol.Options) protocol.Options {
	return without(o, func(name string) bool { return strings.HasPrefix(name, hop) })
}

func (f *front) clients(o protocol.Options) protocol.Options {
	return without(o, func(name string) bool { return strings.HasPrefix(name, hop) || name == KnobWorkers })
}

func (f *front) check(o protocol.Options) error {
	_, err := f.config(o)
	return err
}

// config reads the options.
func (f *front) config(o protocol.Options) (Config, error) {
	set, err := o.Settings(f.knobs)
	if err != nil {
		return Config{}, err
	}
	if err := f.client.Check(f.clients(o)); err != nil {
		return Config{}, err
	}
	if o.TLS != nil {
		return Config{}, fmt.Errorf("the front in PHP speaks no TLS: leave it away")
	}
	o = o.Defaulted()
	c := Config{Server: Workers, Backend: f.kind, Count: min(o.InFlight, mostWorkers), MaxMessage: o.MaxMessage, Idle: max(time.Second, o.ServerIdle.Truncate(time.Second))}
	if given := set[KnobWorkers]; given != "auto" {
		if c.Count, err = strconv.Atoi(given); err != nil || c.Count < 1 || c.Count > 999 {
			return c, fmt.Errorf("option %q: %q is neither auto nor a number from 1 to 999", KnobWorkers, given)
		}
	}
	if f.kind == None {
		return c, nil
	}
	switch reuse := set[KnobReuse]; reuse {
	case "on", "off":
		c.Reuse = reuse == "on"
	default:
		return c, fmt.Errorf("option %q: %q is neither on nor off", KnobReuse, reuse)
	}
	if c.Timeout, err = time.ParseDuration(set[KnobTimeout]); err != nil || c.Timeout <= 0 || c.Timeout%time.Millisecond != 0 {
		return c, fmt.Errorf("option %q: %q is no time of whole milliseconds above 0, such as 500ms", KnobTimeout, set[KnobTimeout])
	}
	return c, nil
}

// hop are the options of a backend of workers under the options o.
func (f *front) hop(o protocol.Options) (protocol.Options, error) {
	c, err := f.config(o)
	if err != nil {
		return protocol.Options{}, err
	}
	o = o.Defaulted()
	b := f.behind.Options(c.Count, c.Count)
	b.MaxMessage, b.ServerIdle = o.MaxMessage, o.ServerIdle
	return b, nil
}

func (f *front) dial(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	if err := f.check(o); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return f.client.Dial(ctx, addr, f.clients(o))
}

// serve runs the front, and a backend of its own where it has one, which outlives it by what the front drains.
func (f *front) serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	if f.kind == None {
		return f.over(ctx, l, "", o)
	}
	behind, err := f.hop(o)
	if err != nil {
		_ = l.Close()
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return protocol.OverOwn(ctx, l, f.name, f.behind, behind, api, func(ctx context.Context, addr string) error { return f.over(ctx, l, addr, o) })
}

// over runs the front before a backend that listens at an address; "" is none.
func (f *front) over(ctx context.Context, l net.Listener, backend string, o protocol.Options) error {
	c, err := f.config(o)
	if err != nil {
		_ = l.Close()
		return fmt.Errorf("%s: %w", f.name, err)
	}
	c.BackendAddr, c.Listener = backend, l
	p, err := Start(ctx, c)
	_ = l.Close() // PHP has its own by now
	if err != nil {
		if ctx.Err() != nil {
			return nil // told to stop while it started
		}
		return fmt.Errorf("%s: %w", f.name, err)
	}
	<-p.Done()
	if err := p.Stop(); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}
