package thriftclient

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/gen/routeguide"
	"bakeoff/thrift/stack"

	"github.com/apache/thrift/lib/go/thrift"
)

// conn is one connection with the library's clients of both services on it. All but Abort is called by whoever
// holds its lease.
type conn struct {
	stack.Socket
	data  *inf.DataClient
	route *routeguide.RouteGuideClient

	used  time.Time // when its latest call began, or it was dialled
	armed time.Time // the deadline on the socket; zero is none

	// busy is the watch that may end the call under way, or noWatch; nil between calls; aborted for good once it
	// is. Whoever changes it from one call's watch decides that call's fate, alone.
	busy atomic.Pointer[watch]
	// kept is a registration with a context that outlives its calls.
	kept atomic.Pointer[watch]
	now  *watch          // of the call under way
	last <-chan struct{} // the context of the latest call
}

// watch is a registration that ends a call when a context ends.
type watch struct {
	done <-chan struct{}
	stop func() bool
}

var (
	noWatch = new(watch) // a call whose context can't end
	aborted = new(watch)
)

func newConn(s *stack.Stack, raw net.Conn) (*conn, error) {
	k := &conn{Socket: s.NewSocket(raw), used: time.Now()}
	p, err := s.Protocol(k)
	if err != nil {
		raw.Close()
		return nil, err
	}
	lib := thrift.NewTStandardClient(p, p)
	k.data, k.route = inf.NewDataClient(lib), routeguide.NewRouteGuideClient(lib)
	return k, nil
}

// Abort closes the connection for good, from any goroutine.
func (k *conn) Abort() {
	k.busy.Store(aborted)
	k.forget()
	k.Socket.Close()
}

// begin readies the connection for a call that ends at until (zero: never) or with ctx.
func (k *conn) begin(ctx context.Context, now, until time.Time, exact bool) error {
	k.Socket.Begin()
	k.used = now
	if err := k.arm(until, exact); err != nil {
		return &stack.SocketError{Op: "set deadline", Err: err}
	}
	w := k.watch(ctx)
	k.now = w
	if !k.busy.CompareAndSwap(nil, w) {
		k.forget() // it was aborted, perhaps while it registered
		return &stack.SocketError{Op: "begin", Err: net.ErrClosed}
	}
	if ctx.Err() != nil && k.busy.CompareAndSwap(w, aborted) {
		return &stack.SocketError{Op: "begin", Err: ctx.Err()} // it ended before busy could tell the watch of this call
	}
	return nil
}

// end says whether the connection is still whole; if it is not, it must be discarded.
func (k *conn) end() bool {
	w := k.now
	k.now = nil
	if w != nil && w != noWatch && w != k.kept.Load() {
		w.stop()
	}
	return w != nil && k.busy.CompareAndSwap(w, nil)
}

// arm sets the deadline of one call on the socket. A context's own deadline is set exactly. The deadline that
// comes of Options.Timeout moves on with every call, and setting it takes a good part of a microsecond: it is set
// a 64th late, and left while it is not early for the next call.
func (k *conn) arm(until time.Time, exact bool) error {
	if !exact && !until.IsZero() {
		late := until.Sub(k.used) / 64
		if !k.armed.Before(until) && !k.armed.After(until.Add(late)) {
			return nil
		}
		until = until.Add(late)
	}
	if until.Equal(k.armed) {
		return nil
	}
	k.armed = until
	return k.Conn.SetDeadline(until)
}

// watch registers the call that is about to begin with its context. A context that comes again keeps its
// registration, and costs its later calls a comparison; one that comes once costs 0.3 us and leaves nothing
// behind. Contexts are told apart by their Done channel, which is what ends the call.
func (k *conn) watch(ctx context.Context) *watch {
	done := ctx.Done()
	if done == nil {
		return noWatch
	}
	if w := k.kept.Load(); w != nil && w.done == done {
		return w
	}
	k.forget()
	w := &watch{done: done}
	w.stop = context.AfterFunc(ctx, func() {
		if k.busy.CompareAndSwap(w, aborted) {
			k.Socket.Close()
		}
	})
	if k.last == done {
		k.kept.Store(w)
	}
	k.last = done
	return w
}

// forget ends the registration that is kept.
func (k *conn) forget() {
	if w := k.kept.Swap(nil); w != nil {
		w.stop()
	}
}
