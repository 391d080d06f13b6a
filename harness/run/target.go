package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bakeoff/harness/meter"
	"bakeoff/harness/result"
)

// Target is a server that runs already: it is not started, pinned, restarted or ended here.
type Target struct {
	// Addr is the host:port that the driver is told.
	Addr string
	// Meter reads it at the edges of each window; nil where nothing can, and its figures are then unknown.
	Meter Meter
	// CPUs is how many CPUs it may use; 0 is unknown.
	CPUs int
	// Here says that it runs on this machine, where it may be on the driver's CPUs.
	Here bool
	// Asks says that it asks another server for each answer. Where that is nobody tells this run.
	Asks bool
	// Doubts are what the caller doubts of it; they stand in each trial.
	Doubts []result.Warning
}

// Meter reads what a process that is not a child of ours has used and counted so far. It returns when ctx ends.
type Meter func(ctx context.Context) (Remote, error)

// Remote is one reading by a Meter. Unlike a child it is of a process that may have been restarted in between.
type Remote struct {
	meter.Reading
	// Counters are nil where nothing is counted.
	Counters map[string]int64
	// Throttled is how often quotas of its own ran out.
	Throttled *meter.Throttled
}

// meterTime is how long a meter may take to answer.
const meterTime = 5 * time.Second

// remotes are the readings at one edge of the window; nil for a process that has no meter, or whose meter failed.
type remotes struct{ server, store *Remote }

// readRemotes asks the meters. One that fails costs the trial its figures, but not those of the driver: it is a doubt and no error.
func (f *family) readRemotes(ctx context.Context) (rs remotes) {
	if f.target != nil {
		rs.server = f.readRemote(ctx, f.target.Meter, "the server")
	}
	rs.store = f.readRemote(ctx, f.StoreMeter, "the store")
	return rs
}

func (f *family) readRemote(ctx context.Context, m Meter, what string) *Remote {
	if m == nil {
		return nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, meterTime, fmt.Errorf("no answer within %v", meterTime))
	defer cancel()
	r, err := m(limited)
	if err == nil {
		return &r
	}
	if limited.Err() != nil {
		err = context.Cause(limited)
	}
	f.lose(what, err)
	return nil
}

// lose notes why figures of a process are unknown. The first reason is the one to tell.
func (f *family) lose(what string, err error) {
	if f.lost == nil {
		f.lost = map[string]error{}
	}
	if f.lost[what] == nil {
		f.lost[what] = err
	}
}

// lostWarnings tell which figures are missing, and why.
func (f *family) lostWarnings() []result.Warning {
	var all []result.Warning
	for _, what := range []string{"the server", "the store"} {
		var restarted *restartedError
		var other *otherError
		switch err := f.lost[what]; {
		case errors.As(err, &other):
			all = append(all, result.Warning{Kind: result.WarnMeterLost, Text: other.Error()})
		case errors.As(err, &restarted):
			all = append(all, result.Warning{Kind: result.WarnMeterLost, Text: fmt.Sprintf(
				"%v, so that its CPU, memory and counts are unknown: %v", restarted, restarted.err)})
		case err != nil:
			all = append(all, result.Warning{Kind: result.WarnMeterLost, Text: fmt.Sprintf(
				"%s's meters could not be read at both edges of the window, so that its CPU, memory and counts are unknown: %v", what, err)})
		}
	}
	return all
}

// restartedError is the loss of figures whose readings are of two processes.
type restartedError struct {
	who string
	err error
}

func (e *restartedError) Error() string { return e.who + " was restarted within the window" }
func (e *restartedError) Unwrap() error { return e.err }

// otherError is the loss of figures that were read of a process which is not the one that answered.
type otherError struct {
	cpu      time.Duration
	answered uint64
}

func (e *otherError) Error() string {
	return fmt.Sprintf("the process that was read for the server used %v of CPU while %d calls were answered, which takes more: it is another one, so that the server's CPU and memory are unknown: "+
		"look at which process the agent or the admin listener of this target reads", e.cpu.Round(time.Microsecond), e.answered)
}

// subRemotes is what a process used between two readings, nil where that is unknown. Readings of two processes are dropped: what they
// counted has no difference either.
func (f *family) subRemotes(what string, after, before **Remote) *meter.Usage {
	if *after == nil || *before == nil {
		return nil
	}
	u, err := meter.Sub((*after).Reading, (*before).Reading)
	if err == nil {
		return &u
	}
	who := what
	if (*after).PID == (*before).PID && !errors.Is(err, meter.ErrGone) {
		who += ", or what reads it,"
	}
	f.lose(what, &restartedError{who, err})
	*after, *before = nil, nil
	return nil
}

// describe doubts what holds for every trial with a target.
func (t *Target) describe() []result.Warning {
	all := []result.Warning{{Kind: result.WarnNotRestarted,
		Text: "the server ran already, and was not restarted between rounds: what lasts as long as a process is the same in all of them, and no interval shows it; its peak of memory is that since its start"}}
	if t.Here {
		all = append(all, result.Warning{Kind: "shared_cpu", Text: "the server is on this machine and was not pinned by this run: it may be on the driver's CPUs"})
	}
	if t.Asks {
		all = append(all, result.Warning{Kind: result.WarnBackendUnread,
			Text: "the server is a front, and the backend that it asks is part of every call: this run neither started, pinned nor read that one, and unless it is within the server's own process its CPU and memory are unknown"})
	}
	return append(all, t.Doubts...)
}
