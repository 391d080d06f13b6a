package report

import (
	"cmp"
	"fmt"
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
}

// Merge puts together what belongs together: files of the same plan and seed, of which none has measured a trial that another has. The others stay by
// themselves. The order is that of the first files. An unreadable histogram is an error that names its file and line.
func Merge(files []result.File) ([]Merged, error) {
	var all []Merged
	for _, f := range files {
		i := slices.IndexFunc(all, func(m Merged) bool { return shardOf(m.File, f) })
		if i < 0 {
			all = append(all, Merged{f, filesOf(f)})
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

// shardOf says that a file holds other trials of the same plan.
func shardOf(f, other result.File) bool {
	a, b := f.Header, other.Header
	if a.Experiment != b.Experiment || a.Seed != b.Seed || a.Planned != b.Planned || !slices.Equal(subjectNames(a), subjectNames(b)) || len(planOf(a, b)) > 0 {
		return false
	}
	if a.FindRate != nil || b.FindRate != nil {
		return false // each has rates of its own
	}
	done := map[trialKey]bool{}
	for _, t := range f.Trials {
		if t.Error == "" {
			done[trialOf(t)] = true
		}
	}
	return !slices.ContainsFunc(other.Trials, func(t result.Trial) bool { return t.Error == "" && done[trialOf(t)] })
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

// add takes the trials of a shard, in the order of the plan, and marks what was other there.
func (m *Merged) add(f result.File) {
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
	m.Warnings = append(m.Warnings, f.Warnings...)
	m.Trials = slices.Concat(m.Trials, f.Trials)
	slices.SortStableFunc(m.Trials, func(a, b result.Trial) int { return cmp.Compare(a.Order, b.Order) })
	if f.Header.Started.Before(m.Header.Started) {
		m.Header.Started = f.Header.Started
	}
	m.Names = append(m.Names, f.Name)
	m.Name = strings.Join(m.Names, " + ")
}

// Build makes the tables of the shards together.
func (m Merged) Build(o Options) (Tables, error) {
	t, err := Build(m.File, o)
	t.Files = m.Names
	return t, err
}
