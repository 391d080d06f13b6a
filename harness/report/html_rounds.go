package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"bakeoff/harness/result"
	"bakeoff/harness/stats"
)

// Timeline is what happened within one round: equal parts of its window.
type Timeline struct {
	Round  int
	Width  float64 // of a slice, in seconds
	Slices []result.Slice
}

// rounds draws every round of every row as a dot, and the median with its interval over them.
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
		Note: "A dot is a round, the first on top; the cross is their median, the bar its interval. The axis does not begin at zero."}.
		render(pl, axesHeight+rowHeight*vg.Length(len(names)), nil), true
}

// timeline draws what the rounds' slices say: a thin line for each round.
func (p painter) timeline(what string) (picture, bool) {
	value := func(t Timeline, sl result.Slice) (float64, bool) { return float64(sl.OK) / t.Width, true }
	unit, title := unitRate, "Rate within the rounds"
	if what == "latency" {
		value = func(_ Timeline, sl result.Slice) (float64, bool) { return sl.Mean / 1e9, sl.OK > 0 && finite(sl.Mean) }
		unit, title = unitSeconds, "Mean latency within the rounds"
	}
	var all []float64
	for _, r := range p.rows {
		for _, t := range r.Timelines {
			for _, sl := range t.Slices {
				if v, ok := value(t, sl); ok {
					all = append(all, v)
				}
			}
		}
	}
	if len(all) == 0 {
		return picture{}, false
	}
	s := scaleOf(all, unit)
	pl := newPlot("time in the measured window, s", strings.TrimPrefix(what+", ", ", ")+s.unit)
	pl.Add(gridLines(false, true))
	var legend []entry
	var words []string
	var strong []plot.Plotter // above all thin lines
	for _, r := range p.rows {
		var rounds []plotter.XYs
		var seen []float64
		for _, t := range r.Timelines {
			var xys plotter.XYs
			for i, sl := range t.Slices {
				if v, ok := value(t, sl); ok {
					xys = append(xys, point((float64(i)+0.5)*t.Width, v/s.factor))
					seen = append(seen, v/s.factor)
				}
			}
			if len(xys) == 0 {
				continue
			}
			l := must(plotter.NewLine(xys))
			l.LineStyle = stroke(p.place[r.Subject], slices.Index(p.levels, r.at()), 0.75)
			l.Color = "faint " + series(p.place[r.Subject])
			pl.Add(l)
			rounds = append(rounds, xys)
		}
		if middle := middles(rounds); len(middle) > 0 {
			thumb := must(plotter.NewLine(middle))
			thumb.LineStyle = stroke(p.place[r.Subject], slices.Index(p.levels, r.at()), 2)
			strong = append(strong, thumb)
			legend = append(legend, entry{p.name(r), []plot.Thumbnailer{thumb}})
			words = append(words, fmt.Sprintf("%s between %s and %s", p.name(r), digits(slices.Min(seen)), digits(slices.Max(seen))))
		}
	}
	pl.Add(strong...)
	pl.X.Min = 0
	fromZero(&pl.Y)
	return picture{Kind: "timeline-" + what, Title: title, Words: title + ", " + s.unit + ": " + strings.Join(words, "; ") + ".",
		Note: "A thin line is a round: the calls that succeeded and ended in each slice of its window. The thick one is the median of the rounds."}.render(pl, plotHeight, legend), true
}

// middles are the medians of lines with as many points as the first.
func middles(lines []plotter.XYs) plotter.XYs {
	if len(lines) == 0 {
		return nil
	}
	var out plotter.XYs
	for i, at := range lines[0] {
		var ys []float64
		for _, l := range lines {
			if len(l) == len(lines[0]) {
				ys = append(ys, l[i].Y)
			}
		}
		if m, ok := stats.Median(ys); ok {
			out = append(out, point(at.X, m.Median))
		}
	}
	return out
}

// effective are the options of a row as its trials had them; nothing where they differ, which a flag then says, or are not known.
func (g *group) effective() json.RawMessage {
	if len(g.ok) == 0 || slices.ContainsFunc(g.ok, func(t *result.Trial) bool { return string(t.Options) != string(g.ok[0].Options) }) {
		return nil
	}
	return g.ok[0].Options
}

// timelines are the slices of the rounds of a group.
func (g *group) timelines() []Timeline {
	var out []Timeline
	for _, t := range g.ok {
		if len(t.Slices) > 0 && t.Window > 0 && finite(t.Window) {
			out = append(out, Timeline{Round: t.Round, Width: t.Window / float64(len(t.Slices)), Slices: append([]result.Slice{}, t.Slices...)})
		}
	}
	return out
}
