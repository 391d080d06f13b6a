package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"bakeoff/harness/result"
)

// FlagShards is the kind of the warning that shards were not measured under the same conditions.
const FlagShards = "shards_differ"

// Merged is shards of one plan as one file, and the names of the files that it is made of.
type Merged struct {
	result.File
	Names []string

	parts []result.File // as they were read; none for a file that is alone
}

// Merge puts together what belongs together: files of the same plan and seed, of which none has measured a trial of its own where another has. A trial
// that stands in several of them, as in a copy, counts once. The others stay by themselves. The order is that of the first files. An unreadable
// histogram is an error that names its file and line.
func Merge(files []result.File) ([]Merged, error) {
	var all []Merged
	for _, f := range files {
		i := slices.IndexFunc(all, func(m Merged) bool { return m.takes(f) })
		if i < 0 {
			all = append(all, Merged{File: f, Names: filesOf(f), parts: []result.File{f}})
			continue
		}
		for _, part := range []result.File{all[i].File, f} { // later its lines are no longer those of one file
			if _, err := Build(part, Options{}); err != nil {
				return nil, err
			}
		}
		all[i].add(f)
	}
	return all, nil
}

// filesOf is the name of a file that has one.
func filesOf(f result.File) []string {
	if f.Name == "" {
		return nil
	}
	return []string{f.Name}
}

// takes says that a file is of the same plan, and has nothing where the others have something else.
func (m *Merged) takes(f result.File) bool {
	return !slices.ContainsFunc(m.parts, func(part result.File) bool {
		o := overlapOf(part, f)
		return !samePlan(part, f) || len(o.changed)+len(o.measured) > 0
	})
}

// samePlan says that two files are of one plan.
func samePlan(f, other result.File) bool {
	a, b := f.Header, other.Header
	if a.Experiment != b.Experiment || a.Seed != b.Seed || a.Planned != b.Planned || !slices.Equal(subjectNames(a), subjectNames(b)) || len(planOf(a, b)) > 0 {
		return false
	}
	if a.FindRate == nil && b.FindRate == nil {
		return true
	}
	// Each run has rates of its own: only of one run are they the same.
	return reflect.DeepEqual(a.FindRate, b.FindRate) && !a.Started.IsZero() && a.Started.Equal(b.Started) && sameSearches(f.Searches, other.Searches)
}

// sameSearches says that one of two is how the other begins.
func sameSearches(a, b []result.Trial) bool {
	n := min(len(a), len(b))
	return slices.EqualFunc(a[:n], b[:n], sameTrial)
}

func subjectNames(h result.Header) []string {
	var names []string
	for _, s := range h.Subjects {
		names = append(names, s.Name)
	}
	return names
}

// planOf lists what differs in the plan. Where results and reports go is not recorded, so that each shard may have its own.
func planOf(a, b result.Header) []Suspect {
	var all []Suspect
	each(settings(a.Settings), settings(b.Settings), func(what, before, after string) {
		if before != after {
			all = append(all, Suspect{"setting " + what, before, after})
		}
	})
	if p, q := precisionWord(a.Precision), precisionWord(b.Precision); p != q {
		all = append(all, Suspect{"setting precision", p, q})
	}
	return all
}

func precisionWord(p *result.Precision) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%s of %s from %d rounds", percent(p.Target), p.Figure, p.First)
}

// trialKey is a trial of a plan: by its place in it, and by what it is where a file has no places.
type trialKey struct {
	order, round int
	row          groupKey
}

func trialOf(t result.Trial) trialKey {
	if t.Order > 0 {
		return trialKey{order: t.Order}
	}
	return trialKey{round: t.Round, row: keyOf(&t)}
}

// add takes the trials of a shard that are not there yet, in the order of the plan, and marks what was other there.
func (m *Merged) add(f result.File) {
	for _, part := range m.parts {
		if text := overlapOf(part, f).sameWords("each was counted once"); text != "" {
			m.Warnings = append(m.Warnings[:len(m.Warnings):len(m.Warnings)], result.Warning{Kind: FlagSameTrials, Text: text})
		}
	}
	m.parts = append(m.parts, f)
	for _, s := range Suspects(m.Header, f.Header) {
		m.Warnings = append(m.Warnings, result.Warning{Kind: FlagShards, Text: fmt.Sprintf("%s was measured where this was other than in %s: %s", f.Name, m.Names[0], s)})
	}
	m.Header.Subjects = slices.Clone(m.Header.Subjects)
	for i, s := range f.Header.Subjects { // they have the same names in the same order
		if m.Header.Subjects[i].Conformant && !s.Conformant {
			m.Header.Subjects[i] = s
		}
	}
	for _, w := range f.Header.Warnings {
		if !slices.Contains(m.Header.Warnings, w) {
			m.Header.Warnings = append(m.Header.Warnings[:len(m.Header.Warnings):len(m.Header.Warnings)], w)
		}
	}
	for _, w := range f.Warnings {
		if !slices.Contains(m.Warnings, w) {
			m.Warnings = append(m.Warnings, w)
		}
	}
	if len(f.Searches) > len(m.Searches) {
		m.Searches = f.Searches
	}
	m.Trials = slices.Concat(m.Trials, m.without(f.Trials))
	slices.SortStableFunc(m.Trials, func(a, b result.Trial) int { return cmp.Compare(a.Order, b.Order) })
	if f.Header.Started.Before(m.Header.Started) {
		m.Header.Started = f.Header.Started
	}
	if !slices.Contains(m.Names, f.Name) {
		m.Names = append(m.Names, f.Name)
	}
	m.Name = strings.Join(m.Names, " + ")
}

// without leaves away trials that are there already.
func (m *Merged) without(trials []result.Trial) []result.Trial {
	there := map[trialKey][]result.Trial{}
	for _, t := range m.Trials {
		k := trialOf(t)
		there[k] = append(there[k], t)
	}
	return slices.DeleteFunc(slices.Clone(trials), func(t result.Trial) bool {
		return slices.ContainsFunc(there[trialOf(t)], func(u result.Trial) bool { return sameTrial(t, u) })
	})
}

// Build makes the tables of the shards together.
func (m Merged) Build(o Options) (Tables, error) {
	t, err := Build(m.File, o)
	t.Files = m.Names
	return t, err
}
