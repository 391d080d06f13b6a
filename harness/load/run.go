package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Run makes the calls of one load and returns when all have ended, at the latest Duration + Grace + Patience after
// the start. When ctx ends, calls in flight are cut off at once, and Run returns with ctx's cause. The Stats are whole
// whatever the error.
func Run(ctx context.Context, o Options) (Stats, error) {
	if err := o.check(); err != nil {
		return Stats{}, err
	}
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	l := &loop{Options: o, begin: make(chan struct{}), stop: make(chan struct{}), baton: make(chan struct{}, 1)}
	l.limit.share, l.limit.over = o.MaxFailures, make(chan struct{})
	l.limit.ok = o.Earlier.OK
	l.limit.failed.Store(o.Earlier.Failed)
	if o.Pacer != nil {
		var err error
		if l.alarm, err = o.newAlarm(); err != nil {
			return Stats{}, err
		}
		defer l.alarm.close()
	}
	l.era.Store(l.eras.begin(len(o.Workers)))
	for i, w := range o.Workers {
		l.workers = append(l.workers, newWorker(l, i, w))
	}
	for _, w := range l.workers {
		go w.work()
	}
	l.base = time.Now()
	close(l.begin)
	var watched sync.WaitGroup
	watched.Go(l.watch)
	watched.Go(l.tell)

	var s Stats
	var err error
	s.Window = o.Duration
	end := time.NewTimer(o.Duration + o.Grace)
	defer end.Stop()
	early := false
	if !l.wait(end.C, ctx.Done(), l.limit.over) {
		s.Window = min(s.Window, l.now())
		err = context.Cause(ctx) // nil when it was the end of the grace, or the limit of failures
		early = isClosed(l.limit.over)
	}
	allMade := o.Iterations > 0 && l.taken.Load() >= o.Iterations // or more: whoever finds none left counts too
	l.cutOff()
	patience := time.NewTimer(o.Patience)
	defer patience.Stop()
	if !l.wait(patience.C, nil, nil) {
		err = errors.Join(err, l.abandon(&s))
	}
	s.Elapsed = l.now()
	if allMade {
		s.Window = min(s.Window, s.Elapsed)
	}
	watched.Wait()
	for _, w := range l.workers {
		s.OK += w.ok
		s.OKInWindow += w.ok - w.late
		s.Failed += w.failed
		s.CutOff += w.cut
		s.Dropped += w.missed
		s.Iterations -= w.steps
		s.Busy += w.busy
		if o.Pacer == nil && o.Iterations == 0 {
			s.Next = max(s.Next, w.next-uint64(w.index))
		}
	}
	s.Started = s.OK + s.Failed + s.CutOff
	s.Iterations += s.Started
	s.Dropped += l.neverTaken(s.Window)
	failed := o.Earlier.Failed + s.Failed
	if ended := o.Earlier.OK + s.OK + failed; o.MaxFailures > 0 && float64(failed) > o.MaxFailures*float64(ended) && ctx.Err() == nil {
		err = errors.Join(err, &FailureLimit{Failed: failed, Ended: ended, Limit: o.MaxFailures, Early: early})
	}
	return s, err
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (o Options) newAlarm() (alarm, error) {
	if o.Precise {
		return newKernelAlarm()
	}
	return newTimerAlarm(), nil
}

func (o Options) check() error {
	switch {
	case len(o.Workers) == 0:
		return errors.New("load: no workers")
	case o.Duration <= 0:
		return fmt.Errorf("load: duration %v: it must be above zero", o.Duration)
	case o.Iterations > 0 && o.Pacer != nil:
		return errors.New("load: a number of iterations ends the closed loop alone")
	case o.Earlier != Stats{} && (o.Iterations > 0 || o.Pacer != nil):
		return errors.New("load: only a closed loop of a duration goes on after an earlier part")
	case o.Grace < 0 || o.CallTimeout < 0 || o.Patience < 0:
		return fmt.Errorf("load: grace %v, call timeout %v, patience %v: none may be below zero", o.Grace, o.CallTimeout, o.Patience)
	}
	if !(o.MaxFailures >= 0 && o.MaxFailures <= 1) {
		return fmt.Errorf("load: max failures %v: a share from 0 to 1", o.MaxFailures)
	}
	for i, w := range o.Workers {
		if len(w.Calls) == 0 || w.Recorder == nil {
			return fmt.Errorf("load: worker %d has %d calls and recorder %v: it needs both", i, len(w.Calls), w.Recorder)
		}
	}
	return nil
}

// loop is a load under way.
type loop struct {
	Options
	workers []*worker
	base    time.Time
	begin   chan struct{} // closed when the workers may start
	stop    chan struct{} // closed with cut set: wakes whoever waits for a due time or a deadline
	cut     atomic.Bool
	limit   failureLimit

	// All calls have a context of the era in which they begin. Those don't descend from Run's context: a call must not see an
	// end before it is marked as cut off.
	era  atomic.Pointer[era]
	eras eras

	// Where a Pacer hands iterations out: the worker that holds the baton waits for the next one, so that one alarm
	// serves all, and they start in their order.
	baton chan struct{}
	alarm alarm
	taken atomic.Uint64 // iterations handed out, by a Pacer or out of Options.Iterations
}

// now counts from the start. time.Since reads the monotonic clock alone, which is cheaper than time.Now.
func (l *loop) now() time.Duration { return time.Since(l.base) }

// wait returns true when all workers have ended, false when limit, cancel or over came before.
func (l *loop) wait(limit <-chan time.Time, cancel, over <-chan struct{}) bool {
	for _, w := range l.workers {
		select {
		case <-w.done:
		case <-limit:
			return false
		case <-cancel:
			return false
		case <-over:
			return false
		}
	}
	return true
}

// cutOff has no worker start another call and ends the calls in flight.
func (l *loop) cutOff() {
	l.cut.Store(true) // before the marks are set: a worker that misses its mark sees this
	close(l.stop)
	if l.alarm != nil {
		l.alarm.stop()
	}
	for _, w := range l.workers {
		w.cutOff()
	}
	l.eras.endAll()
}

// tell calls Tell until the load has ended.
func (l *loop) tell() {
	if l.TellEvery <= 0 {
		return
	}
	tick := time.NewTicker(l.TellEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-l.stop:
			return
		}
		ok := l.Earlier.OK
		for _, w := range l.workers {
			ok += w.told.Load()
		}
		l.Tell(ok, l.limit.failed.Load())
	}
}

// abandon leaves those calls behind that do not return, and names them.
func (l *loop) abandon(s *Stats) error {
	var stuck []string
	for _, w := range l.workers {
		if w.abandon() {
			s.CutOff++
			s.Stuck++
			s.Busy += l.now() - w.cutSent
			stuck = append(stuck, fmt.Sprintf("worker %d", w.index))
			continue
		}
		<-w.done // between two calls, so that it ends now
	}
	const most = 8
	if n := len(stuck); n > most {
		stuck = append(stuck[:most], fmt.Sprintf("%d more", n-most))
	}
	if len(stuck) == 0 {
		return nil
	}
	return fmt.Errorf("load: calls have not returned %v after their contexts had ended: %s", l.Patience, strings.Join(stuck, ", "))
}

// neverTaken counts the iterations that were due within the window and that no worker came to.
func (l *loop) neverTaken(window time.Duration) uint64 {
	if l.Pacer == nil {
		return 0
	}
	var missed uint64
	for n := l.taken.Load(); ; n++ {
		if due, ok := l.Pacer.At(n); !ok || due >= window {
			return missed
		}
		missed++
	}
}
