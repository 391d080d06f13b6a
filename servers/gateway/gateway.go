// Package gateway makes fronts of protocols: servers that answer no call by themselves, but make it again to a server behind them, by
// the client of whatever that one speaks. Both ends of both hops are those that are measured alone elsewhere, so that a front differs
// from its protocol in the hop and in nothing else. It knows no concrete protocol, no harness and no flags.
//
// What crosses the hop: the deadline of a call's context, as far as the protocols carry one (behind a client that can't tell
// its server, the front gives the call up, and with it the connection); the token, which the front neither makes nor
// checks; and the backend's errors, with code, message and cause. What the hop itself fails with is an error of the front:
// unavailable, or internal for an answer that can't be understood, with a cause that begins with "backend_".
package gateway

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

// Prefix begins the names of the options that are about the hop. Behind it stands conns, timeout, or an option of the backend's
// protocol, which both ends of the hop are then given.
const Prefix = "backend-"

// The options of the hop itself.
const (
	KnobConns   = Prefix + "conns"
	KnobTimeout = Prefix + "timeout"
)

// HopKnobs are the options of the hop, whatever is spoken over it.
var HopKnobs = []protocol.Knob{
	{Name: KnobConns, Doc: "connections of the front to the backend: a number, or empty for as many as users of its protocol open for the calls in flight"},
	{Name: KnobTimeout, Default: protocol.DefaultTimeout.String(), Doc: "how long a call to the backend may take that brings no deadline (default " +
		protocol.DefaultTimeout.String() + "); 0 is for ever"},
}

// front is what stands before the hop and what behind it.
type front struct {
	name   string
	alone  protocol.Protocol // what clients speak
	behind protocol.Protocol
	knobs  []protocol.Knob
}

// Front is the subject whose server speaks p, and has each call answered by a server of backend. Its options are those of p, and
// those of the hop.
//
// Its Serve has a backend of its own, in the same process and over a socket of loopback, that answers by the API given:
// that is the whole of it. In a run the two are processes of their own: see protocol.Backend.
func Front(name, doc string, p, backend protocol.Protocol) protocol.Protocol {
	f := &front{name: name, alone: p, behind: backend}
	f.knobs = slices.Concat(p.Knobs, HopKnobs)
	for _, k := range backend.Knobs {
		k.Name, k.Doc = Prefix+k.Name, "of the backend: "+k.Doc
		f.knobs = append(f.knobs, k)
	}
	p.Name, p.Doc, p.Knobs = name, doc, f.knobs
	p.Check, p.Serve, p.Dial = f.check, f.serve, f.dial
	if f.alone.Kept != nil {
		p.Kept = func(o protocol.Options) int { return f.alone.Kept(f.own(o)) }
	}
	p.Backend = &protocol.Backend{Protocol: backend, Alone: f.alone.Name, Own: f.own, Options: f.hop, Dial: f.reach, Serve: f.over}
	return p
}

// own are the options of the front's protocol alone.
func (f *front) own(o protocol.Options) protocol.Options {
	knobs := make(map[string]string, len(o.Knobs))
	for name, value := range o.Knobs {
		if !strings.HasPrefix(name, Prefix) {
			knobs[name] = value
		}
	}
	o.Knobs = knobs
	return o
}

// maxConns is as many connections as a run has calls in flight at most.
const maxConns = 10_000

// hop are the options of both ends behind the front, whose options are o. TLS ends at the front.
func (f *front) hop(o protocol.Options) (protocol.Options, error) {
	set, err := o.Settings(f.knobs)
	if err != nil {
		return protocol.Options{}, err
	}
	conns := 0
	if given := set[KnobConns]; given != "" {
		if conns, err = strconv.Atoi(given); err != nil || conns < 1 || conns > maxConns {
			return protocol.Options{}, fmt.Errorf("option %q: %q is no number of connections: from 1 to %d, or empty for what users of %s open", KnobConns, given, maxConns, f.behind.Name)
		}
	}
	timeout, err := time.ParseDuration(set[KnobTimeout])
	if err != nil || timeout < 0 {
		return protocol.Options{}, fmt.Errorf("option %q: %q is no time of 0 or more, such as 500ms", KnobTimeout, set[KnobTimeout])
	}
	o = o.Defaulted()
	b := f.behind.Options(o.InFlight, conns)
	b.Timeout, b.MaxMessage, b.ServerIdle = timeout, o.MaxMessage, o.ServerIdle
	knobs := maps.Clone(b.Knobs)
	for name, value := range o.Knobs {
		name, hop := strings.CutPrefix(name, Prefix)
		if !hop || Prefix+name == KnobConns || Prefix+name == KnobTimeout {
			continue
		}
		if knobs == nil {
			knobs = map[string]string{}
		}
		knobs[name] = value
	}
	b.Knobs = knobs
	if err := f.behind.Check(b); err != nil {
		return b, fmt.Errorf("the backend, %s: %w", f.behind.Name, err)
	}
	return b, nil
}

func (f *front) check(o protocol.Options) error {
	if _, err := f.hop(o); err != nil {
		return err
	}
	return f.alone.Check(f.own(o))
}

// dial is the client of the front, which knows nothing of the backend.
func (f *front) dial(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	if err := f.check(o); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return f.alone.Dial(ctx, addr, f.own(o))
}

// reach dials the backend as the front does.
func (f *front) reach(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	b, err := f.hop(o)
	if err != nil {
		return nil, err
	}
	c, err := f.behind.Dial(ctx, addr, b)
	if err != nil {
		return nil, fmt.Errorf("the backend of %s: %w", f.name, err)
	}
	return relay{c}, nil
}

// serve runs the front and a backend of its own, which outlives it by what the front drains.
func (f *front) serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	behind, err := f.hop(o)
	if err == nil {
		err = f.alone.Check(f.own(o))
	}
	if err != nil {
		_ = l.Close()
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return protocol.OverOwn(ctx, l, f.name, f.behind, behind, api, func(ctx context.Context, addr string) error {
		c, err := f.reach(ctx, addr, o)
		switch {
		case err == nil:
			defer c.Close()
			return f.over(ctx, l, c, o)
		case ctx.Err() != nil: // told to stop while it started
			return l.Close()
		}
		_ = l.Close()
		return err
	})
}

// over serves the front over a backend, of which api is the client.
func (f *front) over(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	return f.alone.Serve(ctx, l, api, f.own(o))
}
