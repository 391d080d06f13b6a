// Package pool is the bounded pool of the protocols that carry one call at a time over a connection. Every
// one of them waits, dials and discards by these rules, so that no contestant's pool is better than another's.
package pool

import (
	"context"
	"sync"

	"bakeoff/protocol"
)

// Conn is what the pool holds. Abort must be safe at any time and from any goroutine; it makes a call that is
// under way fail at once.
type Conn interface {
	Abort()
}

// Pool holds at most a fixed number of connections. Idle ones go round in turn, so that none grows stale while
// others work. It is safe for concurrent use.
type Pool[C Conn] struct {
	free chan slot[C]   // one element for each slot that no call holds
	idle chan *Lease[C] // in their place the open connections that are kept, where not all are; else nil
	dial func(ctx context.Context) (C, error)
	life context.Context // ends with Close, and with it whatever dials or waits
	end  context.CancelFunc

	mu  sync.Mutex
	all map[*Lease[C]]struct{}
}

type slot[C Conn] struct{ lease *Lease[C] } // nil: not dialled

// Lease is a connection in the hands of one call.
type Lease[C Conn] struct{ Conn C }

// New opens size connections with dial, or closes those it had opened and returns the first error. A size below
// one is one.
func New[C Conn](ctx context.Context, size int, dial func(ctx context.Context) (C, error)) (*Pool[C], error) {
	size = max(size, 1)
	p := &Pool[C]{free: make(chan slot[C], size), dial: dial, all: make(map[*Lease[C]]struct{})}
	p.life, p.end = context.WithCancel(context.Background())
	for range size {
		l, err := p.open(ctx)
		if err != nil {
			p.Close()
			return nil, err
		}
		p.free <- slot[C]{l}
	}
	return p, nil
}

// Keep has the pool keep at most n unused connections open, at least 1, and close the others as they are put back. Those that were dialled
// in advance stay until they are drawn. Call it before the first connection is drawn.
func (p *Pool[C]) Keep(n int) { p.idle = make(chan *Lease[C], n) }

func (p *Pool[C]) open(ctx context.Context) (*Lease[C], error) {
	dialling, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	c, err := p.dial(dialling)
	if err != nil {
		if p.life.Err() != nil {
			return nil, protocol.ErrClosed
		}
		return nil, err
	}
	l := &Lease[C]{Conn: c}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life.Err() != nil {
		c.Abort()
		return nil, protocol.ErrClosed
	}
	p.all[l] = struct{}{}
	return l, nil
}

// Try draws an open connection if one is free now; it neither waits nor dials.
func (p *Pool[C]) Try() (l *Lease[C], ok bool) {
	if p.life.Err() != nil {
		return nil, false
	}
	select {
	case l := <-p.idle:
		return l, true
	default:
	}
	select {
	case s := <-p.free:
		if s.lease != nil {
			return s.lease, true
		}
		p.free <- s // its place is free: it was just taken from there
	default:
	}
	return nil, false
}

// Get waits for a connection until ctx ends; it dials only where an earlier connection was discarded. After Close it
// fails with protocol.ErrClosed.
func (p *Pool[C]) Get(ctx context.Context) (*Lease[C], error) {
	if p.life.Err() != nil { // a select below could take a free connection all the same
		return nil, protocol.ErrClosed
	}
	var s slot[C]
	select {
	case s = <-p.free:
	default:
		select {
		case s = <-p.free:
		case s.lease = <-p.idle:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.life.Done():
			return nil, protocol.ErrClosed
		}
	}
	if s.lease != nil {
		return s.lease, nil
	}
	return p.fill(ctx)
}

// Renew gives up a connection that is in the caller's hands, and dials another in its place: after, so that there are
// never more connections than the pool's size. On an error the caller holds none any more, and the place is dialled by
// the next call that draws it.
func (p *Pool[C]) Renew(ctx context.Context, l *Lease[C]) (*Lease[C], error) {
	p.discard(l)
	return p.fill(ctx)
}

// fill dials for a place that the caller holds.
func (p *Pool[C]) fill(ctx context.Context) (*Lease[C], error) {
	l, err := p.open(ctx)
	if err != nil {
		p.free <- slot[C]{}
		return nil, err
	}
	return l, nil
}

// Put gives a connection back. One that is not good any more is aborted, and its place is dialled anew by
// the next call that draws it.
func (p *Pool[C]) Put(l *Lease[C], good bool) {
	if good && p.idle != nil {
		select {
		case p.idle <- l:
			return
		default:
			good = false
		}
	}
	if !good {
		p.discard(l)
		l = nil
	}
	p.free <- slot[C]{l}
}

func (p *Pool[C]) discard(l *Lease[C]) {
	p.mu.Lock()
	delete(p.all, l)
	p.mu.Unlock()
	l.Conn.Abort()
}

// Close aborts every connection, those in use too, and fails what waits and what dials.
func (p *Pool[C]) Close() {
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.all {
		l.Conn.Abort()
	}
}
