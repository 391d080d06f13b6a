package load

import (
	"context"
	"sync"
	"time"
)

// A call's context is shared with the calls of its worker and of a few others that begin in the same era, and ends with theirs. A context for
// each worker would be a few more cache lines for each call, 3 % of what one of gRPC's costs, and one with a timeout for each call
// 20 %. One for all is a map in which gRPC enters each call and deletes it: as long as it has no more entries than one of the map's groups, that
// costs little. None has a parent that can end, for gRPC asks for some values with each call, down the whole chain. The price is that a
// deadline is kept to the length of an era.
type era struct {
	ctxs  []context.Context // of sharing workers each
	ends  []context.CancelFunc
	until time.Duration // no call of the era was sent after this
}

// sharing is how many workers have one context.
const sharing = 4

// of is the context of a call that the worker begins now.
func (e *era) of(worker int) context.Context { return e.ctxs[worker/sharing] }

func (e *era) end() {
	for _, end := range e.ends {
		end()
	}
}

// eras are those that have not ended.
type eras struct {
	mu    sync.Mutex
	alive []*era // oldest first
	over  bool
}

// begin makes another. After endAll it is one that has ended.
func (s *eras) begin(workers int) *era {
	e := new(era)
	for range (workers + sharing - 1) / sharing {
		ctx, end := context.WithCancel(context.Background())
		e.ctxs, e.ends = append(e.ctxs, ctx), append(e.ends, end)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		e.end()
	}
	s.alive = append(s.alive, e)
	return e
}

// endFirst ends the oldest.
func (s *eras) endFirst() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive[0].end()
	s.alive = s.alive[1:]
}

func (s *eras) endAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, e := range s.alive {
		e.end()
	}
}

// eraLength keeps the deadlines of calls to a 64th of their time, or a millisecond.
func eraLength(timeout time.Duration) time.Duration { return max(timeout/64, time.Millisecond) }

// watch ends the calls that have had their time, until the load has ended: an era's calls a timeout after the era.
func (l *loop) watch() {
	if l.CallTimeout == 0 {
		return
	}
	tick := time.NewTicker(eraLength(l.CallTimeout))
	defer tick.Stop()
	var past []*era // oldest first
	for {
		select {
		case <-tick.C:
		case <-l.stop:
			return
		}
		e := l.era.Swap(l.eras.begin(len(l.workers)))
		e.until = l.now()
		past = append(past, e)
		for now := e.until; len(past) > 0 && past[0].until+l.CallTimeout <= now; past = past[1:] {
			for _, w := range l.workers {
				if sent, in := w.inCall(); in && sent <= past[0].until {
					w.expire(sent)
				}
			}
			l.eras.endFirst()
		}
	}
}
