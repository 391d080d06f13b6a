package load

import (
	"context"
	"time"
)

// A call's context is shared with all calls that begin in the same era, and ends with theirs. A context for each worker
// would be a few more cache lines for each call, 3 % of what one of gRPC's costs, and one with a timeout for each call
// 20 %. The price is that a deadline is kept to the length of an era.
type era struct {
	ctx   context.Context
	end   context.CancelFunc
	until time.Duration // no call of the era was sent after this
}

func (l *loop) newEra() *era {
	e := new(era)
	e.ctx, e.end = context.WithCancel(l.calls)
	return e
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
		e := l.era.Swap(l.newEra())
		e.until = l.now()
		past = append(past, e)
		for now := e.until; len(past) > 0 && past[0].until+l.CallTimeout <= now; past = past[1:] {
			for _, w := range l.workers {
				if sent, in := w.inCall(); in && sent <= past[0].until {
					w.expire(sent)
				}
			}
			past[0].end()
		}
	}
}
