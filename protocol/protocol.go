// Package protocol says what a contestant is: how to serve the API over a listener, how to dial it, and
// under which options. It knows no concrete protocol; protocol/suite has the list.
package protocol

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sort"
	"strings"
	"time"

	"bakeoff/service"
)

// Protocol is one subject of a run: a protocol under a documented set of options.
type Protocol struct {
	// Name is what users type and what tables show: "grpc", "thrift-tuned".
	Name string
	// Doc is one sentence in which the stack and, for a tuned subject, every knob is named.
	Doc string
	// Multiplexed says that one connection carries many calls at a time.
	Multiplexed bool
	// Conns is how many connections the users of this protocol open for a number of calls in flight.
	Conns func(inFlight int) int
	// Kept is how many connections a client keeps open between its calls under these options, -1 for all of them; nil is all
	// under any. What is not kept is dialled by the call that needs it.
	Kept func(o Options) int
	// Knobs are the options of this protocol alone, in its code; Tuning is what this subject sets of them.
	Knobs  []Knob
	Tuning Tuning
	// TLS and Authority are what Options gives to both ends: a subject over TLS is the plain one with these.
	TLS       *TLS
	Authority string
	// Check says what is wrong with the knobs of o, names and values, before anything is opened. Serve and Dial check
	// too.
	Check func(o Options) error
	// Serve answers calls on l until ctx ends, then drains what is in flight (at most some seconds), closes l
	// and returns nil. Any other error says why serving stopped.
	Serve func(ctx context.Context, l net.Listener, api service.API, o Options) error
	// Dial opens all o.Conns connections before it returns, or fails with the address in the error.
	Dial func(ctx context.Context, addr string, o Options) (Client, error)
	// Backend is what the server of a front calls for each answer; nil for one that answers by itself.
	Backend *Backend
	// Calls are those that the server has, where it has only some; nil is all of them. Others are not asked of it.
	Calls []service.Call
	// Apart says that what answers is a program of its own, which Serve starts and ends: no call passes through the API that Serve is given, unless
	// a backend makes it again.
	Apart bool
	// Missing says what the server needs and this machine lacks, and how to get it; nil is a server that needs nothing.
	Missing func(ctx context.Context) error
}

// Has says whether the server has a call.
func (p Protocol) Has(c service.Call) bool {
	return p.Calls == nil || slices.Contains(p.Calls, c) || c == service.CallKnown && slices.Contains(p.Calls, service.CallDataType)
}

// Lacks are those of the calls that the server does not have.
func (p Protocol) Lacks(calls []service.Call) []service.Call {
	return slices.DeleteFunc(slices.Clone(calls), p.Has)
}

// Backend is what stands behind a front, and how the front is served over one that runs elsewhere. Serve of the front's own Protocol
// has a backend of its own within it.
type Backend struct {
	// Protocol is what the front speaks to its backend.
	Protocol Protocol
	// Alone is the name of the subject that has no hop, and differs from the front in nothing else: whose options are those that Own
	// leaves of the front's.
	Alone string
	Own   func(o Options) Options
	// Options are those of both ends of the hop, where o are the front's.
	Options func(o Options) (Options, error)
	// Dial connects a front with the options o to its backend. What fails on the hop fails with a *service.Error.
	Dial func(ctx context.Context, addr string, o Options) (Client, error)
	// Serve is Protocol.Serve for a front whose backend runs elsewhere: api is what Dial gave.
	Serve func(ctx context.Context, l net.Listener, api service.API, o Options) error
	// Front is in the place of Dial and Serve, which are nil, where the front is a program of its own and dials its backend itself.
	Front func(ctx context.Context, l net.Listener, backend string, o Options) error
}

// Knob is an option of one protocol. The empty Default says that the library's own value holds.
type Knob struct {
	Name    string
	Doc     string
	Default string
}

// Tuning is what a subject changes: knobs of its protocol by name, and the garbage collector of both processes.
type Tuning struct {
	Knobs map[string]string
	// GCPercent is GOGC for the server's and the driver's process; 0 leaves Go's default (100).
	GCPercent int
}

// Client is one end of the API over a protocol. It is safe for concurrent use up to Options.InFlight calls;
// further calls wait for a connection until their context ends. Close ends the calls in flight: they, and calls made
// later, fail with a Fault of kind Local around ErrClosed.
type Client interface {
	service.API
	io.Closer
}

// Options are the same for every protocol: honoured by all, or refused with an error. The zero value of a
// field means the default that Defaulted gives.
type Options struct {
	// Conns is the number of client connections, at least 1.
	Conns int `json:"conns"`
	// InFlight is how many calls the client must carry at a time; a server sizes its store pool by it.
	InFlight int `json:"in_flight"`
	// Timeout ends a call whose context has no deadline of its own; 0 is none. It is enforced on the socket or
	// stream, not by a context made for each call.
	Timeout time.Duration `json:"timeout_ns"`
	// MaxMessage is the largest message in bytes, in either direction. A larger request is refused with
	// ResourceExhausted, wherever it is noticed.
	MaxMessage int `json:"max_message"`
	// ServerIdle is how long a server keeps an idle connection. A client keeps its own longer never than this:
	// it closes, or checks, an idle connection at half of it.
	ServerIdle time.Duration `json:"server_idle_ns"`
	// GCPercent is applied by the process that hosts an end, not by the protocol. 0: Go's default.
	GCPercent int `json:"gc_percent,omitempty"`
	// Knobs are the protocol's own options by name.
	Knobs map[string]string `json:"knobs,omitempty"`
	// TLS protects the connections; nil leaves them plain.
	TLS *TLS `json:"tls,omitempty"`
	// Authority is the name by which requests call their server: :authority in gRPC, Host in HTTP; empty is the address
	// that was dialled. It is the client's alone. Thrift's requests name no server, and refuse it.
	Authority string `json:"authority,omitempty"`
	// DialContext opens the client's sockets; the driver puts its byte counter here. Nil: a plain net.Dialer.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error) `json:"-"`
	// Handshaken is told of each handshake of the client's over TLS, once the server's certificate has been found good; nil: nobody
	// is. It is called from the goroutine that dials, several at a time.
	Handshaken func(tls.ConnectionState) `json:"-"`
}

// The defaults that hold for every protocol alike.
const (
	DefaultMaxMessage = 4 << 20
	DefaultTimeout    = 10 * time.Second
	DefaultServerIdle = 5 * time.Minute
)

// Options are the options of p for a number of calls in flight over conns connections (0: what p's users do).
func (p Protocol) Options(inFlight, conns int) Options {
	if conns == 0 {
		conns = p.Conns(inFlight)
	}
	o := Options{Conns: conns, InFlight: inFlight, GCPercent: p.Tuning.GCPercent, Knobs: p.Tuning.Knobs, TLS: p.TLS, Authority: p.Authority}
	return o.Defaulted()
}

// Defaulted fills the zero fields.
func (o Options) Defaulted() Options {
	if o.InFlight <= 0 {
		o.InFlight = max(1, o.Conns)
	}
	if o.Conns <= 0 {
		o.Conns = 1
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = DefaultMaxMessage
	}
	if o.ServerIdle <= 0 {
		o.ServerIdle = DefaultServerIdle
	}
	o.TLS = o.TLS.defaulted()
	if o.DialContext == nil {
		o.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	}
	return o
}

// Settings reads the knobs that are in force: each known knob's value, given or default. It refuses a knob
// that the protocol does not have, and names those it has.
func (o Options) Settings(known []Knob) (map[string]string, error) {
	set := make(map[string]string, len(known))
	names := make([]string, 0, len(known))
	for _, k := range known {
		set[k.Name] = k.Default
		names = append(names, k.Name)
	}
	given := make([]string, 0, len(o.Knobs))
	for name := range o.Knobs {
		given = append(given, name)
	}
	sort.Strings(given)
	for _, name := range given {
		if !slices.Contains(names, name) {
			if len(names) == 0 {
				return nil, fmt.Errorf("option %q: this protocol has no options of its own", name)
			}
			return nil, fmt.Errorf("option %q: this protocol has %s", name, strings.Join(names, ", "))
		}
		set[name] = o.Knobs[name]
	}
	return set, nil
}

// Fault is a failure of the transport, noticed at the client: no service answered.
type Fault struct {
	// Kind is the outcome class; see the constants.
	Kind string
	Err  error
}

// The classes of faults.
const (
	Timeout   = "timeout"    // the deadline passed before an answer
	Refused   = "refused"    // nobody listens at the address
	Reset     = "reset"      // the connection broke in the middle of a call
	StaleConn = "stale_conn" // the server had closed the idle connection before the call was sent
	Local     = "local"      // this side could not: out of ports, descriptors or memory, or the client was closed
	Malformed = "malformed"  // the answer could not be understood
	BadTLS    = "tls"        // the two ends don't agree on how the connection is protected
)

// ErrClosed is why a call failed whose client was closed.
var ErrClosed = errors.New("the client is closed")

func (f *Fault) Error() string { return f.Kind + ": " + f.Err.Error() }
func (f *Fault) Unwrap() error { return f.Err }

// Class is the outcome class of a call that failed with this fault.
func (f *Fault) Class() string { return f.Kind }

// CallError is the error of a call that a client gives up on because of its context: *service.Error with
// DeadlineExceeded, or the context's own error. It is nil while the context lives.
func CallError(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return service.Errorf(service.DeadlineExceeded, "the client's deadline passed")
	default:
		return err
	}
}
