package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bakeoff/harness/control"
	"bakeoff/harness/meter"
	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// trial runs one trial from the start of its processes to their end. A failure stands in the result; the error is
// the end of ctx alone.
func (r *runner) trial(ctx context.Context, t plan.Trial) (result.Trial, error) {
	began := time.Now()
	out := r.newTrial(t)
	f := &family{runner: r}
	err := f.measure(ctx, t, &out)
	r.progress(Stopping, nil)
	ends := f.stop()
	if err != nil && ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err != nil {
		out.Error = withEnds(err, ends)
		return out, nil
	}
	if len(ends) > 0 {
		out.Warnings = append(out.Warnings, result.Warning{Kind: "unclean_end", Text: list(ends)})
	}
	r.measured++
	r.overhead += max(0, time.Since(began)-t.Planned())
	return out, nil
}

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

// family is the processes of one trial; the store is nil where it has none.
type family struct {
	*runner
	store, server, driver *child
	target                *Target // in the place of server
	lost                  map[string]error
	blamed                *child // said by itself, on its control line, why it gives up: its exit status adds nothing
}

// stop ends the processes, clients before what they call, and returns what was wrong with their ends.
func (f *family) stop() []error {
	var errs []error
	for _, c := range []*child{f.driver, f.server, f.store} {
		if c == nil {
			continue
		}
		if err := c.stop(f.Timeouts); err != nil && c != f.blamed {
			errs = append(errs, err)
		}
	}
	return errs
}

// listen starts a store or server and waits until it listens. From then on its death ends ctx through cancel.
func (f *family) listen(ctx context.Context, cancel context.CancelCauseFunc, c **child, role, name string, cmd Command) (control.Line, error) {
	var err error
	if *c, err = f.start(role, name, cmd); err != nil {
		return control.Line{}, err
	}
	line, err := f.hear(ctx, *c, control.Listening, f.Timeouts.Start, "before it listened")
	if err != nil {
		return line, err
	}
	if line.Addr == "" {
		return line, fmt.Errorf("%s listens, but does not say at which address", name)
	}
	go func(c *child) {
		select {
		case <-c.exited:
			cancel(c.death("in the middle of its work"))
		case <-ctx.Done():
		}
	}(*c)
	return line, nil
}

func (f *family) hear(ctx context.Context, c *child, event string, timeout time.Duration, when string) (control.Line, error) {
	line, err := c.hear(ctx, event, timeout, when)
	if err != nil && line.Event == control.Error {
		f.blamed = c
	}
	return line, err
}

// measure is the conversation of package control. What is known goes into out as it becomes known.
func (f *family) measure(ctx context.Context, t plan.Trial, out *result.Trial) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	f.progress(Starting, nil)
	f.describeCPUs(out)
	var storeAddr string
	if f.Store != nil {
		line, err := f.listen(ctx, cancel, &f.store, Store, "store", f.Store(t))
		if err != nil {
			return err
		}
		storeAddr, out.Store = line.Addr, line.Describe
	}
	addr, err := f.serverFor(ctx, cancel, t, storeAddr, out)
	if err != nil {
		return err
	}

	f.progress(WarmingUp, nil)
	if f.driver, err = f.start(Driver, "driver "+t.Subject, f.Driver(t, addr)); err != nil {
		return err
	}
	if _, err := f.hear(ctx, f.driver, control.Ready, t.Warmup+f.Timeouts.Ready, "before it was ready"); err != nil {
		return err
	}

	// Everything is quiet now: between this reading and the next there is the window, its drain and nothing else.
	asked, err := f.counters(ctx)
	if err != nil {
		return err
	}
	farBefore := f.readRemotes(ctx)
	before, err := f.read()
	if err != nil {
		return err
	}
	out.Started = time.Now()
	if err := f.driver.say(control.Line{Event: control.Go}, f.Timeouts.Start); err != nil {
		return err
	}
	f.progress(Measuring, nil)
	if _, err := f.hear(ctx, f.driver, control.Done, t.Duration+f.Timeouts.Done, "while it measured"); err != nil {
		return err
	}
	after, err := f.read()
	if err != nil {
		return err
	}
	farAfter := f.readRemotes(ctx)
	counted, err := f.counters(ctx)
	if err != nil {
		return err
	}

	f.progress(Reporting, nil)
	if err := f.driver.say(control.Line{Event: control.Report}, f.Timeouts.Report); err != nil {
		return err
	}
	line, err := f.hear(ctx, f.driver, control.Result, f.Timeouts.Report, "before it had reported")
	if err != nil {
		return err
	}
	if err := merge(out, line.Trial, t); err != nil {
		return fmt.Errorf("%s: its result: %w", f.driver.name, err)
	}
	used := farUsage{
		server: f.subRemotes("the server", &farAfter.server, &farBefore.server),
		store:  f.subRemotes("the store", &farAfter.store, &farBefore.store),
	}
	asked.of(farBefore)
	counted.of(farAfter)
	f.compareServer(out, asked.server, counted.server)
	f.compareStore(out, t, asked.store, counted.store)
	return f.evaluate(out, edge{before, farBefore}, edge{after, farAfter}, used)
}

// serverFor gives the address of the trial's server: of one that is started, or of the target.
func (f *family) serverFor(ctx context.Context, cancel context.CancelCauseFunc, t plan.Trial, store string, out *result.Trial) (string, error) {
	if f.Target != nil {
		target := f.Target(t)
		f.target = &target
		out.Warnings = append(out.Warnings, target.describe()...)
		return target.Addr, nil
	}
	line, err := f.listen(ctx, cancel, &f.server, Server, "server "+t.Subject, f.Server(t, store))
	if line.Describe != "" { // the server names the store as it sees it
		out.Store = line.Describe
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

// edge is all meters at one edge of the window.
type edge struct {
	near readings
	far  remotes
}

// readings are the meters of our processes and of the machine at one edge of the window.
type readings struct {
	server, driver, store meter.Reading
	host                  meter.HostReading
}

func (f *family) read() (readings, error) {
	rs := readings{}
	for _, p := range []struct {
		c    *child
		into *meter.Reading
	}{{f.driver, &rs.driver}, {f.server, &rs.server}, {f.store, &rs.store}} {
		if p.c == nil {
			continue
		}
		var err error
		if *p.into, err = meter.Read(p.c.cmd.Process.Pid); err != nil {
			if errors.Is(err, meter.ErrGone) && p.c.wait(time.Second) {
				return rs, p.c.death("in the middle of its work")
			}
			return rs, fmt.Errorf("%s: %w", p.c.name, err)
		}
	}
	rs.host = meter.Host()
	return rs, nil
}
