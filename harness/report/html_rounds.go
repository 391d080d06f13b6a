package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"bakeoff/harness/result"
)

// rounds draws every round of every row as a dot, and the median with its interval, or their range, over them.
func (p painter) rounds(metric string) (picture, bool) {
	s := p.scaleFor(metric)
	what := titleOf(metric)
	pl := newPlot(what+", "+s.unit, "")
	pl.Add(gridLines(true, false))
	var rows []Row
	var names, words []string
	for _, r := range p.rows {
		if _, ok := r.Metrics[metric]; ok {
			rows = append(rows, r)
			names = append(names, p.name(r))
		}
	}
	if len(rows) == 0 {
		return picture{}, false
	}
	for i, r := range rows {
		v, middle := r.Metrics[metric], float64(len(rows)-1-i)
		var dots plotter.XYs
		least, most := v.Median, v.Median
		for j, o := range v.Observations {
			// The first round is on top and the last below, so that a drift is seen as a slant.
			off := 0.0
			if n := len(v.Observations); n > 1 {
				off = 0.28 - 0.56*float64(j)/float64(n-1)
			}
			dots = append(dots, point(o.Value/s.factor, middle+off))
			least, most = min(least, o.Value), max(most, o.Value)
		}
		var centre errorBars
		centre.add(v.Median/s.factor, middle, (v.Median-v.Low)/s.factor, (v.High-v.Median)/s.factor)
		whisker := must(plotter.NewXErrorBars(&centre))
		whisker.LineStyle, whisker.CapWidth = vgdraw.LineStyle{Color: inkText, Width: 1.25}, 8
		if len(dots) > 0 {
			marks := must(plotter.NewScatter(dots))
			marks.GlyphStyle = glyph(p.place[r.Subject])
			marks.GlyphStyle.Radius = 2.5
			pl.Add(marks)
		}
		at := must(plotter.NewScatter(centre.XYs))
		at.GlyphStyle = vgdraw.GlyphStyle{Color: inkText, Radius: 4, Shape: vgdraw.CrossGlyph{}}
		pl.Add(whisker, at)
		words = append(words, fmt.Sprintf("%s %s, rounds from %s to %s", p.name(r), s.cell(v), digits(least/s.factor), digits(most/s.factor)))
	}
	rowsOn(pl, names)
	return picture{Kind: "rounds-" + metric, Title: "Every round: " + what, Words: what + " of every round, " + s.unit + ": " + strings.Join(words, "; ") + ".",
		Note: "A dot is a round, the first on top; the cross is their median, the bar " + reach(rows, []string{metric}, "its interval", "their whole range") + ". The axis does not begin at zero."}.
		render(pl, axesHeight+rowHeight*vg.Length(len(names)), nil), true
}

// effective are the options of a row as its trials had them; nothing where they differ, which a flag then says, or are not known.
func (g *group) effective() json.RawMessage {
	if len(g.ok) == 0 || slices.ContainsFunc(g.ok, func(t *result.Trial) bool { return string(t.Options) != string(g.ok[0].Options) }) {
		return nil
	}
	return g.ok[0].Options
}
