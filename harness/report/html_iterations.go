package report

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// firsts are a picture of the first iterations for each row that has them. All levels of a subject have one scale, so that their
// bars can be compared.
func (p painter) firsts() []picture {
	var out []picture
	for _, r := range p.rows {
		if r.Firsts == nil {
			continue
		}
		var totals []float64
		for _, o := range p.rows {
			if o.Firsts == nil || o.Subject != r.Subject {
				continue
			}
			for _, it := range o.Firsts.All {
				totals = append(totals, total(it))
			}
		}
		out = append(out, p.firstsOf(r, totals))
	}
	return out
}

// firstsOf draws one row on a scale that holds all the totals, in seconds.
func (p painter) firstsOf(r Row, totals []float64) picture {
	s := scaleOf(totals, unitSeconds)
	top := 0.0
	for _, v := range totals {
		top = max(top, bounded(v/s.factor))
	}
	title := "First iterations of " + p.name(r)
	pl := newPlot("iteration", title+", "+s.unit)
	pl.Add(gridLines(false, true))
	var words []string
	values := make([]plotter.Values, len(r.Firsts.Steps))
	for i := range values {
		values[i] = make(plotter.Values, mostFirsts)
	}
	for _, it := range r.Firsts.All {
		if it.N < 1 || it.N > mostFirsts {
			continue
		}
		words = append(words, fmt.Sprintf("%d %s%s", it.N, digits(total(it)/s.factor), ending(r.Firsts, it)))
		for i, ns := range it.Steps[:min(len(it.Steps), len(values))] {
			values[i][it.N-1] = bounded(max(0, float64(ns)) / 1e9 / s.factor)
		}
	}
	var below *plotter.BarChart
	var legend []entry
	for i, step := range r.Firsts.Steps {
		b := must(plotter.NewBarChart(values[i], pictureWidth/(mostFirsts+20)))
		b.XMin, b.Color, b.LineStyle = 1, ink(fmt.Sprintf("mark part%d", i%3)), vgdraw.LineStyle{}
		if below != nil {
			b.StackOn(below)
		}
		below = b
		pl.Add(b)
		legend = append(legend, entry{clean(step), []plot.Thumbnailer{b}})
	}
	fromZero(&pl.Y)
	pl.Y.Max = max(pl.Y.Max, top)
	return picture{Kind: "first-iterations", Title: title, Words: title + ", " + s.unit + ": " + strings.Join(words, "; ") + ".",
		Note: "Of the first round. An iteration that failed ends with the step that did: the text of the chart says how."}.
		render(pl, plotHeight, legend)
}
