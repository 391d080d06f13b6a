// Package load decides when calls are due and has workers make them, one Sample for each. It knows nothing of
// what a call does or of what becomes of the samples.
//
// A panic in a Call is not recovered: it is a bug of the client under test, the process dies with the stack, and
// whoever started the process reports its last words. A recovered one would be a failed call among others.
package load

import (
	"context"
	"errors"
	"time"
)

// Call makes one call. n names the iteration: no two of a load share it, it counts from 0, and in the closed loop
// worker w of W has w, w+W, w+2W ... (a counter that all share would have them take turns at its cache line), unless
// Options.Iterations bounds them: then whoever is free has the next. A worker makes its calls one after another, so that a Call made for one worker needs no locks. The context has no
// deadline; it ends when the call has had its time, and is the same for many calls.
type Call func(ctx context.Context, n uint64) error

// Pacer says when iteration n is due, counted from the start of the load; ok is false when there is no such
// iteration. Due times do not fall as n grows. It is pure: the same n gives the same answer, for any caller at any
// time. A nil Pacer is the closed loop, in which each worker's next call is due as its last one ends.
type Pacer interface {
	At(n uint64) (due time.Duration, ok bool)
}

// Sample is one call that ended by itself or by its timeout. The times count from the start of the load: response
// time is Done-Due, service time Done-Sent. In the closed loop Due equals Sent, and both are the moment at which the
// worker's last call was done: what the worker does between two calls, some tens of nanoseconds, counts with the
// later one, so that no moment of a worker's time is in no call, and one reading of the clock a call is enough.
type Sample struct {
	N    uint64
	Step int
	Due  time.Duration
	Sent time.Duration
	Done time.Duration
	Err  error
}

// Recorder takes the samples of one worker, so it needs no locks against itself. Record keeps nothing of the
// Sample's error beyond the call and should not allocate.
type Recorder interface {
	Record(s Sample)
}

// Worker is one of those that call: one Call for each step of an iteration, in their order, and who takes the
// samples. A step that fails ends its iteration.
type Worker struct {
	Calls    []Call
	Recorder Recorder
}

// Options are one load.
type Options struct {
	// Workers start at the same moment. In the closed loop they are the calls in flight.
	Workers []Worker
	// Pacer is nil for the closed loop. With a Pacer the workers take the iterations in turn: one of those that are free
	// waits for the next due time, the others for it. An iteration that finds all of them busy starts late, and its
	// response time shows it. Only the first step is paced.
	Pacer Pacer
	// Duration is the window in which calls are started. A later step of an iteration is such a call.
	Duration time.Duration
	// Iterations ends the closed loop when so many have been made, if Duration does not end it before; 0 is no bound. Stats.Window
	// is then the time until the last of them had ended.
	Iterations uint64
	// Grace is how long calls in flight at the end of the window may take to end by themselves; then they are cut off.
	Grace time.Duration
	// CallTimeout ends a call by its context, a 64th of it (or a millisecond, if that is more) later at the latest; 0 is none.
	// What is answered after it counts as not answered. The error that is recorded has the class "timeout".
	CallTimeout time.Duration
	// Precise waits for due times by the kernel's timers; else Go's do, which are up to a millisecond late and keep the
	// virtual time of tests.
	Precise bool
	// Earlier is what the parts of this load came to that were run before: a closed loop of a Duration can be run in parts, one after
	// another and with any time between them. It goes on with the numbers of the iterations, and MaxFailures looks at all parts so far. The
	// zero value begins a load.
	Earlier Stats
	// MaxFailures is the share of the calls that may fail; 0 is no limit. A load with more is stopped, and Run returns
	// a *FailureLimit. It is stopped early where at least 100 calls have failed.
	MaxFailures float64
	// Tell is called every TellEvery while the load runs, with the calls that have ended, Earlier's included: of those that succeeded up to
	// 63 of each worker are not told yet. TellEvery 0 is never. It is called from one goroutine, and not after Run has returned.
	Tell      func(ok, failed uint64)
	TellEvery time.Duration
	// Patience is how long Run waits for calls to return once their contexts have ended; 0 is DefaultPatience.
	Patience time.Duration
}

// DefaultPatience is ample for a client that honours its context. One that does not is broken, and Run says so.
const DefaultPatience = 5 * time.Second

// Stats partition the calls of a load: Started = OK + Failed + CutOff. With a Pacer the calls that were due within
// the window are those started (Iterations) and those dropped.
type Stats struct {
	Started uint64
	OK      uint64
	Failed  uint64
	// CutOff calls were still in flight when the grace ended or Run's context did. Nobody knows how they would have
	// ended; there is no Sample of them.
	CutOff uint64
	// Dropped iterations were due within the window and never started.
	Dropped uint64
	// OKInWindow are those of OK that ended within the window: what a throughput is made of.
	OKInWindow uint64
	// Stuck calls, which are among CutOff, did not return even after their contexts had ended. Their goroutines are
	// left behind; they touch neither Stats nor Recorder any more.
	Stuck uint64
	// Iterations are those that were started: the calls of the first step.
	Iterations uint64
	// Busy is the time that the workers spent in calls, all added up, cut-off calls included: divided by the window it
	// is how many calls were in flight.
	Busy time.Duration
	// Next is the number of the first iteration of a part that goes on with this load; 0 where none can: only a closed loop of a Duration
	// is run in parts.
	Next uint64
	// Window is the time in which calls were started: Duration, or less where Run's context or Options.Iterations ended before.
	Window time.Duration
	// Elapsed is from the start until the last call had ended.
	Elapsed time.Duration
}

// Add gives the Stats of two parts of one load.
func (s Stats) Add(later Stats) Stats {
	s.Started += later.Started
	s.OK += later.OK
	s.Failed += later.Failed
	s.CutOff += later.CutOff
	s.Dropped += later.Dropped
	s.OKInWindow += later.OKInWindow
	s.Stuck += later.Stuck
	s.Iterations += later.Iterations
	s.Busy += later.Busy
	s.Window += later.Window
	s.Elapsed += later.Elapsed
	s.Next = later.Next
	return s
}

// errLate is what a call had to say that succeeded after its deadline.
var errLate = errors.New("answered after it")

// timeoutError is a call that the watchdog ended, with what the call said to it.
type timeoutError struct {
	after time.Duration
	err   error
}

func (e *timeoutError) Error() string {
	return "no answer within " + e.after.String() + ": " + e.err.Error()
}
func (e *timeoutError) Unwrap() error { return e.err }

// Class is the outcome class.
func (e *timeoutError) Class() string { return "timeout" }

// Is makes it a deadline, although its context was only cancelled.
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
