package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"bakeoff/harness/plan"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/harness/stats"
	"bakeoff/internal/nearest"
	"bakeoff/internal/plural"
)

// precisionFlags ask for rounds until an interval is narrow.
//
// The rule: look at the figures after the rounds of the plan, and then whenever there are twice as many as at the last look. Stop when
// every ratio to the baseline is known within the share asked for (with one subject: the median), or when half of the next doubling
// no longer fits in the budget. Each look has its share of the 5 % by which all may err, see stats.LookAlpha, so no rule of stopping can
// spoil the intervals; this one does not even look at which way a difference goes. bench/simulate shows what comes of it.
type precisionFlags struct {
	within string
	figure string
	budget time.Duration
}

// minFirstLook is how many rounds the first look needs: with seven the 97.5 % of the first look can just be had, and nothing beside it.
const minFirstLook = 8

func (f *precisionFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.within, "precision", "", "add rounds until the ratios are known within this `share`, as in 2%, or the budget is spent")
	flags.StringVar(&f.figure, "precision-of", result.Throughput, "`figure` that --precision is about, as in -o json: throughput, server_cpu_per_req, latency_p99 ...")
	flags.DurationVar(&f.budget, "budget", 10*time.Minute, "how long a run with --precision may take, about")
}

// check gives nil where no precision is asked for.
func (f precisionFlags) check(s plan.Settings, given func(flag string) bool) (*result.Precision, error) {
	if !given("precision") {
		for _, flag := range []string{"precision-of", "budget"} {
			if given(flag) {
				return nil, fmt.Errorf("--%s: is about --precision, which is not given: as in --precision 2%%", flag)
			}
		}
		return nil, nil
	}
	within, err := parseShare(f.within)
	if err != nil {
		return nil, fmt.Errorf("--precision %q: %w", f.within, err)
	}
	var figures []string
	known := false
	for _, m := range report.Metrics {
		if m.Better != report.Neither {
			figures = append(figures, m.Name)
			known = known || m.Name == f.figure
		}
	}
	switch {
	case !known:
		return nil, fmt.Errorf("--precision-of: %w", nearest.Unknown("figure", f.figure, figures))
	case f.budget <= 0:
		return nil, fmt.Errorf("--budget %v: must be above 0", f.budget)
	case s.Rounds < minFirstLook:
		return nil, fmt.Errorf("--rounds %d with --precision: at least %d, after which the run looks at its figures for the first time", s.Rounds, minFirstLook)
	}
	return &result.Precision{Figure: f.figure, Target: within, First: s.Rounds}, nil
}

// checkFigure refuses a figure that no trial of the run will have: its rounds would go on until the budget is spent.
func (j *job) checkFigure() error {
	if j.precision == nil || !strings.HasPrefix(j.precision.Figure, "store_") {
		return nil
	}
	switch store := j.flags.store; {
	case store == storeMemory:
		return fmt.Errorf("--precision-of %s: with --store %s the store is within the server and has no figures of its own: choose another store, or server_cpu_per_req", j.precision.Figure, store)
	case store != storeEmbedded && j.store == nil:
		return fmt.Errorf("--precision-of %s: nothing reads what the store %s uses: name what does with --store-agent, or choose another figure", j.precision.Figure, store)
	}
	return nil
}

// parseShare reads "2%" or "0.5 %".
func parseShare(s string) (float64, error) {
	number, ok := strings.CutSuffix(strings.TrimSpace(s), "%")
	share, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil || !(share > 0 && share < 100) { // NaN, too
		return 0, errors.New("must be a share above 0% and below 100%, as in 2%")
	}
	return share / 100, nil
}

// measure runs the trials of the plan, and with --precision further ones. missed says that the precision was not reached. The trials
// are those that were made now: what a run that is resumed had before is not among them.
func (o *session) measure(ctx context.Context) (trials []result.Trial, missed string, err error) {
	began, spent := time.Now(), o.past.spent()
	if len(o.trials) > 0 { // a run that is resumed may lack none of its last rounds, and need more of them
		trials, err = harness.Run(ctx, o.config, o.trials)
	}
	if o.precision == nil || err != nil {
		return trials, "", err
	}
	settings := o.settings
	for resumed := o.past != nil; ; resumed = false {
		s, err := o.step(o.header, o.past.with(trials), settings.Rounds, spent+time.Since(began), resumed, len(trials) > 0)
		if err != nil {
			return trials, "", err
		}
		var next []plan.Trial
		if s.more > 0 {
			done := settings.Rounds
			settings.Rounds += s.more
			if next, err = o.experiment.Extend(settings, done); err != nil {
				s.more, s.missed = 0, fmt.Sprintf("the precision of %.3g%% was not reached: %s, and more rounds than that have too many trials: %v", 100*o.precision.Target, s.now, err)
			}
		}
		if s.more == 0 {
			if s.missed == "" {
				o.say.say("precision: %s, as asked for", s.now)
			}
			return trials, s.missed, nil
		}
		o.say.say("precision: %s; %.3g%% is asked for: %d more rounds", s.now, 100*o.precision.Target, s.more)
		o.say.more(settings.Rounds, len(next))
		further, err := harness.Run(ctx, o.config, next)
		trials = append(trials, further...)
		if err != nil {
			return trials, "", err
		}
	}
}

// step is what the rule says after some rounds: how many more there are to be. None with an empty missed is the end that was asked for.
type step struct {
	now, missed string
	more        int
}

// step looks at the figures after so many rounds, which took so long.
//
// A run that is resumed goes on to where its next look was to be, and by the same rule from there. Whoever interrupted it has seen its
// figures in between and may have decided by them whether to go on. So that this spoils nothing, every resumption costs a look: what is
// looked at afterwards is judged at the level of the look after the one that it would have been (see report.Build, and Trial.Resumed). No
// two looks that anybody has had, the ones at interruptions included, then have the same level, and all levels together are the 5 %. For the
// same reason it does not stop before that next look by figures that are new since the interruption; those that are not were seen then.
func (j *job) step(h result.Header, trials []result.Trial, rounds int, took time.Duration, resumed, unseen bool) (s step, err error) {
	tables, err := report.Build(result.File{Header: h, Trials: trials}, j.reportOptions())
	if err != nil {
		return s, err
	}
	now, reached := j.standing(tables)
	s.now = now
	budget := j.flags.precision.budget
	next := stats.LookRounds(j.precision.First, stats.LookOf(j.precision.First, rounds))
	between := resumed && rounds < next
	if between {
		s.more = int(max(0, min(roundsWithin(rounds, took, budget), float64(next-rounds))))
	} else {
		s.more = furtherRounds(j.precision.First, rounds, took, budget)
	}
	if reached && !(between && unseen && s.more > 0) {
		s.more = 0
		return s, nil
	}
	if s.more == 0 {
		s.missed = fmt.Sprintf("the precision of %.3g%% was not reached: %s, and a budget of %v has no room for enough more", 100*j.precision.Target, now, budget)
	}
	return s, nil
}

// standing says in words how precise the figures are by now.
func (j *job) standing(t report.Tables) (words string, reached bool) {
	p := j.precision
	widest, ok := t.Within(p.Figure)
	if !ok {
		return fmt.Sprintf("%s has no interval after %s", p.Figure, plural.Of(t.Rounds, "round")), false
	}
	return fmt.Sprintf("%s is known within %s%% after %s", p.Figure, plainly(100*widest), plural.Of(t.Rounds, "round")), widest <= p.Target
}

// plainly is a number of percent with two digits, or all of those before the point.
func plainly(percent float64) string {
	if percent >= 9.95 {
		return strconv.FormatFloat(percent, 'f', 0, 64)
	}
	return strconv.FormatFloat(percent, 'g', 2, 64)
}

// furtherRounds is how many rounds to add to those that there are, done in so much time: as many as the next look needs, or those of them
// that fit in the budget; none when fewer than half of them fit, for the next look's level would cost more than so few bring, and
// none after rounds that did not all fit: each look has its level once.
func furtherRounds(first, rounds int, took, budget time.Duration) int {
	look := stats.LookOf(first, rounds)
	if rounds != stats.LookRounds(first, look) {
		return 0
	}
	wanted := stats.LookRounds(first, look+1) - rounds
	fit := roundsWithin(rounds, took, budget)
	if fit < float64(wanted)/2 {
		return 0
	}
	return int(min(fit, float64(wanted)))
}

// roundsWithin is how many more rounds fit in the budget, each as long as those that there are; below 0 when it is spent.
func roundsWithin(rounds int, took, budget time.Duration) float64 {
	return math.Floor(float64(budget-took) / (float64(took) / float64(rounds)))
}
