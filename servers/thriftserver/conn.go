package thriftserver

import (
	"sync/atomic"

	"bakeoff/thrift/stack"
)

// What a connection is at. Its own goroutine moves it round idle, moving, handling, moving, idle; anyone may cut
// it, and a cut connection stays cut.
const (
	idle     int32 = iota // between two calls
	moving                // a request is arriving or an answer leaving
	handling              // the service works
	gone
)

// conn is one client's connection: Thrift's lowest layer at the server.
type conn struct {
	stack.Socket
	acceptor *acceptor
	state    atomic.Int32
	calls    atomic.Uint64 // completed, for the sweeper
	closed   atomic.Bool
}

// Read notes the first bytes of a request: from then on a stop waits for its answer.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Socket.Read(b)
	if n > 0 && c.state.Load() == idle && !c.state.CompareAndSwap(idle, moving) {
		return 0, &stack.SocketError{Op: "read", Err: errStopped}
	}
	return n, err
}

// Close is called by the library, more than once, when the connection's goroutine ends.
func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.state.Store(gone)
	c.acceptor.remove(c)
	return c.Socket.Close()
}

// cut ends the connection from another goroutine; its own one then closes and forgets it.
func (c *conn) cut() {
	c.state.Store(gone)
	c.Cut()
}

// cutIf cuts the connection if that is what it is at.
func (c *conn) cutIf(state int32) bool {
	if !c.state.CompareAndSwap(state, gone) {
		return false
	}
	c.Cut()
	return true
}
