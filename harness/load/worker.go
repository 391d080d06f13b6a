package load

import (
	"sync"
	"sync/atomic"
	"time"
)

// The states of a worker. Above zero it is in a call, and the state is the call's start in nanoseconds plus one.
// Whoever ends a call from outside changes its state first, so that the worker, which takes the state away as the call
// returns, knows why it returned.
const (
	idle      int64 = 0
	expired   int64 = -1 // the watchdog ended the call
	cutOff    int64 = -2 // the load ended before the call
	abandoned int64 = -3 // Run has returned; the worker must touch nothing any more
)

// worker makes one call at a time. What is touched with each call is in one cache line: of many workers, each finds
// its own gone from the nearest caches when its turn comes, and each line costs a call what recording it does.
type worker struct {
	state atomic.Int64
	// These are the worker's until done is closed or the state is abandoned.
	ok   uint64
	busy time.Duration
	next uint64 // iteration, in the closed loop
	loop *loop
	_    [24]byte
	rare

	calls []Call
	rec   Recorder
	index int
	told  atomic.Uint64 // successes
	done  chan struct{}

	mu      sync.Mutex    // held while state and cutSent change together
	cutSent time.Duration // when the call was sent that was ended from outside
	_       [64]byte
}

// rare counts what does not happen with each call; it is kept as ok is.
type rare struct {
	failed, cut, missed uint64 // missed: iterations that were due and came too late
	late                uint64 // successes after the window
	steps               uint64 // calls that were not the first of their iteration
}

func newWorker(l *loop, index int, w Worker) *worker {
	return &worker{loop: l, index: index, calls: w.Calls, rec: w.Recorder, next: l.Earlier.Next + uint64(index), done: make(chan struct{})}
}

// work makes calls until the window is over. Its inner loop is what a driver costs: two exchanges of the worker's own
// state, one reading of the clock and the recorder.
func (w *worker) work() {
	defer close(w.done)
	l, calls, rec := w.loop, w.calls, w.rec
	<-l.begin
	for now := l.now(); ; {
		n, due, sent, ok := w.iteration(now)
		if !ok {
			return
		}
		for step, call := range calls {
			if !w.enter(sent) {
				if step == 0 && l.Pacer != nil {
					w.missed++
				}
				return
			}
			if step > 0 {
				w.steps++
			}
			err := call(l.era.Load().of(w.index), n)
			now = l.now()
			err, ended := w.leave(err, sent, now)
			if !ended {
				return
			}
			rec.Record(Sample{N: n, Step: step, Due: due, Sent: sent, Done: now, Err: err})
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
	if l.Iterations > 0 {
		n = l.taken.Add(1) - 1
		return n, now, now, n < l.Iterations
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
	var waited bool
	n, due, sent, waited, ok = l.next()
	<-l.baton
	if ok && sent >= l.Duration && !waited { // every worker was busy
		w.missed++
		return 0, 0, 0, false
	}
	return n, due, sent, ok
}

// next hands out the next iteration once it is due; waited says that it was there before. Only who holds the baton may call it.
func (l *loop) next() (n uint64, due, sent time.Duration, waited, ok bool) {
	n = l.taken.Add(1) - 1
	due, ok = l.Pacer.At(n)
	if !ok || due >= l.Duration {
		return 0, 0, 0, false, false
	}
	for sent = l.now(); sent < due; sent = l.now() {
		if !l.alarm.wait(due - sent) {
			return 0, 0, 0, false, false // it was not due yet
		}
		waited = true
	}
	return n, due, sent, waited, true
}

// enter starts a call, unless the load has ended.
func (w *worker) enter(sent time.Duration) bool {
	w.state.Store(int64(sent) + 1)
	if !w.loop.cut.Load() {
		return true
	}
	w.state.Store(idle)
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
			w.told.Store(w.ok)
		}
		if now > w.loop.Duration {
			w.late++
		}
		return nil, true
	case was == cutOff:
		w.cut++
		return nil, false
	case was == expired:
		err = &timeoutError{w.loop.CallTimeout, err}
	}
	w.failed++
	w.told.Store(w.ok)
	w.loop.limit.count(w.loop.workers)
	return err, true
}

// inCall says since when the worker has been in a call, if it is in one that nobody has ended.
func (w *worker) inCall() (sent time.Duration, in bool) {
	v := w.state.Load()
	return time.Duration(v - 1), v > idle
}

// expire marks the call that was started at sent, if it is still the one, as one that has had its time. Its context is
// to be ended next.
func (w *worker) expire(sent time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state.CompareAndSwap(int64(sent)+1, expired) {
		w.cutSent = sent
	}
}

// cutOff marks the call in flight, if there is one. The loop's cut is set, so that there is no next one, and its
// context is to be ended next.
func (w *worker) cutOff() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := w.state.Load(); v > idle {
		w.cutSent = time.Duration(v - 1)
		w.state.CompareAndSwap(v, cutOff)
	}
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
