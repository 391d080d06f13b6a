package load

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// FailureLimit says that more calls failed than Options.MaxFailures allows.
type FailureLimit struct {
	Failed, Ended uint64
	Limit         float64
	// Early says that the load was stopped for it.
	Early bool
}

func (e *FailureLimit) Error() string {
	when := "in all"
	if e.Early {
		when = "so the load was stopped early"
	}
	return fmt.Sprintf("%d of %d calls failed (%.3g %%), over the limit of %.3g %%, %s",
		e.Failed, e.Ended, 100*float64(e.Failed)/float64(max(1, e.Ended)), 100*e.Limit, when)
}

// A worker tells how many of its calls have succeeded at every publishOK'th, and with each failure. Whether there are too
// many failures is looked at from the minFailures'th on, with every lookEvery'th.
const (
	publishOK   = 64
	minFailures = 100
	lookEvery   = 16
)

// failureLimit counts the failures and watches their share. It costs a call that succeeds next to nothing.
type failureLimit struct {
	share  float64       // 0: no limit
	ok     uint64        // of earlier parts
	failed atomic.Uint64 // of earlier parts as well
	once   sync.Once
	over   chan struct{} // closed when the load must stop
}

// count counts a failure of a load of these workers. The successes that were not told yet are taken for as many as they
// can be, so that no load is stopped that keeps the limit.
func (f *failureLimit) count(workers []*worker) {
	n := f.failed.Add(1)
	if f.share == 0 || n < minFailures || n%lookEvery != 0 {
		return
	}
	ok := f.ok + uint64(len(workers))*(publishOK-1)
	for _, w := range workers {
		ok += w.told.Load()
	}
	if float64(n) > f.share*float64(n+ok) {
		f.once.Do(func() { close(f.over) })
	}
}
