package nethttp

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"bakeoff/protocol"
)

// muxes are the connections of HTTP/2 of one client.
type muxes struct {
	c     *Client
	slots []slot
	next  atomic.Uint32
	life  context.Context // ends with close, and with it whatever dials
	end   context.CancelFunc

	mu  sync.Mutex
	all map[*mux]struct{} // that may be open
}

// slot has room for one connection at a time.
type slot struct {
	now  atomic.Pointer[mux]
	turn chan struct{} // holds one element while somebody dials
}

// mux is a connection of HTTP/2.
type mux struct {
	*http.ClientConn
	conn    net.Conn
	retired atomic.Bool // the server takes no new calls on it
	// answered says that the connection has brought an answer.
	answered atomic.Bool
}

func (m *mux) fit() bool { return m != nil && !m.retired.Load() && m.Err() == nil }

func newMuxes(ctx context.Context, c *Client, n int) (*muxes, error) {
	all := &muxes{c: c, slots: make([]slot, n), all: make(map[*mux]struct{})}
	all.life, all.end = context.WithCancel(context.Background())
	for i := range all.slots {
		all.slots[i].turn = make(chan struct{}, 1)
		if _, err := all.dial(ctx, &all.slots[i]); err != nil {
			all.close()
			return nil, err
		}
	}
	return all, nil
}

// draw is the connection for the next call: it dials where there is none, or waits for who does. The error is a dial's,
// or the context's.
func (a *muxes) draw(ctx context.Context) (*mux, error) {
	s := &a.slots[0]
	if len(a.slots) > 1 {
		s = &a.slots[int(a.next.Add(1)%uint32(len(a.slots)))]
	}
	if m := s.now.Load(); m.fit() {
		return m, nil
	}
	if a.life.Err() != nil {
		return nil, protocol.ErrClosed
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-a.life.Done():
		return nil, protocol.ErrClosed
	}
	if m := s.now.Load(); m.fit() {
		return m, nil
	}
	return a.dial(ctx, s)
}

func (a *muxes) dial(ctx context.Context, s *slot) (*mux, error) {
	dialling, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	conn, err := a.c.dial(dialling)
	if a.life.Err() != nil {
		if err == nil {
			_ = protocol.Cut(conn)
		}
		return nil, protocol.ErrClosed
	}
	if err != nil {
		return nil, err
	}
	cc, err := a.c.over(conn)
	if err != nil {
		return nil, err
	}
	m := &mux{ClientConn: cc, conn: conn}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.life.Err() != nil {
		m.abort()
		return nil, protocol.ErrClosed
	}
	for old := range a.all {
		if old.Err() != nil {
			delete(a.all, old)
		}
	}
	a.all[m] = struct{}{}
	s.now.Store(m)
	return m, nil
}

func (m *mux) abort() {
	_ = protocol.Cut(m.conn)
	_ = m.Close()
}

func (a *muxes) close() {
	a.end()
	a.mu.Lock()
	defer a.mu.Unlock()
	for m := range a.all {
		m.abort()
	}
}
