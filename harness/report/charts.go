package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// chart is bars of letters, so that it needs neither colour nor a font.
type chart struct {
	title string
	lines []string
}

// chartWidth is that of all charts, chartLabel the most of it that names may take, in columns.
const (
	chartWidth = 80
	chartLabel = 30
)

// barLegend says how to read the bars of one figure.
func barLegend(rows []Row) string {
	return "Bars are '#' up to the lower end of the " + reach(rows, []string{"throughput", serverCPU}, "interval", "range") + ", and '~' from there to the upper."
}

// reach names what Low and High of figures are: intervals, where the rounds are too few for them whole ranges, or some of each.
func reach(rows []Row, metrics []string, interval, whole string) string {
	few, enough := false, false
	for _, r := range rows {
		for _, m := range metrics {
			if v, ok := r.Metrics[m]; ok {
				few, enough = few || v.TooFew, enough || !v.TooFew
			}
		}
	}
	return reached(few, enough, interval, whole)
}

// ratioReach is reach of ratios.
func (t Tables) ratioReach() string {
	few, enough := false, false
	for _, c := range t.Comparisons {
		few, enough = few || c.TooFew, enough || !c.TooFew
	}
	return reached(few, enough, "interval", "whole range")
}

func reached(few, enough bool, interval, whole string) string {
	switch {
	case few && enough:
		return interval + ", or " + whole + " where rounds are too few for one"
	case few:
		return whole
	}
	return interval
}

// bar is one line of a chart: parts of its length in their letters.
type bar struct {
	label, figure string
	parts         []part
	unknown       []string // parts that belong to it
}

type part struct {
	letter string
	value  float64
}

// chartsOf draws the rows of a section: throughput, the server's CPU time a call, and that of all roles one on the other.
func chartsOf(rows []Row) []chart {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Step != "" })
	var charts []chart
	for _, c := range []struct {
		metric string
		scale  *scale
	}{{"throughput", nil}, {serverCPU, &microseconds}} {
		s := scaleOf(medians(rows, c.metric), unitOf(c.metric))
		if c.scale != nil {
			s = *c.scale
		}
		var bars []bar
		for _, r := range rows {
			v, ok := r.Metrics[c.metric]
			if !ok {
				continue
			}
			low, high := max(0, v.Low), max(0, v.High)
			bars = append(bars, bar{rowName(rows, r), r.led(c.metric, digits(v.Median/s.factor)), []part{{"#", low}, {"~", high - low}}, nil})
		}
		charts = draw(charts, fmt.Sprintf("%s, %s", titleOf(c.metric), s.unit), bars)
	}
	var bars []bar
	title := "CPU per request by role, us ('#' server, '=' client, '.' store)"
	if len(medians(rows, backendCPU)) > 0 {
		title = "CPU per request by role, us ('#' server, '+' backend, '=' client, '.' store)"
	}
	for _, r := range rows {
		sum, parts, unknown := 0.0, []part(nil), []string(nil)
		for _, role := range []struct{ name, metric, letter string }{
			{"server", serverCPU, "#"}, {"backend", backendCPU, "+"}, {"client", clientCPU, "="}, {"store", storeCPU, "."},
		} {
			if v, ok := r.Metrics[role.metric]; ok {
				sum, parts = sum+v.Median, append(parts, part{role.letter, max(0, v.Median)})
			} else if role.name != "backend" && r.Unknown[role.metric] != noStoreProcess { // then it is in the server's
				unknown = append(unknown, role.name)
			}
		}
		if len(parts) > 1 {
			figure := digits(sum / microseconds.factor)
			if unknown != nil {
				figure = ">" + figure
			}
			bars = append(bars, bar{rowName(rows, r), figure, parts, unknown})
		}
	}
	return draw(charts, title, bars)
}

// draw adds a chart of bars that share one scale from zero; without a bar there is none.
func draw(charts []chart, title string, bars []bar) []chart {
	most, labels, figures := 0.0, 0, 0
	for i, b := range bars {
		sum := 0.0
		for _, p := range b.parts {
			sum += p.value
		}
		most = max(most, sum)
		bars[i].label = text.Snip(b.label, chartLabel, "~")
		labels = max(labels, text.StringWidthWithoutEscSequences(bars[i].label))
		figures = max(figures, len(b.figure))
	}
	if !(most > 0) || math.IsInf(most, 1) {
		return charts
	}
	room := chartWidth - labels - figures - len("   |")
	for _, b := range bars {
		if b.unknown != nil {
			room = min(room, chartWidth-labels-figures-len("   | + ? ( unknown)")-len(strings.Join(b.unknown, ", ")))
		}
	}
	c := chart{title: strings.ToUpper(title[:1]) + title[1:]}
	for _, b := range bars {
		var s strings.Builder
		sum, drawn := 0.0, 0
		for _, p := range b.parts {
			sum += p.value
			end := int(math.Round(sum / most * float64(room)))
			s.WriteString(strings.Repeat(p.letter, max(0, end-drawn)))
			drawn = max(drawn, end)
		}
		if b.unknown != nil {
			s.WriteString(" + ? (" + strings.Join(b.unknown, ", ") + " unknown)")
		}
		c.lines = append(c.lines, trimRight(fmt.Sprintf("%s  %*s |%s", text.Pad(b.label, labels, ' '), figures, b.figure, s.String())))
	}
	return append(charts, c)
}
