package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"bakeoff/harness/load"
	"bakeoff/harness/plan"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/internal/plural"
)

// findRateFlags ask for the highest rate of each subject that holds an objective, and for rounds at it and at shares of it.
//
// The searches of all subjects go on together, a trial of each in turn, so that a machine that changes its speed meanwhile does so for all.
// What they saw stands in the result file as lines of their own kind, and in no row of a table.
type findRateFlags struct {
	objective string
}

func (f *findRateFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.objective, "find-rate", "", "open loop: find for each subject the highest rate that holds this `objective`, as in 'p99<5ms' or 'p99<5ms,failed<0.1%',\n"+
		"and measure there and at 50, 80 and 95 % of it")
}

// apply checks the objective and puts shares of the rates that will be found into the settings. nil is a run that searches for nothing.
func (f findRateFlags) apply(s *plan.Settings, given func(flag string) bool) (*report.Objective, error) {
	if !given("find-rate") {
		return nil, nil
	}
	o, err := report.ParseObjective(f.objective)
	if err != nil {
		return nil, fmt.Errorf("--find-rate %w", err)
	}
	switch {
	case given("rate"):
		return nil, errors.New("--rate with --find-rate: the rates are those that are found: leave one of the two away")
	case len(s.Rates) > 0:
		return nil, fmt.Errorf("--find-rate: the experiment has rates of its own (%s), and those that are found would take their place: leave one of the two away", strings.Join(s.Rates, ", "))
	case given("precision"):
		return nil, errors.New("--precision with --find-rate: its rounds are as many as --rounds says: leave one of the two away")
	}
	if s.Duration > 0 && lowest(o, s.Duration) > load.MaxRate {
		return nil, fmt.Errorf("--find-rate %q needs %.0f calls in a window to be judged, which in --duration %v no rate up to %d/s gives: a longer one does",
			f.objective, o.Calls(), s.Duration, load.MaxRate)
	}
	s.Rates = slices.Clone(plan.FoundShares)
	return &o, nil
}

// findRate is what the header says of it.
func (j *job) findRate() *result.FindRate {
	if j.objective == nil {
		return nil
	}
	return &result.FindRate{Objective: j.objective.String(), Shares: plan.FoundShares, Rounds: j.settings.Rounds}
}

// closedLoop bounds the trial with which a search begins: it is only to tell the order of magnitude.
const closedLoop = time.Second

// giveUp is after how many trials in a row that failed a search is given up.
const giveUp = 3

// search is that of one subject at one level.
type search struct {
	template plan.Trial // what all its trials have in common
	name     string     // in words
	plan.RateSearch
	looks    []plan.Look
	last     int // the number of its last trial
	failures int // in a row
	standing plan.Standing
}

// searchAndMeasure searches, if that is asked for, and then measures what the plan has, or what came of it. It returns what was made now.
func (o *session) searchAndMeasure(ctx context.Context) (searches, trials []result.Trial, missed string, err error) {
	if o.objective != nil && !o.searched {
		if searches, err = o.search(ctx); err != nil {
			return searches, nil, "", err
		}
	}
	trials, missed, err = o.measure(ctx)
	return searches, trials, missed, err
}

// searches are those of the plan, one for each subject at each level, and what each stands at after the trials that were made of them before:
// where a search goes is a function of what it has seen, so that one that was interrupted goes on as if it had not been.
func (j *job) searches(before []result.Trial) ([]*search, error) {
	var cells []*search
	known := map[plan.Cell]bool{}
	for _, t := range j.trials {
		if !known[t.Cell()] {
			known[t.Cell()] = true
			cells = append(cells, &search{template: t, name: j.cellName(t), RateSearch: plan.RateSearch{Floor: uint64(lowest(*j.objective, t.Duration)), Ceiling: load.MaxRate}})
		}
	}
	for _, t := range before {
		var its []*search
		for _, c := range cells {
			if p := c.template; p.Subject == t.Subject && p.Workload == t.Workload && p.Concurrency == t.Concurrency && j.options(p).Conns == t.Conns {
				its = append(its, c)
			}
		}
		if len(its) != 1 {
			return nil, fmt.Errorf("line %d: trial %d of the search of %s at %d is of %d searches of the plan, and must be of one", t.Line, t.Order, t.Subject, t.Concurrency, len(its))
		}
		c := its[0]
		want := c.trial(t.Round, t.Order, j.settings.Seed)
		if c.over() || t.Round <= c.last || want.Seed != t.Seed || want.Rate != t.Rate {
			return nil, fmt.Errorf("line %d: trial %d of the search of %s at %d is not the one that came next: other versions search otherwise", t.Line, t.Order, t.Subject, t.Concurrency)
		}
		if err := c.take(&t, *j.objective); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// atFound is the plan at the rates that the searches found.
func (j *job) atFound(cells []*search) []plan.Trial {
	found := map[plan.Cell]uint64{}
	for _, c := range cells {
		found[c.template.Cell()] = c.found()
	}
	return plan.AtFound(j.trials, found)
}

// search finds the rates, and makes them the plan's. It returns the trials that ended now, also with an error.
func (o *session) search(ctx context.Context) (trials []result.Trial, err error) {
	before := o.past.searched(nil)
	cells, err := o.searches(before)
	if err != nil {
		return nil, err
	}
	byOrder := map[int]*search{}
	o.say.say("search for the highest rate that holds %s: about 10 trials for each of %s, %d at the most", o.objective, plural.Of(len(cells), "row"), 1+plan.MaxLooks)
	config := o.config
	config.Progress = nil // how many trials there will be is not known
	config.Sink = func(t result.Trial) error {
		c := byOrder[t.Order]
		if err := c.take(&t, *o.objective); err != nil {
			return err
		}
		if o.past != nil {
			t = o.past.mark(t)
		}
		trials = append(trials, t)
		o.say.say("search %d: %s", t.Round, c.tell(t))
		return o.file.AppendSearch(t)
	}
	shuffled := rand.New(rand.NewPCG(o.settings.Seed, searchStream))
	for number := 1; ; number++ {
		var batch []plan.Trial
		var of []*search
		going := false
		for _, c := range cells {
			if c.over() {
				continue
			}
			going = true
			if c.last < number { // else it has made this one before the run was interrupted
				batch = append(batch, c.trial(number, len(before)+len(trials)+len(batch)+1, o.settings.Seed))
				of = append(of, c)
			}
		}
		if !going {
			break
		}
		shuffled.Shuffle(len(batch), func(i, j int) {
			batch[i], batch[j] = batch[j], batch[i]
			of[i], of[j] = of[j], of[i]
			batch[i].Order, batch[j].Order = batch[j].Order, batch[i].Order
		})
		for i, t := range batch {
			byOrder[t.Order] = of[i]
		}
		if len(batch) == 0 {
			continue
		}
		if _, err := harness.Run(ctx, config, batch); err != nil {
			return trials, err
		}
	}
	o.trials = o.atFound(cells)
	o.say.close()
	o.say = newProgress(o.say.w, o.job) // of other trials now
	return trials, nil
}

// searchStream is the stream of the seed's generator that shuffles the trials of searches; a trial's own requests have those from it on.
// Plans use those below.
const searchStream = 1 << 63

// lowest is the lowest rate at which a window has calls enough for an objective to be judged, with room for arrivals by chance.
func lowest(o report.Objective, window time.Duration) float64 {
	calls := o.Calls()
	return math.Ceil((calls + 4*math.Sqrt(calls)) / window.Seconds())
}

// over says that a search is at its end.
func (c *search) over() bool { return c.standing.End != "" }

// cellName tells the searches of a run apart.
func (j *job) cellName(t plan.Trial) string {
	name := fmt.Sprintf("%s at %d", t.Subject, t.Concurrency)
	if len(j.settings.Conns) > 0 {
		name += " over " + plural.Of(t.Conns, "connection")
	}
	if len(j.settings.Workloads) > 1 {
		name = t.Workload + " " + name
	}
	return name
}

// found is the rate to measure at; 0 is none.
func (c *search) found() uint64 {
	if c.standing.End == result.EndFailed {
		return 0
	}
	return c.standing.Held
}

// trial is the next one of a search.
func (c *search) trial(number, order int, seed uint64) plan.Trial {
	t := c.template
	t.Round, t.Order = number, order
	t.Seed = rand.NewPCG(seed, searchStream+uint64(number)<<32+uint64(t.Concurrency)).Uint64()
	if t.Rate = ""; c.Closed > 0 {
		t.Rate = strconv.FormatUint(c.standing.Next, 10)
	} else {
		t.Duration = min(t.Duration, closedLoop)
	}
	return t
}

// take judges a trial, and writes the verdict into it and how the search stands now.
func (c *search) take(t *result.Trial, o report.Objective) error {
	t.Kind, t.Search = result.KindSearch, &result.Search{}
	c.last = t.Round
	switch {
	case c.broke(t):
		if c.failures++; c.failures >= giveUp {
			c.standing.End, c.standing.Next = result.EndFailed, 0
		}
	case t.Rate == "":
		c.failures, c.Closed = 0, t.Values[result.Throughput]
		c.standing = c.After(nil)
	default:
		held, why, err := o.Judge(*t)
		if err != nil {
			return err
		}
		rate, err := strconv.ParseUint(t.Rate, 10, 64)
		if err != nil {
			return err
		}
		c.failures = 0
		c.looks = append(c.looks, plan.Look{Rate: rate, Held: held})
		c.standing = c.After(c.looks)
		t.Search.Held, t.Search.Why = &held, why
	}
	s := t.Search
	s.HighestHeld, s.LowestMissed, s.End = c.standing.Held, c.standing.Missed, c.standing.End
	if rate := c.found(); c.over() && rate > 0 {
		for _, share := range plan.FoundShares {
			s.Rates = append(s.Rates, plan.RateOf(share, rate))
		}
	}
	return nil
}

// broke says that a trial tells nothing of its rate. One whose calls failed too often does: it has missed. Calls also fail of a server that died, or
// was stopped: such a window was not measured to its end.
func (c *search) broke(t *result.Trial) bool {
	if t.Rate == "" {
		return t.Error != "" || t.Values[result.Throughput] <= 0
	}
	lost := t.TurnsMade != nil && *t.TurnsMade == 0
	return t.Error != "" && (t.Outcomes.FailedTotal() == 0 || lost)
}

// tell says in words what came of a trial.
func (c *search) tell(t result.Trial) string {
	name, s := c.name, t.Search
	switch {
	case t.Error != "" && s.Held == nil:
		name += ": FAILED: " + t.Error
	case t.Rate == "" && s.Held == nil:
		name += fmt.Sprintf(", closed loop: %.0f/s", t.Values[result.Throughput])
	case *s.Held:
		name += fmt.Sprintf(", %s/s: held, %s", t.Rate, s.Why)
	default:
		name += fmt.Sprintf(", %s/s: missed, %s", t.Rate, s.Why)
	}
	switch {
	case s.End == "":
	case len(s.Rates) > 0:
		name += fmt.Sprintf("; found: %d/s", c.found())
	default:
		name += "; no rate found"
	}
	return name
}

// noRate adds to what a run has missed the searches that found nothing.
func noRate(missed string, tables report.Tables) string {
	names := tables.NoRate()
	if len(names) == 0 {
		return missed
	}
	text := fmt.Sprintf("no rate was found that holds %s: %s", tables.FindRate.Objective, strings.Join(names, "; "))
	if missed != "" {
		text = missed + "; " + text
	}
	return text
}
