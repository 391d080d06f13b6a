// Package load decides when calls are due and has workers make them, one Sample for each. It knows nothing of
// what a call does or of what becomes of the samples.
package load

import (
	"context"
	"time"
)

// Call makes one call. n counts the iterations of the whole load from 0; a worker makes its calls one after
// another, so that a Call made for one worker needs no locks.
type Call func(ctx context.Context, n uint64) error

// Pacer says when iteration n is due, counted from the start of the load; ok is false when there is no such
// iteration. It is pure: the same n gives the same answer, for any caller at any time. A nil Pacer is the closed
// loop, in which each worker's next call is due as its last one ends.
type Pacer interface {
	At(n uint64) (due time.Duration, ok bool)
}

// Sample is one call. The times count from the start of the load: response time is Done-Due, service time
// Done-Sent. In the closed loop Due equals Sent.
type Sample struct {
	N    uint64
	Step int
	Due  time.Duration
	Sent time.Duration
	Done time.Duration
	Err  error
}

// Recorder takes the samples of one worker, so it needs no locks. Record keeps nothing of the Sample's error
// beyond the call and should not allocate.
type Recorder interface {
	Record(s Sample)
}
