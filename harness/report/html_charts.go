package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"bakeoff/harness/result"
)

// painter draws the charts of one section.
type painter struct {
	rows     []Row          // of whole calls: steps have tables
	all      []Row          // with those of steps, for the names
	place    map[string]int // of a subject in the report: its colour
	levels   []string       // as they come: dashes
	openLoop bool
}

func newPainter(t Tables, rows []Row) painter {
	p := painter{all: rows, place: map[string]int{}}
	for _, s := range t.Subjects {
		p.place[s.Name] = len(p.place)
	}
	for _, r := range rows {
		if _, ok := p.place[r.Subject]; !ok {
			p.place[r.Subject] = len(p.place)
		}
		if r.Step != "" {
			continue
		}
		p.rows = append(p.rows, r)
		p.openLoop = p.openLoop || r.Rate != ""
		if !slices.Contains(p.levels, r.at()) {
			p.levels = append(p.levels, r.at())
		}
	}
	return p
}

// pictures are all charts for which there are figures.
func (p painter) pictures() []picture {
	var out []picture
	for _, draw := range []func() (picture, bool){
		func() (picture, bool) { return p.against("throughput-by-level", "Throughput", []string{"throughput"}) },
		func() (picture, bool) {
			return p.against("latency-by-level", "Latency", []string{"latency_p50", "latency_p99"})
		},
		p.percentiles,
		p.cpu,
		p.bytes,
		func() (picture, bool) { return p.rounds("throughput") },
		func() (picture, bool) { return p.rounds("latency_p99") },
		func() (picture, bool) { return p.rounds(serverCPU) },
	} {
		if c, ok := draw(); ok {
			out = append(out, c)
		}
	}
	for _, c := range courses {
		if drawn, ok := p.timeline(c); ok {
			out = append(out, drawn)
		}
	}
	return append(out, p.firsts()...)
}

func (p painter) name(r Row) string { return strings.TrimSpace(rowName(p.all, r)) }

// scaleFor is the scale of a metric over the rows, as in the tables.
func (p painter) scaleFor(metrics ...string) scale {
	if strings.HasSuffix(metrics[0], "cpu_per_req") {
		return microseconds
	}
	return scaleOf(medians(p.rows, metrics...), unitOf(metrics[0]))
}

// against draws figures against the level. It needs two levels: of one, the rounds' chart says more.
func (p painter) against(kind, what string, metrics []string) (picture, bool) {
	x, axis := func(r Row) float64 { return float64(r.Concurrency) }, "concurrency: calls in flight"
	if p.openLoop {
		x, axis = func(r Row) float64 { return float64(firstRate(r.Rate)) }, "rate asked for, req/s"
	}
	s := p.scaleFor(metrics...)
	pl := newPlot(axis, what+", "+s.unit)
	pl.Add(gridLines(false, true))
	var levels []float64
	var words []string
	var legend []entry
	for _, subject := range p.lines() {
		for m, metric := range metrics {
			var bars errorBars
			for _, r := range subject.rows {
				v, ok := r.Metrics[metric]
				if !ok {
					continue
				}
				bars.add(x(r), v.Median/s.factor, (v.Median-v.Low)/s.factor, (v.High-v.Median)/s.factor)
				if !slices.Contains(levels, x(r)) {
					levels = append(levels, x(r))
				}
				words = append(words, fmt.Sprintf("%s %s %s", p.name(r), shortName(metric), s.cell(v)))
			}
			if len(bars.XYs) == 0 {
				continue
			}
			line := must(plotter.NewLine(bars.XYs))
			line.LineStyle = stroke(subject.place, m, 1.5)
			dots := must(plotter.NewScatter(bars.XYs))
			dots.GlyphStyle = glyph(subject.place)
			whiskers := must(plotter.NewYErrorBars(&bars))
			whiskers.LineStyle = stroke(subject.place, 0, 1)
			pl.Add(line, whiskers, dots)
			name := subject.name
			if len(metrics) > 1 {
				name += ", " + shortName(metric)
			}
			legend = append(legend, entry{name, []plot.Thumbnailer{line, dots}})
		}
	}
	if len(levels) < 2 {
		return picture{}, false
	}
	levelsOn(&pl.X, levels)
	fromZero(&pl.Y)
	title := what + " against concurrency"
	if p.openLoop {
		title = what + " against the rate"
	}
	return picture{Kind: kind, Title: title, Words: title + ", " + s.unit + ": " + strings.Join(words, "; ") + ".",
		Note: "Medians of the rounds; the bars are their " + reach(p.rows, metrics, "intervals", "whole ranges") + "."}.render(pl, plotHeight, legend), true
}

// line is the rows of a subject that differ in their level alone.
type line struct {
	name  string
	place int
	rows  []Row
}

func (p painter) lines() []line {
	var out []line
	for _, r := range p.rows {
		i := slices.IndexFunc(out, func(l line) bool {
			o := l.rows[0]
			return o.Subject == r.Subject && !slices.ContainsFunc(l.rows, func(o Row) bool { return o.at() == r.at() })
		})
		if i < 0 {
			i = len(out)
			name := clean(r.Subject)
			if slices.ContainsFunc(out, func(l line) bool { return l.rows[0].Subject == r.Subject }) {
				name += fmt.Sprintf(" (%d conns)", r.Conns)
			}
			out = append(out, line{name: name, place: p.place[r.Subject]})
		}
		out[i].rows = append(out[i].rows, r)
	}
	return out
}

// percentiles draws latency by percentile on a scale on which each nine takes as much room as the one before it.
func (p painter) percentiles() (picture, bool) {
	var all []float64
	for _, r := range p.rows {
		if r.Latency != nil {
			for _, c := range r.Latency.Curve {
				all = append(all, c.Latency)
			}
		}
	}
	if len(all) == 0 {
		return picture{}, false
	}
	s := scaleOf(all, unitSeconds)
	pl := newPlot("percentile", "latency, "+s.unit)
	pl.Add(gridLines(true, true))
	var legend []entry
	var words []string
	for _, r := range p.rows {
		if r.Latency == nil || len(r.Latency.Curve) == 0 {
			continue
		}
		var xys plotter.XYs
		for _, c := range r.Latency.Curve {
			xys = append(xys, point(nines(c.Percent), c.Latency/s.factor))
		}
		l := must(plotter.NewLine(xys))
		l.LineStyle = stroke(p.place[r.Subject], slices.Index(p.levels, r.at()), 1.5)
		pl.Add(l)
		legend = append(legend, entry{p.name(r), []plot.Thumbnailer{l}})
		var figures []string
		for _, c := range r.Latency.Percentiles {
			if c.Percent >= 50 {
				figures = append(figures, fmt.Sprintf("p%g %s", c.Percent, digits(c.Latency/s.factor)))
			}
		}
		words = append(words, p.name(r)+" "+strings.Join(figures, ", "))
	}
	var ticks plot.ConstantTicks
	for _, percent := range []float64{0, 50, 90, 99, 99.9, 99.99} {
		ticks = append(ticks, plot.Tick{Value: nines(percent), Label: fmt.Sprintf("%g%%", percent)})
	}
	pl.X.Tick.Marker = ticks
	pl.X.Min, pl.X.Max = 0, nines(99.99)
	if low, high := slices.Min(all), slices.Max(all); bounded(low/s.factor) > 0 && high/low > 50 {
		pl.Y.Scale, pl.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	} else {
		fromZero(&pl.Y)
	}
	return picture{Kind: "percentiles", Title: "Latency by percentile", Words: "Latency by percentile, " + s.unit + ": " + strings.Join(words, "; ") + ".",
		Note: "All calls that succeeded, of all rounds together; a percentile is drawn where ten calls or more lie beyond it."}.render(pl, plotHeight, legend), true
}

// nines is 0 for 0 %, 1 for 90 %, 2 for 99 % and so on.
func nines(percent float64) float64 { return -math.Log10(1 - percent/100) }

// role is a part of a stacked bar.
type role struct{ name, metric string }

func (p painter) cpu() (picture, bool) {
	roles := []role{{"server", serverCPU}, {"client", clientCPU}, {"store", storeCPU}}
	if len(medians(p.rows, backendCPU)) > 0 {
		roles = append(roles, role{"backend", backendCPU})
	}
	return p.stacked("cpu-by-role", "CPU per request by role", roles,
		"Medians of the rounds. A part that is unknown is not drawn: the text of the chart says so.")
}

func (p painter) bytes() (picture, bool) {
	return p.stacked("bytes", "Bytes per request", []role{{"sent by the client", "bytes_sent_per_req"}, {"received", "bytes_received_per_req"}},
		"What the client's sockets wrote and read for each call that ended.")
}

func (p painter) stacked(kind, title string, roles []role, note string) (picture, bool) {
	var first string
	for _, r := range roles {
		if len(medians(p.rows, r.metric)) > 0 {
			first = cmp.Or(first, r.metric)
		}
	}
	if first == "" {
		return picture{}, false
	}
	s := p.scaleFor(first)
	pl := newPlot(title+", "+s.unit, "")
	pl.Add(gridLines(true, false))
	var names, words []string
	for _, r := range p.rows {
		names = append(names, p.name(r))
		var parts []string
		for _, role := range roles {
			if v, ok := r.Metrics[role.metric]; ok {
				parts = append(parts, role.name+" "+s.cell(v))
			} else if role.metric != backendCPU { // a server that answers by itself
				parts = append(parts, role.name+" unknown"+because(r.Unknown[role.metric]))
			}
		}
		words = append(words, p.name(r)+": "+strings.Join(parts, ", "))
	}
	var below *plotter.BarChart
	var legend []entry
	for i, role := range roles {
		values := make(plotter.Values, len(p.rows))
		for j, r := range p.rows {
			values[len(values)-1-j] = bounded(max(0, r.Metrics[role.metric].Median) / s.factor)
		}
		b := must(plotter.NewBarChart(values, rowHeight/2))
		b.Horizontal, b.Color = true, ink(fmt.Sprintf("mark part%d", i))
		if role.metric == backendCPU {
			b.Color = ink("mark s2")
		}
		b.LineStyle = vgdraw.LineStyle{Color: ink("edge"), Width: 0.75}
		if below != nil {
			b.StackOn(below)
		}
		below = b
		pl.Add(b)
		legend = append(legend, entry{role.name, []plot.Thumbnailer{b}})
	}
	rowsOn(pl, names)
	fromZero(&pl.X)
	return picture{Kind: kind, Title: title, Words: title + ", " + s.unit + ": " + strings.Join(words, "; ") + ".", Note: note}.
		render(pl, axesHeight+rowHeight*vg.Length(len(names)), legend), true
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + clean(why) + ")"
}

// shortName is what a metric is called within a chart that says what it is of.
func shortName(metric string) string {
	for _, prefix := range []string{"latency_"} {
		if rest, ok := strings.CutPrefix(metric, prefix); ok {
			return rest
		}
	}
	return strings.ReplaceAll(metric, "_", " ")
}

// curve is the percentiles of a population as far as ten calls lie beyond them, up to the 99.99th: twenty for each nine.
func curve(m result.Merged) []Percentile {
	var out []Percentile
	for i := range 4*20 + 1 {
		share := math.Pow(10, -float64(i)/20) // of the calls that lie beyond
		if share*float64(m.Count) < 10-1e-6 {
			break
		}
		ns, _ := m.Quantile(1 - share)
		out = append(out, Percentile{100 * (1 - share), float64(ns) / 1e9})
	}
	return out
}
