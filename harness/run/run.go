// Package run executes a plan: for each trial it starts fresh processes of one executable (a store where there is one,
// a server, a driver), each on CPUs of its own where there are enough, reads their meters at the edges of what is
// measured, and ends them. Trials that the plan groups are there at the same time and measure in turns. It knows no protocols, no load, no flags and prints nothing: what to start comes
// from functions, what came out goes to a sink.
//
// A process that fails makes its trial a result with an Error and the process's last words, and with the calls and turns that were measured
// before; the run goes on. It
// needs Linux: CPU affinity, and the signal that ends the children when this process dies.
package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// The roles of a trial's processes, as they stand in result.Trial.CPUSets.
const (
	Store   = "store"
	Backend = "backend" // what the server of some trials asks in its turn
	Server  = "server"
	Driver  = "driver"
)

// Command says how one process is started.
type Command struct {
	// Args follow the executable's name.
	Args []string
	// Env is added to this process's environment ("GOGC=400").
	Env []string
	// Job is the first line on the process's stdin, as JSON; nil for none. Only drivers get one.
	Job any
}

// Config says how trials are run. The zero value of a field that is not marked as needed means its default.
type Config struct {
	// Executable is the path of the program that plays all roles. Needed.
	Executable string
	// Store starts the store of a trial; nil where the store has no process of ours (memory, or a database that
	// runs already).
	Store func(t plan.Trial) Command
	// Backend starts what the trial's server asks in its turn; nil for a server that answers by itself, and a nil function where all do.
	// Where there is one, CPUs are set aside for it in all trials, so that servers have the same in each.
	Backend func(t plan.Trial, store string) *Command
	// Server starts the server of a trial; behind is the address of what it asks: of the trial's backend, or else of the store,
	// "" without either. Needed, unless all servers are targets.
	Server func(t plan.Trial, behind string) Command
	// Driver starts the client side; server is the address that the server listens on. Needed.
	Driver func(t plan.Trial, server string) Command

	// Target is the server of a trial that runs already, in place of Server; nil where all are started here.
	Target func(t plan.Trial) Target
	// StoreMeter reads a store that runs already; nil where there is none, or nothing reads it.
	StoreMeter Meter

	// Prepare writes into a trial what the caller knows of it before it runs (mode, connections, store), so that a
	// failed or skipped one stands in the same row of a table as its sisters.
	Prepare func(t plan.Trial, out *result.Trial)

	// Asks says how many operations of each kind one call asks of the store; nil for a call of which that is not known.
	// It is compared with the counters of a store that has a process of ours, or a meter that tells them.
	Asks func(t plan.Trial) map[string]float64

	// CountCalls asks the server at the edges of each window how many calls it was asked to handle, and compares. A target is
	// compared where its meter tells.
	CountCalls bool

	// CPUs are the CPUs to use; nil for those that the function CPUs finds. They
	// are an error where the processes can't be pinned to them; the CPUs found are then only a warning.
	CPUs []int
	// Unpinned leaves all processes on all CPUs.
	Unpinned bool

	// Sink gets each trial as it ends, failed and skipped ones included. Its error ends the run.
	Sink func(result.Trial) error
	// Progress is told of every step. It is called from the goroutine of Run and holds the run up while it runs.
	Progress func(Progress)
	// FailFast ends the run at the first trial that fails.
	FailFast bool
	// GiveUp is after how many failures in a row the rest of a subject's trials are skipped; 0 for 3, negative for never.
	GiveUp int
	// Timeouts bound every wait for a process.
	Timeouts Timeouts
}

// Timeouts bound the waits for a process. A zero field is its default.
type Timeouts struct {
	Start  time.Duration // until a store or server listens: 30 s
	Ready  time.Duration // until the driver is ready, beyond the warm-up: 30 s
	Done   time.Duration // until the driver is done, beyond the window: for the drain, 30 s
	Answer time.Duration // until a store or server has told its counters, with nothing in flight: 10 s
	Report time.Duration // until the driver has reported: 30 s
	Rescue time.Duration // until the driver of a trial that has failed has reported how far it came: 10 s
	Look   time.Duration // between two looks at whether a process that owes a line is stopped; both must find it so: 1 s
	Term   time.Duration // from the end of a process's stdin to SIGTERM: 2 s
	Kill   time.Duration // from the end of a process's stdin to SIGKILL: 5 s
}

func (t Timeouts) defaulted() Timeouts {
	for _, f := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Start, 30 * time.Second}, {&t.Ready, 30 * time.Second}, {&t.Done, 30 * time.Second},
		{&t.Answer, 10 * time.Second}, {&t.Report, 30 * time.Second}, {&t.Rescue, 10 * time.Second}, {&t.Look, time.Second},
		{&t.Term, 2 * time.Second}, {&t.Kill, 5 * time.Second},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return t
}

// Phase is a step of a trial.
type Phase string

// The phases of a trial, in their order.
const (
	Starting  Phase = "starting"
	WarmingUp Phase = "warming up"
	Measuring Phase = "measuring"
	Reporting Phase = "reporting"
	Stopping  Phase = "stopping"
	Finished  Phase = "finished"
)

// Progress is where a run stands.
type Progress struct {
	Trial plan.Trial
	// Index counts the trials from 1 to Total.
	Index, Total int
	Phase        Phase
	// Remaining is how long the rest will take, this trial included, by what the trials so far took.
	Remaining time.Duration
	// Result is the trial that has just Finished, nil in all other phases.
	Result *result.Trial
	// Now is what the trial has come to so far, while it is Measuring; nil where that is not known. A turn is told as it begins and
	// as it has ended.
	Now *Now
}

// Now is a trial under way.
type Now struct {
	// Rate is the ok calls a second of the latest part of the window.
	Rate float64
	// OK and Failed are the calls that have ended so far.
	OK, Failed uint64
}

// Run runs the trials, one group after another (see plan.Group), and returns those that ended, in their order, also when it returns an
// error: ctx's cause when ctx ended (the trials in flight are then lost, their processes are ended), the sink's error,
// or a trial's under FailFast. No process that it started is left when it returns.
func Run(ctx context.Context, c Config, trials []plan.Trial) ([]result.Trial, error) {
	switch {
	case c.Executable == "":
		return nil, errors.New("run: no executable")
	case c.Server == nil && c.Target == nil || c.Driver == nil:
		return nil, errors.New("run: it is not said how to start the server and the driver")
	}
	if c.GiveUp == 0 {
		c.GiveUp = 3
	}
	c.Timeouts = c.Timeouts.defaulted()

	r := &runner{Config: c, total: len(trials), failures: map[string]int{}, lastly: map[string]string{}}
	r.starter = newStarter()
	defer r.starter.close()
	if err := r.assign(); err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}

	ended := make([]result.Trial, 0, len(trials))
	for len(ended) < len(trials) {
		if ctx.Err() != nil {
			return ended, context.Cause(ctx)
		}
		rest := trials[len(ended):]
		group := rest[:plan.Group(rest)]
		r.left = plan.Estimate(group, r.overhead())
		r.rest = rest[len(group):]
		of, err := r.group(ctx, len(ended)+1, group)
		ended = append(ended, of...)
		if err != nil {
			return ended, err
		}
	}
	return ended, nil
}

// runner is the state of one Run; only its goroutine uses it.
type runner struct {
	Config
	starter *starter
	cpus    map[string][]int // by role; empty where nothing is pinned
	shared  []result.Warning
	total   int

	now  *family       // whose turn it is
	left time.Duration // of the group under way
	rest []plan.Trial  // after the group
	// failures are those in a row, by subject, and lastly is what the latest trial failed of.
	failures map[string]int
	lastly   map[string]string
	// measured and beyond are of the trials that ended whole: how many, and how long they took beyond what was planned.
	measured int
	beyond   time.Duration
}

func (r *runner) progress(p Phase, done *result.Trial) {
	if r.Progress == nil {
		return
	}
	at := Progress{Trial: r.now.trial, Index: r.now.index, Total: r.total, Phase: p,
		Remaining: max(0, r.left) + plan.Estimate(r.rest, r.overhead()), Result: done}
	if p == Measuring {
		at.Now = r.now.soFar
	}
	r.Progress(at)
}

// newTrial is what is known of a trial's result before it begins.
func (r *runner) newTrial(t plan.Trial) result.Trial {
	out := result.Trial{Started: time.Now()}
	if r.Prepare != nil {
		r.Prepare(t, &out)
	}
	identify(&out, t)
	return out
}

// identify writes what the plan says of a trial over whatever its driver said.
func identify(out *result.Trial, t plan.Trial) {
	out.Kind = "bakeoff-trial"
	out.Subject, out.Workload, out.Concurrency = t.Subject, t.Workload, t.Concurrency
	out.Round, out.Order, out.Seed, out.Turns = t.Round, t.Order, t.Seed, t.Turns
}
