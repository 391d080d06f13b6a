package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bakeoff/internal/plural"
)

func (c Changes) layout(f form) document {
	d := document{title: "bakeoff compare", empty: "There is nothing to compare."}
	for _, s := range []struct {
		name string
		Side
	}{{"old", c.Old}, {"new", c.New}} {
		d.head = append(d.head, clean(fmt.Sprintf("%s: %s, %s, %d of %s, %s%s", s.name, s.File, s.Experiment, s.Measured, plural.Of(s.Planned, "trial"), plural.Of(s.Rounds, "round"), when(s.Started))))
	}
	if c.Control != "" {
		d.head = append(d.head, clean("changes are relative to the control "+c.Control+", round by round"))
	}
	d.head = append(d.head, clean(c.suspectWords()))
	for _, w := range c.Warnings {
		d.warnings = append(d.warnings, clean(w.Text))
	}
	for _, w := range c.Words {
		d.words = append(d.words, clean(w))
	}
	var places []level // each is a section
	for _, ch := range c.Changes {
		if l := ch.row().level().section(); !slices.Contains(places, l) {
			places = append(places, l)
		}
	}
	for _, l := range places {
		var chs []Change
		for _, ch := range c.Changes {
			if ch.row().level().section() == l {
				chs = append(chs, ch)
			}
		}
		s := section{title: clean(chs[0].section())}
		for _, metric := range metricNames() {
			if g := changeGrid(metric, chs, f); len(g.rows) > 0 {
				s.grids = append(s.grids, g)
			}
		}
		d.sections = append(d.sections, s)
	}
	if len(d.sections) > 0 {
		intervals, few := "with 95% intervals, as in a report", "( ) is the whole range where rounds are too few for one"
		if f.short {
			intervals = "as in a report: +-3% is that half the width of the 95% interval is up to 3% of it; --wide, or -o " + wideName + ", has the ends"
			few = "(3%) is that of half the whole range, where rounds are too few for one"
		}
		if slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Old.TooFew || ch.New.TooFew }) {
			intervals += "; " + few
		}
		d.legend = []string{
			"Old and new are medians of the rounds " + intervals + ". The change is the median of all ratios new/old with its 95% interval " +
				"(Hodges-Lehmann); p is Mann and Whitney's, corrected by Holm's method over the whole comparison. 'no diff.' is: no difference detected; " +
				"in brackets about the smallest that these rounds could have shown.",
		}
		if c.Control == "" {
			d.legend = append(d.legend, "Rounds of two runs can't be paired: what the machine itself changed between the two runs is in every change. "+
				"A subject that did not change, as the control, divides that out.")
		}
	}
	return d
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", " + t.UTC().Format(time.DateTime) + " UTC"
}

// changeGrid is the table of one metric.
func changeGrid(metric string, chs []Change, f form) grid {
	var medians []float64
	var rows []Row // to name them apart
	for _, ch := range chs {
		if ch.Metric == metric {
			medians = append(medians, ch.Old.Median, ch.New.Median)
			rows = append(rows, ch.row())
		}
	}
	s := scaleOf(medians, unitOf(metric))
	if s.unit == unitCount {
		s.unit = ""
	}
	g := grid{title: clean(titleOf(metric)), head: []string{"subject @ conc.", strings.TrimSpace("old " + s.unit), strings.TrimSpace("new " + s.unit), "change", "p"}}
	if f.name == wideName {
		g.head = append(g.head, "p alone", "rounds")
	}
	for _, ch := range chs {
		if ch.Metric != metric {
			continue
		}
		row := []string{rowName(rows, ch.row()), f.cell(s, ch.Old), f.cell(s, ch.New), changeCell(ch), pCell(ch.PHolm)}
		if f.name == wideName {
			row = append(row, pCell(ch.P), fmt.Sprintf("%d, %d", ch.shift.Base, ch.shift.Other))
		}
		g.add(ch.row(), row)
	}
	return g
}

func changeCell(ch Change) string {
	switch {
	case ch.Detected:
		return ch.Text
	case ch.SmallestEffect == nil:
		return "too few rounds"
	case ch.equal():
		return "equal"
	}
	return noDifference + " (" + percent(*ch.SmallestEffect) + ")"
}

// pCell prints a p-value with as many digits as say something.
func pCell(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
