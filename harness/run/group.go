package run

import (
	"context"
	"fmt"
	"slices"
	"time"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// group runs trials that measure in turns (see plan.Group): all processes of all of them are started, one part of a window
// after another is measured while the processes of the others wait, and each trial is then reported and ended. A failure stands in
// its trial's result and takes none of the others along; the error is that of ctx, of the sink, or of a trial under FailFast. Trials
// that did not end are not in the result.
func (r *runner) group(ctx context.Context, first int, trials []plan.Trial) (ended []result.Trial, err error) {
	began := time.Now()
	families := make([]*family, len(trials))
	for i, t := range trials {
		families[i] = r.newFamily(ctx, t, first+i)
	}
	defer func() {
		for _, f := range families {
			f.stop() // those that are left when this ends before its end
			f.cancel(nil)
		}
	}()
	for _, f := range families {
		f.try(f.prepare)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r.left -= f.trial.Warmup
	}
	for turn := range max(1, trials[0].Turns) {
		for _, f := range thereAndBack(families, turn) {
			f.try(func(ctx context.Context) error { return f.turn(ctx, turn) })
			if ctx.Err() != nil && f.err != nil {
				return nil, context.Cause(ctx)
			}
			r.left -= (f.trial.Planned() - f.trial.Warmup) / time.Duration(f.turns())
		}
	}
	for _, f := range families {
		f.try(f.report)
		if ctx.Err() != nil && f.err != nil {
			return ended, context.Cause(ctx)
		}
		f.conclude()
		ended = append(ended, f.out)
		if r.Sink != nil {
			if err := r.Sink(f.out); err != nil {
				return ended, fmt.Errorf("keeping the result of trial %d: %w", f.trial.Order, err)
			}
		}
		r.left -= r.overhead()
		r.progress(Finished, &f.out)
		if r.FailFast && f.out.Error != "" {
			return ended, fmt.Errorf("trial %d: %s", f.trial.Order, f.out.Error)
		}
	}
	r.learn(families, time.Since(began))
	return ended, nil
}

// thereAndBack is the order of a turn: every other one is backwards, so that what changes steadily falls on all alike.
func thereAndBack(families []*family, turn int) []*family {
	if turn%2 == 0 {
		return families
	}
	back := slices.Clone(families)
	slices.Reverse(back)
	return back
}

// learn notes how long trials take beyond what was planned, from a group of which all ended whole.
func (r *runner) learn(families []*family, took time.Duration) {
	for _, f := range families {
		if f.err != nil {
			return
		}
		took -= f.trial.Planned()
	}
	r.measured += len(families)
	r.beyond += max(0, took)
}

// overhead is how long a trial takes beyond what is planned, by those so far.
func (r *runner) overhead() time.Duration {
	if r.measured == 0 {
		return plan.Overhead
	}
	return r.beyond / time.Duration(r.measured)
}
