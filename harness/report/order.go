package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"bakeoff/harness/stats"
)

// plannedWorkloads are those of a run's settings, in the order in which it was told; files of older versions have none.
func plannedWorkloads(settings json.RawMessage) []string {
	var s struct{ Workloads []string }
	if json.Unmarshal(settings, &s) != nil {
		return nil // settings that no bakeoff wrote: then rows stand as they appear
	}
	return s.Workloads
}

// ofWorkload names a row's workload in a sentence, where the report has several.
func (t Tables) ofWorkload(r Row) string {
	if slices.ContainsFunc(t.Rows, func(o Row) bool { return o.Workload != r.Workload }) {
		return " with " + r.Workload
	}
	return ""
}

// ordered are the figures whose order of subjects is watched from workload to workload.
var ordered = slices.Concat(findings, findingsOf("bytes_sent_per_req"))

// meeting is two subjects at one workload, and who of them is ahead: 1 the first, -1 the second, 0 not told.
type meeting struct {
	a, b, workload string
	s              stats.Comparison
	ahead          int
}

// orderWords says where the order of the subjects changes from one workload to another, in runs with several: a pair changes places where
// one of the two is detected to be ahead in one workload, and the other in another.
func (t *Tables) orderWords() []string {
	var out []string
	var loads []level
	for _, r := range t.Rows {
		l := r.level()
		if l.workload = ""; r.Ranked && r.Step == "" && !slices.Contains(loads, l) {
			loads = append(loads, l)
		}
	}
	for _, l := range loads {
		for _, f := range ordered {
			if s := f.orderSentence(t.meetings(l, f.metric)); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// meetings compares each two subjects at each workload of a load, and corrects the p-values over all of them.
func (t *Tables) meetings(l level, metric string) []meeting {
	m := metricOf(metric)
	var ms []meeting
	var ps []float64
	for i, a := range t.Rows {
		for _, b := range t.Rows[i+1:] {
			at := a.level()
			at.workload = ""
			if at != l || a.level() != b.level() || a.Subject == b.Subject || a.Step != "" || b.Step != "" || !a.Ranked || !b.Ranked ||
				t.unrankedFigure(metric, a, b) {
				continue
			}
			if m.isGiven(a.Mode) {
				continue
			}
			_, s, ok := compareRows(a, b, m, t.Look)
			if !ok {
				continue
			}
			x := meeting{a: a.Subject, b: b.Subject, workload: a.Workload, s: s}
			if slices.ContainsFunc(ms, func(o meeting) bool { return o.a == x.a && o.b == x.b && o.workload == x.workload }) {
				return nil // subjects with several numbers of connections: no one order
			}
			ms, ps = append(ms, x), append(ps, s.P)
		}
	}
	for i, holm := range stats.Holm(ps) {
		if !ms[i].s.Detected(holm) {
			continue
		}
		ms[i].ahead = 1
		if (ms[i].s.Ratio > 1) == (m.Better == Higher) {
			ms[i].ahead = -1
		}
	}
	return ms
}

// orderSentence is about one figure; "" where there are not two workloads to change between.
func (f finding) orderSentence(ms []meeting) string {
	var workloads []string
	var pairs [][2]string
	for _, m := range ms {
		if !slices.Contains(workloads, m.workload) {
			workloads = append(workloads, m.workload)
		}
		if p := [2]string{m.a, m.b}; !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	if len(workloads) < 2 {
		return ""
	}
	var changes []string
	told := false
	for _, p := range pairs {
		at := map[int][]string{}
		for _, m := range ms {
			if m.a == p[0] && m.b == p[1] {
				at[m.ahead] = append(at[m.ahead], m.workload)
			}
		}
		told = told || len(at[1])+len(at[-1]) > 0
		if len(at[1]) > 0 && len(at[-1]) > 0 {
			change := fmt.Sprintf("%s is ahead of %s with %s, and behind with %s", p[0], p[1], strings.Join(at[1], ", "), strings.Join(at[-1], ", "))
			if len(at[0]) > 0 {
				change += " (not told apart with " + strings.Join(at[0], ", ") + ")"
			}
			changes = append(changes, change)
		}
	}
	switch {
	case len(changes) > 0:
		return fmt.Sprintf("In %s the order changes with the workload: %s.", f.name, strings.Join(changes, "; "))
	case len(workloads) == 2:
		return "" // two are no row of sizes: only a change is news
	case !told:
		return fmt.Sprintf("In %s no order can be told with any of %d workloads.", f.name, len(workloads))
	}
	return fmt.Sprintf("In %s no two subjects change places from one workload to another, as far as these rounds tell.", f.name)
}
