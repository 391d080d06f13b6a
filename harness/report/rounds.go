package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"bakeoff/harness/result"
)

// round is one trial seen as a row sees it: the whole of it, or one step.
type round struct {
	trial *result.Trial
	times map[string]result.Merged // of the calls that succeeded, by the kind of time
}

// level is what makes rows comparable; with the subject and its connections it is a row.
type level struct {
	workload, mode, store string
	concurrency           int
	rate, arrivals        string // of the open loop
}

// section is the level of all rows that stand in one section: whatever the load.
func (l level) section() level {
	l.concurrency, l.rate = 0, ""
	return l
}

// group is the trials of one row, by round.
type group struct {
	groupKey

	ok     []*result.Trial // at most one for each round, in their order
	failed []*result.Trial // of rounds without figures
	twice  []int           // rounds that were measured more than once
}

type groupKey struct {
	level
	subject string
	conns   int
}

// grouped sorts the trials into rows, in the order in which they appear. Of two trials of a round the one with figures counts, and the
// first of two with figures.
func grouped(trials []result.Trial) []*group {
	var groups []*group
	find := func(k groupKey) *group {
		for _, g := range groups {
			if g.groupKey == k {
				return g
			}
		}
		g := &group{groupKey: k}
		groups = append(groups, g)
		return g
	}
	for i := range trials {
		t := &trials[i]
		if t.Error != "" {
			continue
		}
		g := find(keyOf(t))
		if slices.ContainsFunc(g.ok, func(o *result.Trial) bool { return o.Round == t.Round }) {
			g.twice = append(g.twice, t.Round)
			continue
		}
		g.ok = append(g.ok, t)
	}
	for i := range trials {
		t := &trials[i]
		if t.Error == "" {
			continue
		}
		g := home(groups, t)
		if g == nil {
			g = find(keyOf(t))
		}
		sameRound := func(o *result.Trial) bool { return o.Round == t.Round }
		if slices.ContainsFunc(g.ok, sameRound) || slices.ContainsFunc(g.failed, sameRound) {
			continue // it was tried again
		}
		g.failed = append(g.failed, t)
	}
	for _, g := range groups {
		byRound := func(a, b *result.Trial) int { return cmp.Compare(a.Round, b.Round) }
		slices.SortFunc(g.ok, byRound)
		slices.SortFunc(g.failed, byRound)
	}
	return groups
}

func keyOf(t *result.Trial) groupKey {
	return groupKey{level{t.Workload, t.Mode, storeName(t.Store), t.Concurrency, t.Rate, t.Arrivals}, t.Subject, t.Conns}
}

// port is one at the end of an address, or in front of a path.
var port = regexp.MustCompile(`:[0-9]+(/|$)`)

// storeName is what a store is called without its port: one that is started afresh for each trial has another port each time.
func storeName(s string) string { return port.ReplaceAllString(s, "$1") }

// home is the row of a trial that died before it knew all of its configuration. Such a trial may name the store by its
// address, where others have what the store says of itself; so a row with another store is better than none.
func home(groups []*group, t *result.Trial) *group {
	var other *group
	for _, g := range groups {
		if g.subject != t.Subject || g.workload != t.Workload || g.concurrency != t.Concurrency || g.rate != t.Rate ||
			t.Mode != "" && t.Mode != g.mode || t.Conns != 0 && t.Conns != g.conns {
			continue
		}
		if storeName(t.Store) == g.store {
			return g
		}
		if other == nil {
			other = g
		}
	}
	return other
}

// steps are the names of a group's steps, if there is more than one.
func (g *group) steps() []string {
	var names []string
	for _, t := range g.ok {
		for _, h := range t.Histograms {
			if !slices.Contains(names, h.Step) {
				names = append(names, h.Step)
			}
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

// rounds reads the histograms of one step, or of all of them for "".
func (g *group) rounds(file, step string) ([]*round, error) {
	var rs []*round
	for _, t := range g.ok {
		r := &round{trial: t, times: map[string]result.Merged{}}
		for _, kind := range []string{result.TimeResponse, result.TimeService} {
			m, err := result.Merge(succeeded(t, kind, step)...)
			if err != nil {
				if t.Line == 0 { // it was never in a file
					return nil, fmt.Errorf("trial of %s, round %d: %w", t.Subject, t.Round, err)
				}
				return nil, fmt.Errorf("%s:%d:1: %w", file, t.Line, t.Refuse(err))
			}
			r.times[kind] = m
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// succeeded are the times of a trial's calls that succeeded, of one kind: in one step, or in all of them for "".
func succeeded(t *result.Trial, kind, step string) []result.Histogram {
	var hs []result.Histogram
	for _, h := range t.Histograms {
		if h.Outcome == result.OutcomeOK && h.Time == kind && (step == "" || h.Step == step) {
			hs = append(hs, h)
		}
	}
	return hs
}
