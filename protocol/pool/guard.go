package pool

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"bakeoff/internal/peek"
	"bakeoff/protocol"
)

// Guard ends the call under way on a connection at its deadline, or when its context ends, or with Abort. It
// starts no goroutine for that and sets no timer of its own, so that it costs a call that is one of many under
// the same context two atomic exchanges and a few comparisons.
//
// All but Abort is called by whoever holds the connection's lease.
type Guard struct {
	conn  net.Conn
	used  time.Time // when the latest call began, or the guard was made
	armed time.Time // the deadline on the socket; zero is none

	// busy is the watch that may end the call under way, or noWatch; nil between calls; aborted for good once it
	// is. Whoever exchanges a call's watch decides that call's fate, alone.
	busy atomic.Pointer[watch]
	// kept is a registration with a context that came again.
	kept  atomic.Pointer[watch]
	now   *watch          // of the call under way
	spare *watch          // one that was stopped before its context ended: nobody else has it any more
	last  <-chan struct{} // what ends the context of the latest call
}

// watch is a registration that ends a call when a context ends.
type watch struct {
	done <-chan struct{}
	stop func() bool
	cut  func() // what the context calls
}

var (
	noWatch = new(watch) // a call whose context can't end
	aborted = new(watch)
)

// NewGuard guards conn from now on.
func NewGuard(conn net.Conn) *Guard { return &Guard{conn: conn, used: time.Now()} }

// Unused is how long ago the latest call began, or the guard was made: no less than the connection is idle.
func (g *Guard) Unused(now time.Time) time.Duration { return now.Sub(g.used) }

// Fit says whether the connection may carry a call that begins now. One that has been unused for as long as old, so that
// the server may be about to close it, is looked at first: it must be open, and have nothing to say that nobody asked for.
// One that can't be looked into is not fit then.
func (g *Guard) Fit(now time.Time, old time.Duration) bool {
	return g.Unused(now) < old || peek.At(g.conn) == peek.Quiet
}

// Begin starts a call that ends at until (zero: never) or with ctx. exact says that until is the context's own
// deadline; else it may pass by a 64th of its time. On an error there is no call, and the connection is closed;
// net.ErrClosed if it was by Abort.
func (g *Guard) Begin(ctx context.Context, now, until time.Time, exact bool) error {
	g.used = now
	if err := g.arm(until, exact); err != nil {
		return err
	}
	w := g.watch(ctx)
	g.now = w
	if !g.busy.CompareAndSwap(nil, w) {
		g.forget() // it may have registered after Abort
		return net.ErrClosed
	}
	if ctx.Err() != nil { // it may have ended before busy told the watch of a call
		g.cut(w)
		return ctx.Err()
	}
	return nil
}

// End ends the call, and says whether the connection is still whole; if not, it must be discarded.
func (g *Guard) End() bool {
	w := g.now
	g.now = nil
	if w == nil {
		return false
	}
	stopped := w != noWatch && w != g.kept.Load() && w.stop()
	if !g.busy.CompareAndSwap(w, nil) {
		return false
	}
	if stopped {
		g.spare = w
	}
	return true
}

// Abort closes the connection for good, from any goroutine.
func (g *Guard) Abort() {
	g.busy.Store(aborted)
	g.forget()
	_ = protocol.Cut(g.conn)
}

// cut closes the connection if the call under way is that watch's.
func (g *Guard) cut(w *watch) {
	if g.busy.CompareAndSwap(w, aborted) {
		_ = protocol.Cut(g.conn)
	}
}

// arm sets the deadline of one call on the socket. A context's own deadline is set exactly. The one that comes of
// Options.Timeout moves on with every call, and setting it takes a good part of a microsecond: it is set a 64th
// late, and left while it is not early for the next call.
func (g *Guard) arm(until time.Time, exact bool) error {
	if !exact && !until.IsZero() {
		late := until.Sub(g.used) / 64
		if !g.armed.Before(until) && !g.armed.After(until.Add(late)) {
			return nil
		}
		until = until.Add(late)
	}
	if until.Equal(g.armed) {
		return nil
	}
	g.armed = until
	return g.conn.SetDeadline(until)
}

// Deadline is what the socket's deadline was last set to; zero is none.
func (g *Guard) Deadline() time.Time { return g.armed }

// Rearm sets the deadline of the call under way again, after a library has taken it off the socket.
func (g *Guard) Rearm() error { return g.conn.SetDeadline(g.armed) }

// watch registers the call that is about to begin with its context. A context that comes again keeps its
// registration; one that comes once costs 0.3 us and leaves nothing behind. Contexts are told apart by their Done
// channel, which is what ends the call: many contexts derived from one, without an end of their own, are one here.
func (g *Guard) watch(ctx context.Context) *watch {
	done := ctx.Done()
	if done == nil {
		return noWatch
	}
	if w := g.kept.Load(); w != nil && w.done == done {
		return w
	}
	w := g.forget()
	if w == nil {
		w, g.spare = g.spare, nil
	}
	if w == nil {
		w = g.newWatch()
	}
	w.done, w.stop = done, context.AfterFunc(ctx, w.cut)
	if g.last == done {
		g.kept.Store(w)
	}
	g.last = done
	return w
}

func (g *Guard) newWatch() *watch {
	w := new(watch)
	w.cut = func() { g.cut(w) }
	return w
}

// forget ends the registration that is kept, and returns it if it was stopped before its context ended.
func (g *Guard) forget() *watch {
	if w := g.kept.Swap(nil); w != nil && w.stop() {
		return w
	}
	return nil
}
