package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"bakeoff/harness/result"
	"bakeoff/internal/plural"
)

// The kinds of the warnings about what two files have in common.
const (
	FlagSameTrials    = "same_trials"    // the same trials stand in two files
	FlagChangedTrials = "changed_trials" // the same trials stand in two files, and are not the same there: one file was changed
	FlagSamePlan      = "same_plan"      // two runs of one plan: no shards, since each has measured its places at its own time
)

// overlap is what two files have in common.
type overlap struct {
	names    [2]string
	trials   [2]int         // that the files have
	same     []result.Trial // of the second file that are in the first: nothing new was measured
	changed  []result.Trial // of the second that began at the moment of one in the first and are other than it: one of the two was edited
	measured []result.Trial // of the second whose place the first has measured, too, at another time
}

// overlapOf compares two files trial by trial.
func overlapOf(f, g result.File) overlap {
	o := overlap{names: [2]string{f.Name, g.Name}, trials: [2]int{len(f.Trials), len(g.Trials)}}
	first := map[trialKey][]result.Trial{}
	for _, t := range f.Trials {
		k := trialOf(t)
		first[k] = append(first[k], t)
	}
	for _, t := range g.Trials {
		there := first[trialOf(t)]
		switch {
		case slices.ContainsFunc(there, func(u result.Trial) bool { return sameTrial(t, u) }):
			o.same = append(o.same, t)
		case slices.ContainsFunc(there, func(u result.Trial) bool { return sameMoment(t, u) }):
			o.changed = append(o.changed, t)
		case t.Error == "" && slices.ContainsFunc(there, func(u result.Trial) bool { return u.Error == "" }):
			o.measured = append(o.measured, t)
		}
	}
	return o
}

// sameMoment says that two trials in one place of a plan are one: no two of them begin at once.
func sameMoment(a, b result.Trial) bool {
	return !a.Started.IsZero() && a.Started.Equal(b.Started) && a.Subject == b.Subject && a.Round == b.Round
}

// sameTrial says that two lines are the same, wherever they stand.
func sameTrial(a, b result.Trial) bool {
	if !sameMoment(a, b) {
		return false
	}
	if !sameJSON(a.Options, b.Options) {
		return false
	}
	a.Line, a.Started, a.Options = b.Line, b.Started, b.Options
	return reflect.DeepEqual(a, b)
}

// sameJSON looks beyond blanks and order: a tool that goes through a file changes those.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// both names the two files.
func (o overlap) both() string {
	if o.names[0] == o.names[1] {
		return o.names[0] + ", which is named twice,"
	}
	return o.names[0] + " and " + o.names[1]
}

// sameWords says which trials stand in both, and with what consequence; "" where none do.
func (o overlap) sameWords(consequence string) string {
	n := len(o.same)
	switch {
	case n == 0:
		return ""
	case o.names[0] == o.names[1] && n == o.trials[1]:
		return fmt.Sprintf("%s is named twice, and has the same %s each time: %s", o.names[0], plural.Of(n, "trial"), consequence)
	case n == o.trials[0] && n == o.trials[1]:
		return fmt.Sprintf("%s have the same %s: %s", o.both(), plural.Of(n, "trial"), consequence)
	case n == o.trials[0]:
		return fmt.Sprintf("all that is in %s (%s) is in %s, too: %s", o.names[0], plural.Of(n, "trial"), o.names[1], consequence)
	case n == o.trials[1]:
		return fmt.Sprintf("all that is in %s (%s) is in %s, too: %s", o.names[1], plural.Of(n, "trial"), o.names[0], consequence)
	}
	return fmt.Sprintf("%s have %s in common, such as %s: %s", o.both(), plural.Of(n, "trial"), placeOf(o.same[0]), consequence)
}

// warnings are what to say of two files that stand side by side or are compared. What follows from the trials that are the same depends on which.
func (o overlap) warnings(consequence string, samePlan bool) []result.Warning {
	var all []result.Warning
	if text := o.sameWords(consequence); text != "" {
		all = append(all, result.Warning{Kind: FlagSameTrials, Text: text})
	}
	if n := len(o.changed); n > 0 {
		all = append(all, result.Warning{Kind: FlagChangedTrials, Text: fmt.Sprintf("%s have %s that began at the same moment and differ, such as %s: one of the files was changed",
			o.both(), plural.Of(n, "trial"), placeOf(o.changed[0]))})
	}
	if n := len(o.measured); n > 0 && samePlan {
		all = append(all, result.Warning{Kind: FlagSamePlan, Text: fmt.Sprintf("%s are runs of one plan that have both measured %s of it, such as %s, each at its own time: they are two runs and no shards, and are not put together",
			o.both(), plural.Of(n, "trial"), placeOf(o.measured[0]))})
	}
	return all
}

// placeOf is what a trial is called by its place in the plan.
func placeOf(t result.Trial) string {
	what := fmt.Sprintf("%s at %d, round %d", t.Subject, t.Concurrency, t.Round)
	if t.Order < 1 {
		return what
	}
	return fmt.Sprintf("trial %d (%s)", t.Order, what)
}

// trialsByRow counts trials by the row that they stand in.
func trialsByRow(trials []result.Trial) map[groupKey]int {
	rows := map[groupKey]int{}
	for _, t := range trials {
		if t.Error == "" {
			rows[keyOf(&t)]++
		}
	}
	return rows
}

// group is the row of the whole that the row is one of, or a step of.
func (r *Row) group() groupKey {
	return groupKey{level{r.Workload, r.Mode, r.Store, r.Concurrency, r.Rate, r.Arrivals}, r.Subject, r.Conns}
}
