package pool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

// errLate is the cause of a context that ended because the client's timeout passed.
var errLate = errors.New("the client's timeout passed")

// Patience ends calls that take longer than a timeout, without a timer or a context for each call: context.WithTimeout
// costs a fifth of a call. Time is cut into eras of a sixteenth of the timeout, and all calls that begin in an era end
// together, one timeout after the era did. So a call is given at least the timeout, and at most nine eighths of it.
//
// All calls made with one context share one context that is derived from it for the era: a worker that makes call
// after call with a context of its own pays for a look into a map that is read without locks, and calls made with
// context.Background pay less than that. What is shared has the values of the context that came first.
type Patience struct {
	limit time.Duration
	room  int32
	now   atomic.Pointer[era]
	quit  chan struct{}
	ended chan struct{}
}

// era is a span of time in which calls begin.
type era struct {
	ctx  context.Context // for calls whose own context can't end
	end  context.CancelCauseFunc
	room atomic.Int32 // how many contexts may still be derived once for all of their calls
	by   sync.Map     // from the Done channel of a caller's context to *derived
}

type derived struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// NewPatience makes the patience of a client that carries some number of calls at a time. It is nil where there is no
// limit: a nil patience leaves every call as it is.
func NewPatience(limit time.Duration, inFlight int) *Patience {
	if limit <= 0 {
		return nil
	}
	p := &Patience{limit: limit, room: int32(min(2*inFlight, 1<<16)), quit: make(chan struct{}), ended: make(chan struct{})}
	p.now.Store(p.newEra())
	go p.keepTime()
	return p
}

func (p *Patience) newEra() *era {
	e := new(era)
	e.ctx, e.end = context.WithCancelCause(context.Background())
	e.room.Store(p.room)
	return e
}

// keepTime begins eras and ends the calls of those that are a timeout past.
func (p *Patience) keepTime() {
	defer close(p.ended)
	type past struct {
		*era
		until time.Time
	}
	var waiting []past // oldest first
	tick := time.NewTicker(max(p.limit/16, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			last := p.now.Swap(p.newEra())
			now := time.Now()
			waiting = append(waiting, past{last, now})
			for len(waiting) > 0 && now.Sub(waiting[0].until) >= p.limit {
				waiting[0].close(errLate)
				waiting = waiting[1:]
			}
		case <-p.quit:
			for _, e := range waiting {
				e.close(protocol.ErrClosed)
			}
			p.now.Load().close(protocol.ErrClosed)
			return
		}
	}
}

// Stop ends the calls in flight and those that are still to come.
func (p *Patience) Stop() {
	if p == nil {
		return
	}
	close(p.quit)
	<-p.ended
}

// Late is the error of a call that was made with this context, if the patience ended it; else nil.
func (p *Patience) Late(call context.Context) error {
	if p == nil || context.Cause(call) != errLate {
		return nil
	}
	return service.Errorf(service.DeadlineExceeded, "no answer within %v", p.limit)
}

func released() {}

// Bound is the context to make a call with, and what to do when the call has ended. A context with a deadline of its own
// is left as it is.
func (p *Patience) Bound(ctx context.Context) (context.Context, func()) {
	if p == nil {
		return ctx, released
	}
	if _, has := ctx.Deadline(); has {
		return ctx, released
	}
	e := p.now.Load()
	done := ctx.Done()
	if done == nil {
		return e.ctx, released
	}
	if d, ok := e.by.Load(done); ok {
		return d.(*derived).ctx, released
	}
	if e.room.Add(-1) < 0 {
		return e.once(ctx)
	}
	return e.derive(ctx, done), released
}

// derive makes the context for all calls of the era that are made with ctx.
func (e *era) derive(ctx context.Context, done <-chan struct{}) context.Context {
	d := new(derived)
	d.ctx, d.end = context.WithCancelCause(ctx)
	if other, had := e.by.LoadOrStore(done, d); had { // another call of ctx came first
		d.end(nil)
		return other.(*derived).ctx
	}
	if e.ctx.Err() != nil { // close may have looked before d was there
		d.end(context.Cause(e.ctx))
	}
	return d.ctx
}

// once makes a context for one call. A program with a new context for each call comes here, once it has used up the
// room: what is derived for all calls of a context is kept until the era closes.
func (e *era) once(ctx context.Context) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.ctx, func() { end(context.Cause(e.ctx)) })
	return ctx, func() {
		stop()
		end(nil)
	}
}

// close ends the calls that began in the era and are still in flight.
func (e *era) close(cause error) {
	e.end(cause)
	e.by.Range(func(_, d any) bool {
		d.(*derived).end(cause)
		return true
	})
}
