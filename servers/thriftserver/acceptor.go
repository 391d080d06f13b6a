package thriftserver

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"bakeoff/thrift/stack"

	"github.com/apache/thrift/lib/go/thrift"
)

// acceptor is the thrift.TServerTransport over a listener of ours. It knows every open connection, so that idle
// ones can be closed and a stop need not wait for their clients to go.
type acceptor struct {
	ctx      context.Context // ends the wait after a failed accept
	l        net.Listener
	stack    *stack.Stack
	draining atomic.Bool

	mu    sync.Mutex
	conns map[*conn]struct{}
	err   error // why Accept gave up
}

func newAcceptor(ctx context.Context, l net.Listener, s *stack.Stack) *acceptor {
	return &acceptor{ctx: ctx, l: l, stack: s, conns: make(map[*conn]struct{})}
}

// Listen does nothing: the listener listens already.
func (a *acceptor) Listen() error { return nil }

// Accept waits for the next connection. When the machine is short of descriptors or memory it tries again a
// little later: an error would end the server.
func (a *acceptor) Accept() (thrift.TTransport, error) {
	wait := 5 * time.Millisecond
	for {
		raw, err := a.l.Accept()
		if err == nil {
			return a.add(raw)
		}
		if a.draining.Load() || !passing(err) {
			return nil, a.fail(err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-a.ctx.Done():
			timer.Stop()
			return nil, a.fail(err)
		}
		wait = min(2*wait, time.Second)
	}
}

// passing says whether an accept that failed so may succeed later.
func passing(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (a *acceptor) fail(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
	return err
}

// failure is why Accept gave up, if it did.
func (a *acceptor) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (a *acceptor) add(raw net.Conn) (thrift.TTransport, error) {
	c := &conn{Socket: a.stack.NewSocket(raw), acceptor: a}
	a.mu.Lock()
	a.conns[c] = struct{}{}
	a.mu.Unlock()
	if a.draining.Load() {
		c.Close()
		return nil, a.fail(errStopped)
	}
	return c, nil
}

func (a *acceptor) remove(c *conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.conns, c)
}

// Interrupt makes Accept return.
func (a *acceptor) Interrupt() error { return a.Close() }

// Close closes the listener.
func (a *acceptor) Close() error { return a.l.Close() }

// drain takes no further connections, closes the idle ones, and has the others close after the answer that
// they are at.
func (a *acceptor) drain() {
	a.draining.Store(true)
	a.l.Close()
	for _, c := range a.open() {
		c.cutIf(idle)
	}
}

// cutAll closes every connection, whatever it is at.
func (a *acceptor) cutAll() {
	for _, c := range a.open() {
		c.cut()
	}
}

func (a *acceptor) open() []*conn {
	a.mu.Lock()
	defer a.mu.Unlock()
	open := make([]*conn, 0, len(a.conns))
	for c := range a.conns {
		open = append(open, c)
	}
	return open
}

// sweep closes, until ctx ends, the connections that have completed no call for as long as limit and have no
// handler at work. It costs a call two counters, where a deadline on the socket would cost it a timer.
func (a *acceptor) sweep(ctx context.Context, limit time.Duration) {
	type mark struct {
		calls uint64
		since time.Time
	}
	marks := make(map[*conn]mark)
	ticker := time.NewTicker(max(limit/4, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			seen := make(map[*conn]mark, len(marks))
			for _, c := range a.open() {
				m, known := marks[c]
				if calls := c.calls.Load(); !known || calls != m.calls || c.state.Load() == handling {
					m = mark{calls, now}
				} else if now.Sub(m.since) >= limit && (c.cutIf(idle) || c.cutIf(moving)) {
					continue
				}
				seen[c] = m
			}
			marks = seen
		}
	}
}

var _ thrift.TServerTransport = (*acceptor)(nil)
