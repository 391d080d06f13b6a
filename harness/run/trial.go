package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"bakeoff/harness/control"
	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// withEnds adds to an error what was wrong with the ends of the processes, as far as it is not that already.
func withEnds(err error, ends []error) string {
	ends = slices.DeleteFunc(ends, func(e error) bool { return sameDeath(e, err) })
	if len(ends) == 0 {
		return err.Error()
	}
	return err.Error() + "; also: " + list(ends)
}

func list(errs []error) string {
	var texts []string
	for _, e := range errs {
		texts = append(texts, e.Error())
	}
	return strings.Join(texts, "; ")
}

// sameDeath says that two errors are about the end of one process.
func sameDeath(a, b error) bool {
	var x, y *exitError
	return errors.As(a, &x) && errors.As(b, &y) && x.name == y.name
}

// family is a trial under way and its processes; the store is nil where it has none.
type family struct {
	*runner
	trial                 plan.Trial
	index                 int // among all trials, from 1
	store, server, driver *child
	backend               *child  // nil where the server answers by itself
	target                *Target // in the place of server
	lost                  map[string]error
	blamed                *child // said by itself, on its control line, why it gives up: its exit status adds nothing

	// ctx ends with that of the run, and with the first of the processes that dies.
	ctx     context.Context
	run     context.Context
	stage   atomic.Pointer[stage] // also read by who waits for the end of a process
	cancel  context.CancelCauseFunc
	out     result.Trial
	err     error   // why the trial has failed
	skipped bool    // nothing was started
	stopped bool    // nothing of it runs any more
	ends    []error // what was wrong with the ends of the processes

	asked       counters // before the first turn
	first, last edge     // of all turns
	total       usages   // of all turns
	soFar       *Now     // as the driver has told latest
	kept        result.Outcomes
	made        int  // turns that were measured whole
	silent      int  // turns in a row, the latest among them, in which no call ended
	ready       bool // the driver is, or was
	reporting   bool // the driver was asked to
	costs       []map[string]float64
}

func (r *runner) newFamily(ctx context.Context, t plan.Trial, index int) *family {
	f := &family{runner: r, trial: t, index: index, out: r.newTrial(t), run: ctx}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	f.reach("in the middle of its work")
	if r.GiveUp > 0 && r.failures[t.Subject] >= r.GiveUp {
		f.skipped = true
		f.err = fmt.Errorf("skipped: %d trials of %s in a row failed before it, lastly: %s", r.failures[t.Subject], t.Subject, r.lastly[t.Subject])
	}
	return f
}

// try takes a step of the trial, unless one before it has failed. A trial that fails is ended at once, so that its processes are in
// nobody's way.
func (f *family) try(step func(ctx context.Context) error) {
	if f.err != nil {
		return
	}
	f.now = f
	if f.err = step(f.ctx); f.err != nil {
		f.rescue()
		f.stop()
	}
}

// conclude ends the trial and writes down how.
func (f *family) conclude() {
	f.now = f
	f.stop()
	switch {
	case f.err != nil:
		f.out.Error = withEnds(f.err, f.ends)
	case len(f.ends) > 0:
		f.out.Warnings = append(f.out.Warnings, result.Warning{Kind: "unclean_end", Text: list(f.ends)})
	}
	if f.skipped {
		return
	}
	if made := f.out.TurnsMade; f.err != nil && (made == nil || *made > f.made) {
		f.out.TurnsMade = new(f.made) // one that the driver has seen through may have been found to be nothing
	}
	if f.failures[f.trial.Subject]++; f.err == nil {
		f.failures[f.trial.Subject] = 0
	}
	f.lastly[f.trial.Subject] = f.out.Error
}

// stop ends the processes, if that has not been done, clients before what they call.
func (f *family) stop() {
	if f.stopped || f.skipped {
		return
	}
	f.stopped = true
	f.progress(Stopping, nil)
	for _, c := range []*child{f.driver, f.server, f.backend, f.store} {
		if c == nil {
			continue
		}
		if err := c.stop(f.Timeouts); err != nil && c != f.blamed {
			f.ends = append(f.ends, err)
		}
	}
	f.cancel(nil)
}

// listen starts a store or server and waits until it listens. From then on its death ends the trial's context.
func (f *family) listen(ctx context.Context, c **child, role, name string, cmd Command) (control.Line, error) {
	var err error
	if *c, err = f.start(role, name, cmd); err != nil {
		return control.Line{}, err
	}
	line, err := f.hear(ctx, *c, waiting{event: control.Listening, timeout: f.Timeouts.Start, when: always("before it listened")})
	if err != nil {
		return line, err
	}
	if line.Addr == "" {
		return line, fmt.Errorf("%s listens, but does not say at which address", name)
	}
	go func(c *child) {
		select {
		case <-c.exited:
			f.cancel(c.death(f.stage.Load().String()))
		case <-ctx.Done():
		}
	}(*c)
	return line, nil
}

func (f *family) hear(ctx context.Context, c *child, w waiting) (control.Line, error) {
	w.look = f.Timeouts.Look
	line, err := c.hear(ctx, w)
	var stopped *stoppedError
	if err != nil && (line.Event == control.Error || errors.As(err, &stopped)) {
		f.blamed = c
	}
	return line, err
}

// always is a stage that does not change while it is waited.
func always(when string) func() string { return func() string { return when } }

// prepare begins the conversation of package control, up to the driver's "ready". What is known goes into out as it becomes known.
func (f *family) prepare(ctx context.Context) error {
	f.progress(Starting, nil)
	f.reach("while the others of its trial were started")
	f.describeCPUs(&f.out)
	var storeAddr string
	if f.Store != nil {
		line, err := f.listen(ctx, &f.store, Store, "store", f.Store(f.trial))
		if err != nil {
			return err
		}
		storeAddr, f.out.Store = line.Addr, line.Describe
	}
	behind, err := f.behind(ctx, storeAddr)
	if err != nil {
		return err
	}
	addr, err := f.serverFor(ctx, behind)
	if err != nil {
		return err
	}
	f.progress(WarmingUp, nil)
	f.reach("while the driver dialled and warmed up")
	if f.driver, err = f.start(Driver, "driver "+f.trial.Subject, f.Driver(f.trial, addr)); err != nil {
		return err
	}
	if _, err := f.hear(ctx, f.driver, waiting{event: control.Ready, timeout: f.trial.Warmup + f.Timeouts.Ready, quiet: f.trial.Warmup,
		when: always("before it was ready")}); err != nil {
		return err
	}
	f.ready = true
	f.awaitTurn(0)
	f.asked, err = f.counters(ctx)
	return err
}

// report ends the conversation, and makes the result of what was read at the edges of the turns.
func (f *family) report(ctx context.Context) error {
	counted, err := f.counters(ctx)
	if err != nil {
		return err
	}
	f.progress(Reporting, nil)
	if err := f.driver.say(control.Line{Event: control.Report}, f.Timeouts.Report); err != nil {
		return err
	}
	f.reporting = true
	f.reach("while the driver reported")
	line, err := f.hear(ctx, f.driver, waiting{event: control.Result, timeout: f.Timeouts.Report, when: always("before it had reported")})
	if err != nil {
		return err
	}
	if err := merge(&f.out, line.Trial, f.trial); err != nil {
		return fmt.Errorf("%s: its result: %w", f.driver.name, err)
	}
	drawn(f.out.Slices, f.costs)
	// One that was restarted between two turns is another process, too.
	if f.target != nil && f.subRemotes("the server", &f.last.far.server, &f.first.far.server) == nil {
		f.total.server = nil
	}
	if f.store == nil && f.subRemotes("the store", &f.last.far.store, &f.first.far.store) == nil {
		f.total.store = nil
	}
	f.asked.of(f.first.far)
	counted.of(f.last.far)
	f.compareCalls(&f.out, "the server", result.ServerCalls, f.asked.server, counted.server)
	f.compareCalls(&f.out, "the backend", result.BackendCalls, f.asked.backend, counted.backend)
	f.compareStore(&f.out, f.trial, f.asked.store, counted.store)
	f.evaluate(&f.out)
	return nil
}

// behind starts the trial's backend, if it has one, and gives the address of what the server asks.
func (f *family) behind(ctx context.Context, store string) (string, error) {
	if f.Backend == nil {
		return store, nil
	}
	cmd := f.Backend(f.trial, store)
	if cmd == nil {
		return store, nil
	}
	line, err := f.listen(ctx, &f.backend, Backend, "backend of "+f.trial.Subject, *cmd)
	if line.Describe != "" {
		f.out.Store = line.Describe
	}
	return line.Addr, err
}

// serverFor gives the address of the trial's server: of one that is started, or of the target.
func (f *family) serverFor(ctx context.Context, behind string) (string, error) {
	if f.Target != nil {
		target := f.Target(f.trial)
		f.target = &target
		f.out.Warnings = append(f.out.Warnings, target.describe()...)
		return target.Addr, nil
	}
	line, err := f.listen(ctx, &f.server, Server, "server "+f.trial.Subject, f.Server(f.trial, behind))
	if line.Describe != "" { // the server names the store as it sees it
		f.out.Store = line.Describe
	}
	return line.Addr, err
}

// merge lays the driver's report under what is known here.
func merge(out *result.Trial, report json.RawMessage, t plan.Trial) error {
	merged := *out
	merged.CPUSets, merged.Warnings = nil, nil // not the driver's to add to
	if err := json.Unmarshal(report, &merged); err != nil {
		return err
	}
	identify(&merged, t)
	merged.Started, merged.CPUSets = out.Started, out.CPUSets
	if out.Store != "" {
		merged.Store = out.Store
	}
	merged.Warnings = append(out.Warnings, merged.Warnings...)
	*out = merged
	if out.Error != "" {
		return errors.New(out.Error)
	}
	return nil
}
