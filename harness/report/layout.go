package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bakeoff/harness/stats"
	"bakeoff/internal/printable"
)

// document is what the formats for people have in common: small tables by theme, and sentences. All text in it is clean:
// names and messages come from a file, and may hold anything.
type document struct {
	title    string
	head     []string // lines
	sections []section
	empty    string // what to say where there are no sections
	legend   []string
	doubts   []note   // doubts[i] is number i+1
	rows     []string // the names of all rows but those of steps, as doubts have them
	words    []string
	warnings []string
}

// section is the rows of one workload, mode and store; ranked ones, or those that are not.
type section struct {
	title  string
	grids  []grid
	charts []chart // for terminals
}

type grid struct {
	title  string
	head   []string
	rows   [][]string
	levels []string // of the rows: a line is drawn where it changes
}

// layout puts the tables into the form's columns.
func layout(t Tables, f form) document {
	d := document{title: clean(strings.Join([]string{"bakeoff", t.Experiment}, " ")), empty: "There are no trials yet."}
	d.head = headLines(t)
	for _, w := range t.Warnings {
		d.warnings = append(d.warnings, clean(w.Text))
	}
	for _, w := range t.Words {
		d.words = append(d.words, clean(w))
	}
	d.sections = d.findRateSection(t)
	for _, ranked := range []bool{true, false} {
		for _, rows := range sectionsOf(t.Rows, ranked) {
			d.sections = append(d.sections, d.section(t, rows, ranked, f))
		}
	}
	if len(d.sections) > 0 {
		d.legend = append(d.legend, f.legend(t))
	}
	if slices.ContainsFunc(t.Rows, func(r Row) bool { return len(r.Leads) > 0 }) {
		d.legend = append(d.legend, "'*' is the best of its level, told apart from every other row there; '=' is one that may be: it is not told apart from the best. "+
			"For this all rows of a level are compared, and the p-values corrected over all pairs of the report.")
	}
	if slices.ContainsFunc(t.Comparisons, func(c Comparison) bool { return f.shown(c.Metric) }) {
		d.legend = append(d.legend, t.ratioLegend(f))
	}
	if l := gatewayLegend(t); l != "" {
		d.legend = append(d.legend, l)
	}
	if c := t.Capacity; c != nil {
		d.legend = append(d.legend, c.legend())
	}
	if p := t.Precision; p != nil {
		d.legend = append(d.legend, fmt.Sprintf("The rounds were doubled until the interval of %s was within %s, or the time was spent. This is look %d at them: so that all looks "+
			"together err no more often than one at 95%%, its intervals and differences have %s.", clean(p.Figure), percent(p.Target), t.Look, t.confidence()))
	}
	return d
}

// ratioLegend says how to read the ratios. Those of rounds that are too few for an interval are not told.
func (t Tables) ratioLegend(f form) string {
	if !slices.ContainsFunc(t.Comparisons, func(c Comparison) bool { return f.shown(c.Metric) && !c.TooFew }) {
		return fmt.Sprintf("Ratios are to %s, paired within rounds: these are too few for intervals, and so to tell a difference.", clean(t.Baseline))
	}
	return fmt.Sprintf("Ratios are to %s, paired within rounds, with %s intervals; p-values are corrected by Holm's method for each figure over the whole report. "+
		"'no diff.' is: no difference detected; in brackets about the smallest difference that four in five such runs would have shown.", clean(t.Baseline), t.confidence())
}

// confidence is the level of the intervals: "95%", or that of the look.
func (t Tables) confidence() string {
	return strconv.FormatFloat(100*(1-stats.LookAlpha(t.Look)), 'g', 6, 64) + "%"
}

// sectionsOf splits rows, which are in order, by workload, mode and store.
func sectionsOf(rows []Row, ranked bool) [][]Row {
	var all [][]Row
	var last level
	for _, r := range rows {
		if r.Ranked != ranked {
			continue
		}
		l := r.level().section()
		if len(all) == 0 || l != last {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], r)
		last = l
	}
	return all
}

func (d *document) section(t Tables, rows []Row, ranked bool, f form) section {
	r := rows[0]
	var parts []string
	arrivals := ""
	if r.Arrivals != "" {
		arrivals = r.Arrivals + " arrivals"
	}
	for _, p := range []string{r.Workload, r.Mode + " loop", arrivals, r.Store} {
		if p != "" && p != " loop" {
			parts = append(parts, clean(p))
		}
	}
	s := section{title: strings.Join(parts, ", ")}
	if !ranked {
		s.title += ": not ranked, " + whyUnranked(t, rows)
	}
	labels := make([]string, len(rows))
	for i, r := range rows {
		labels[i] = d.label(t, rows, r)
	}
	s.grids = append(s.grids, outcomes(rows, labels, f))
	for _, th := range f.themes {
		if g, ok := th.grid(rows, labels, f); ok {
			s.grids = append(s.grids, g)
		}
	}
	if g, ok := messageGrid(rows, labels, f); ok {
		s.grids = append(s.grids, g)
	}
	s.grids = append(s.grids, hopGrids(t, rows, f)...)
	if g, ok := d.compressed(t, rows, f); ok {
		s.grids = append(s.grids, g)
	}
	if g, ok := d.ratios(t, rows, f); ok {
		s.grids = append(s.grids, g)
	}
	if g, ok := capacityGrid(t, rows, f); ok && ranked {
		s.grids = append(s.grids, g)
	}
	if f.charts {
		s.charts = chartsOf(rows)
	}
	return s
}

// clean makes text safe for a terminal and a single line.
var clean = printable.Line
