package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"bakeoff/harness/result"
)

// Iterations draws the first iterations of each subject, all its levels side by side, as the published script did for its users.
var Iterations = Format{Name: "iterations", Doc: "the first 50 iterations of a workload of several steps as stacked bars, the levels side by side", Write: writeIterations}

// FirstIterations are those of the first round with figures in which there are any.
type FirstIterations struct {
	Steps []string
	All   []result.Iteration
}

// stepLetters are those of the steps in their order; a workload of more begins again.
const stepLetters = "#=.+o"

// firsts finds the first iterations of a group; nil where the workload has one step, or the file has none.
func (g *group) firsts() *FirstIterations {
	steps := g.steps()
	for _, t := range g.ok {
		if len(steps) > 0 && len(t.Firsts) > 0 {
			return &FirstIterations{steps, t.Firsts}
		}
	}
	return nil
}

func writeIterations(w io.Writer, t Tables) error {
	var charts []chart
	rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return r.Firsts == nil })
	for len(rows) > 0 {
		var levels, others []Row
		for _, r := range rows {
			if r.Subject == rows[0].Subject && r.level().section() == rows[0].level().section() {
				levels = append(levels, r)
			} else {
				others = append(others, r)
			}
		}
		charts, rows = drawFirsts(charts, levels), others
	}
	var b strings.Builder
	if len(charts) == 0 {
		b.WriteString("There are no iterations to show: they are kept of workloads of several steps, such as scenario.\n")
	}
	for i, c := range charts {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(c.title + "\n" + strings.Join(c.lines, "\n") + "\n")
	}
	return writeAll(w, "iterations", b.String())
}

// drawFirsts draws the levels of one subject, iteration by iteration.
func drawFirsts(charts []chart, levels []Row) []chart {
	most := 0
	var totals []float64
	for _, r := range levels {
		for _, it := range r.Firsts.All {
			most = max(most, it.N)
			totals = append(totals, total(it))
		}
	}
	s := scaleOf(totals, unitSeconds)
	var bars []bar
	for n := 1; n <= min(most, mostFirsts); n++ {
		for _, r := range levels {
			i := slices.IndexFunc(r.Firsts.All, func(it result.Iteration) bool { return it.N == n })
			if i < 0 {
				continue
			}
			it := r.Firsts.All[i]
			b := bar{label: fmt.Sprintf("%2d %s", n, rowName(levels, r)), figure: digits(total(it)/s.factor) + ending(r.Firsts, it)}
			for i, ns := range it.Steps {
				b.parts = append(b.parts, part{letterOf(i), max(0, float64(ns))})
			}
			bars = append(bars, b)
		}
	}
	var letters []string
	for i, step := range levels[0].Firsts.Steps {
		letters = append(letters, "'"+letterOf(i)+"' "+clean(step))
	}
	return draw(charts, fmt.Sprintf("%s, %s, %s (%s)", clean(levels[0].Workload), clean(levels[0].Subject), s.unit, strings.Join(letters, ", ")), bars)
}

// mostFirsts bounds a chart, whatever a file says.
const mostFirsts = 50

func letterOf(step int) string { return stepLetters[step%len(stepLetters) : step%len(stepLetters)+1] }

// total is how long an iteration took, in seconds.
func total(it result.Iteration) float64 {
	sum := 0.0
	for _, ns := range it.Steps {
		sum += max(0, float64(ns))
	}
	return sum / 1e9
}

// ending says that an iteration did not end well.
func ending(f *FirstIterations, it result.Iteration) string {
	switch {
	case it.Outcome != result.OutcomeOK:
		return " " + clean(it.Outcome)
	case len(it.Steps) < len(f.Steps):
		return " unfinished"
	}
	return ""
}
