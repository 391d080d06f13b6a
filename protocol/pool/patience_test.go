package pool

import (
	"context"
	"sync"
	"testing"
	"time"

	"bakeoff/protocol"
)

func started(t testing.TB, limit time.Duration, inFlight int) *Patience {
	p := NewPatience(limit, inFlight)
	t.Cleanup(p.Stop)
	return p
}

// TestPatienceEndsCalls begins calls in several eras, with contexts that can and can't end, more of them than there is
// room for: each ends at the timeout, and not before.
func TestPatienceEndsCalls(t *testing.T) {
	const limit = 40 * time.Millisecond
	p := started(t, limit, 1) // room for 2 shared contexts an era
	var wg sync.WaitGroup
	for range 5 {
		for _, ctx := range []context.Context{t.Context(), context.Background(), cancellable(t), cancellable(t), cancellable(t)} {
			start := time.Now()
			call, release := p.Bound(ctx)
			wg.Go(func() {
				<-call.Done()
				if took := time.Since(start); took < limit || context.Cause(call) != errLate || p.Late(call) == nil {
					t.Errorf("ended after %v by %v (%v), want %v by %v", took, context.Cause(call), p.Late(call), limit, errLate)
				}
				if ctx.Err() != nil {
					t.Errorf("the caller's context ended too: %v", ctx.Err())
				}
				release()
			})
		}
		wg.Wait()
	}
}

func cancellable(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return ctx
}

func TestPatienceShares(t *testing.T) {
	p := started(t, time.Hour, 1)
	a, b, c := cancellable(t), cancellable(t), cancellable(t)
	bound := func(ctx context.Context) context.Context {
		call, release := p.Bound(ctx)
		t.Cleanup(release)
		return call
	}
	if bound(a) != bound(a) || bound(b) != bound(b) || bound(context.Background()) != bound(context.Background()) {
		t.Error("calls of one context do not share one")
	}
	if bound(a) == bound(b) {
		t.Error("calls of two contexts share one")
	}
	if bound(c) == bound(c) {
		t.Error("there was room for a third context, of 2")
	}
	limited, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if bound(limited) != limited {
		t.Error("a context with a deadline of its own was not left alone")
	}
	if none := NewPatience(0, 1); none != nil {
		t.Errorf("a patience without a limit: %v, want none", none)
	} else if call, _ := none.Bound(a); call != a || none.Late(a) != nil {
		t.Error("without a patience, a context was not left alone")
	} else {
		none.Stop()
	}
}

// TestPatienceHeedsTheCaller ends callers' contexts, where there is room and where there is none.
func TestPatienceHeedsTheCaller(t *testing.T) {
	p := started(t, time.Hour, 1)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		call, release := p.Bound(ctx)
		cancel()
		<-call.Done()
		if context.Cause(call) != context.Canceled {
			t.Errorf("ended by %v, want %v", context.Cause(call), context.Canceled)
		}
		release()
	}
}

// TestPatienceStops ends what is in flight, what begins meanwhile, and what comes later.
func TestPatienceStops(t *testing.T) {
	p := NewPatience(time.Hour, 1)
	var wg sync.WaitGroup
	for range 4 {
		ctx := cancellable(t)
		call, release := p.Bound(ctx)
		wg.Go(func() {
			<-call.Done()
			release()
			for range 100 {
				call, release := p.Bound(cancellable(t))
				<-call.Done()
				if context.Cause(call) != protocol.ErrClosed {
					t.Errorf("ended by %v, want %v", context.Cause(call), protocol.ErrClosed)
				}
				release()
			}
		})
	}
	p.Stop()
	wg.Wait()
}

// TestPatienceAllocatesNothing for a worker that makes call after call with a context of its own.
func TestPatienceAllocatesNothing(t *testing.T) {
	p := started(t, time.Hour, 1)
	for name, ctx := range map[string]context.Context{"worker's": cancellable(t), "background": context.Background()} {
		if n := testing.AllocsPerRun(100, func() {
			_, release := p.Bound(ctx)
			release()
		}); n != 0 {
			t.Errorf("%s context: %v allocations a call", name, n)
		}
	}
}

func BenchmarkPatience(b *testing.B) {
	p := started(b, time.Hour, 50)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		for pb.Next() {
			_, release := p.Bound(ctx)
			release()
		}
	})
}
