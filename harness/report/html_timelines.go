package report

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"bakeoff/harness/result"
	"bakeoff/harness/stats"
)

// Timeline is what happened within one round: equal parts of its window.
type Timeline struct {
	Round  int
	Width  float64 // of a slice, in seconds
	Slices []result.Slice
}

// course is a figure within the rounds, and how it is drawn.
type course struct {
	kind, title string
	axis, unit  string
	note        string
	of          func(Timeline, result.Slice) (v float64, known bool)
}

// courses are the figures that are drawn over the time of a window.
var courses = []course{
	{kind: "timeline-rate", title: "Rate within the rounds", axis: "rate", unit: unitRate, note: "the calls that succeeded and ended in each slice of its window",
		of: func(t Timeline, sl result.Slice) (float64, bool) { return float64(sl.OK) / t.Width, true }},
	{kind: "timeline-latency", title: "Mean latency within the rounds", axis: "latency", unit: unitSeconds, note: "the calls that succeeded and ended in each slice of its window",
		of: func(_ Timeline, sl result.Slice) (float64, bool) { return sl.Mean / 1e9, sl.OK > 0 && finite(sl.Mean) }},
	cpuCourse("server"), cpuCourse("backend"), cpuCourse("client"), cpuCourse("store"),
}

// cpuCourse is what a role used for each call that succeeded. Where that is unknown, or no call succeeded, there is no point.
func cpuCourse(role string) course {
	return course{kind: "timeline-cpu-" + role, title: "CPU per call of the " + role + " within the rounds", axis: "CPU per call", unit: unitSeconds,
		note: "the CPU time of the " + role + " in each slice of its window, for each call that succeeded there",
		of: func(_ Timeline, sl result.Slice) (float64, bool) {
			cpu, known := sl.CPU[role]
			return cpu / float64(max(sl.OK, 1)), known && sl.OK > 0 && finite(cpu)
		}}
}

// timeline draws what the rounds' slices say: a thin line for each round.
func (p painter) timeline(c course) (picture, bool) {
	var all []float64
	for _, r := range p.rows {
		for _, t := range r.Timelines {
			for _, sl := range t.Slices {
				if v, ok := c.of(t, sl); ok {
					all = append(all, v)
				}
			}
		}
	}
	if len(all) == 0 {
		return picture{}, false
	}
	s := scaleOf(all, c.unit)
	apart := ""
	if turns := inTurns(p.rows); turns != "" {
		apart = " The windows were " + turns + ": their parts lie apart, with the turns of the other subjects in between, and are drawn as if they followed one another."
	}
	pl := newPlot("time in the measured window, s", c.axis+", "+s.unit)
	pl.Add(gridLines(false, true))
	var legend []entry
	var words, unknown []string
	var strong []plot.Plotter // above all thin lines
	for _, r := range p.rows {
		var rounds [][]spot
		var seen []float64
		for _, t := range r.Timelines {
			var spots []spot
			for i, sl := range t.Slices {
				if v, ok := c.of(t, sl); ok {
					spots = append(spots, spot{i, point((float64(i)+0.5)*t.Width, v/s.factor)})
					seen = append(seen, v/s.factor)
				}
			}
			for _, l := range lines(spots) {
				l.LineStyle = stroke(p.place[r.Subject], slices.Index(p.levels, r.at()), 0.75)
				l.Color = "faint " + series(p.place[r.Subject])
				pl.Add(l)
			}
			rounds = append(rounds, spots)
		}
		middle := lines(middles(rounds))
		if len(middle) == 0 {
			words, unknown = append(words, p.name(r)+" unknown"), append(unknown, p.name(r))
			continue
		}
		for _, l := range middle {
			l.LineStyle = stroke(p.place[r.Subject], slices.Index(p.levels, r.at()), 2)
			strong = append(strong, l)
		}
		legend = append(legend, entry{p.name(r), []plot.Thumbnailer{middle[0]}})
		words = append(words, fmt.Sprintf("%s between %s and %s", p.name(r), digits(slices.Min(seen)), digits(slices.Max(seen))))
	}
	pl.Add(strong...)
	pl.X.Min = 0
	fromZero(&pl.Y)
	note := "A thin line is a round: " + c.note + ". The thick one is the median of the rounds." + apart
	if len(unknown) > 0 {
		note += " Unknown, and not drawn: " + strings.Join(unknown, ", ") + "."
	}
	return picture{Kind: c.kind, Title: c.title, Words: c.title + ", " + s.unit + ": " + strings.Join(words, "; ") + "." + apart, Note: note}.render(pl, plotHeight, legend), true
}

// spot is what is known of a slice.
type spot struct {
	slice int
	at    plotter.XY
}

// lines join the spots of slices that follow one another: across those that are unknown there is no line.
func lines(spots []spot) []*plotter.Line {
	var out []*plotter.Line
	for from := 0; from < len(spots); {
		var xys plotter.XYs
		for len(xys) == 0 || from < len(spots) && spots[from].slice == spots[from-1].slice+1 {
			xys = append(xys, spots[from].at)
			from++
		}
		out = append(out, must(plotter.NewLine(xys)))
	}
	return out
}

// middles are the medians of the rounds, slice by slice, of those in which it is known.
func middles(rounds [][]spot) []spot {
	var out []spot
	last := -1
	for _, spots := range rounds {
		if n := len(spots); n > 0 {
			last = max(last, spots[n-1].slice)
		}
	}
	for i := range last + 1 {
		var ys []float64
		var first plotter.XY
		for _, spots := range rounds {
			for _, sp := range spots {
				if sp.slice == i {
					if len(ys) == 0 {
						first = sp.at
					}
					ys = append(ys, sp.at.Y)
				}
			}
		}
		if m, ok := stats.Median(ys); ok {
			out = append(out, spot{i, point(first.X, m.Median)})
		}
	}
	return out
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
