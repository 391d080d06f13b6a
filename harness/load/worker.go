package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The states of a worker. Above zero it is in a call, and the state is the call's start in nanoseconds plus one.
// Whoever ends a call from outside changes its state first, so that the worker, which takes the state away as the call
// returns, knows why it returned and that its context is spent.
const (
	idle      int64 = 0
	expired   int64 = -1 // the watchdog ended the call
	cutOff    int64 = -2 // the load ended before the call
	abandoned int64 = -3 // Run has returned; the worker must touch nothing any more
)

// worker makes one call at a time. What is touched with each call stands first, in two cache lines: of many workers,
// each finds its own gone from the nearest cache when its turn comes. Others read the state rarely.
type worker struct {
	state atomic.Int64
	tally        // the worker's until done is closed or the state is abandoned
	next  uint64 // iteration, in the closed loop

	loop  *loop
	calls []Call
	rec   Recorder
	ctx   context.Context

	index  int
	failed uint64
	cut    uint64
	missed uint64 // iterations that were due and came too late
	told   published
	done   chan struct{}

	mu      sync.Mutex // held while state and cancel change together
	cancel  context.CancelFunc
	cutSent time.Duration // when the call was sent that was cut off
	_       [64]byte
}

// tally counts what happens with each call; its fields are those of Stats.
type tally struct {
	started, ok, okInWindow, iterations uint64
	busy                                time.Duration
}

func newWorker(l *loop, index int, w Worker) *worker {
	k := &worker{loop: l, index: index, calls: w.Calls, rec: w.Recorder, next: uint64(index), done: make(chan struct{})}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	return k
}

// work makes calls until the window is over. Its inner loop is what a driver costs: two exchanges of the worker's own
// state, one reading of the clock and the recorder.
func (w *worker) work() {
	defer close(w.done)
	l := w.loop
	<-l.begin
	for now := l.now(); ; {
		n, due, sent, ok := w.iteration(now)
		if !ok {
			return
		}
		for step, call := range w.calls {
			if !w.enter(step, sent) {
				return
			}
			err := call(w.ctx, n)
			now = l.now()
			err, ended := w.leave(err, sent, now)
			if !ended {
				return
			}
			w.rec.Record(Sample{N: n, Step: step, Due: due, Sent: sent, Done: now, Err: err})
			if err != nil || now >= l.Duration {
				break
			}
			due, sent = now, now
		}
	}
}

// iteration is the next one of this worker, once it is due; ok is false when the window is over before.
func (w *worker) iteration(now time.Duration) (n uint64, due, sent time.Duration, ok bool) {
	l := w.loop
	if now >= l.Duration {
		return 0, 0, 0, false
	}
	if l.Pacer == nil {
		n = w.next
		w.next += uint64(len(l.workers))
		return n, now, now, true
	}
	select {
	case l.baton <- struct{}{}:
	case <-l.stop:
		return 0, 0, 0, false
	}
	n, due, sent, ok = l.next()
	<-l.baton
	if ok && sent >= l.Duration { // every worker was busy, or this one woke late
		w.missed++
		return 0, 0, 0, false
	}
	return n, due, sent, ok
}

// next hands out the next iteration once it is due. Only who holds the baton may call it.
func (l *loop) next() (n uint64, due, sent time.Duration, ok bool) {
	n = l.taken.Add(1) - 1
	due, ok = l.Pacer.At(n)
	if !ok || due >= l.Duration {
		return 0, 0, 0, false
	}
	for sent = l.now(); sent < due; sent = l.now() {
		if !l.alarm.wait(due - sent) {
			return 0, 0, 0, false // it was not due yet
		}
	}
	return n, due, sent, true
}

// enter starts a call, unless the load has ended.
func (w *worker) enter(step int, sent time.Duration) bool {
	w.started++
	if step == 0 {
		w.iterations++
	}
	w.state.Store(int64(sent) + 1)
	if !w.loop.cut.Load() {
		return true
	}
	if w.state.Swap(idle) != abandoned {
		w.started--
		if step == 0 {
			w.iterations--
		}
	}
	return false
}

// leave counts a call that has returned err at the moment now. It returns the error that is to be recorded; ended is
// false where there is nothing to record and no call to follow. A call that succeeds within its deadline has succeeded,
// also when it was told to end a moment before.
func (w *worker) leave(err error, sent, now time.Duration) (recorded error, ended bool) {
	was := w.state.Swap(idle)
	if was == abandoned {
		return nil, false
	}
	if was == expired {
		w.renew()
	}
	w.busy += now - sent
	if limit := w.loop.CallTimeout; err == nil && limit > 0 && now-sent > limit {
		// The watchdog is coarse, so some protocols' calls may still be answered after their deadline and others' not.
		// The deadline is the same for all: an answer that comes after it is none.
		err, was = errLate, expired
	}
	switch {
	case err == nil:
		w.ok++
		if w.ok%publishOK == 0 {
			w.told.ok.Store(w.ok)
		}
		if now <= w.loop.Duration {
			w.okInWindow++
		}
		return nil, true
	case was == cutOff:
		w.cut++
		return nil, false
	case was == expired:
		err = &timeoutError{w.loop.CallTimeout, err}
	}
	w.failed++
	if w.loop.limit.share > 0 {
		w.told.ok.Store(w.ok)
		w.loop.limit.count(w.loop.workers)
	}
	return err, true
}

// inCall says since when the worker has been in a call, if it is in one that nobody has ended.
func (w *worker) inCall() (sent time.Duration, in bool) {
	v := w.state.Load()
	return time.Duration(v - 1), v > idle
}

// expire ends the call that was started at sent, if it is still the one.
func (w *worker) expire(sent time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state.CompareAndSwap(int64(sent)+1, expired) {
		w.cutSent = sent
		w.cancel()
	}
}

// cutOff ends the call in flight, if there is one. The loop's cut is set, so that there is no next one.
func (w *worker) cutOff() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := w.state.Load(); v > idle {
		w.cutSent = time.Duration(v - 1)
		w.state.CompareAndSwap(v, cutOff)
	}
	w.cancel()
}

// abandon gives the worker up if it is in a call.
func (w *worker) abandon() bool {
	for {
		v := w.state.Load()
		if v == idle {
			return false
		}
		if w.state.CompareAndSwap(v, abandoned) {
			return true
		}
	}
}

// renew gives the next call a context that has not ended.
func (w *worker) renew() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ctx, w.cancel = context.WithCancel(context.Background())
}
