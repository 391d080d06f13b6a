package load

import "time"

// alarm wakes one worker at a time when a call is due.
type alarm interface {
	// wait returns after d, or false when the load has ended.
	wait(d time.Duration) bool
	// stop ends the wait under way and those that follow.
	stop()
	close()
}

// timerAlarm waits by Go's timers. They keep virtual time in tests. On a machine with nothing else to do the runtime
// rounds what it sleeps up to a millisecond, which is much beside the calls that are measured.
type timerAlarm struct {
	timer *time.Timer
	ended chan struct{}
}

func newTimerAlarm() *timerAlarm {
	a := &timerAlarm{time.NewTimer(0), make(chan struct{})}
	a.timer.Stop()
	return a
}

func (a *timerAlarm) wait(d time.Duration) bool {
	a.timer.Reset(d)
	select {
	case <-a.timer.C:
		return true
	case <-a.ended:
		a.timer.Stop()
		return false
	}
}

func (a *timerAlarm) stop()  { close(a.ended) }
func (a *timerAlarm) close() {}
