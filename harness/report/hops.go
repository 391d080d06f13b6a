package report

import (
	"slices"

	"bakeoff/harness/result"
	"bakeoff/harness/stats"
)

// Hop is a front beside the server that answers by itself and differs from it in nothing else, under the same load: how much the front
// has more of each figure, paired within rounds. Less is negative.
type Hop struct {
	RowKey
	Alone  string `json:"alone"`
	Rounds int    `json:"rounds"` // in which both were measured
	// More are the differences by the figure's name: throughput (closed loop), latency_p50, latency_p99, and answer_cpu_per_req, which is
	// beside what the server alone needs. What is unknown is absent.
	More map[string]Range `json:"more"`
}

// hopFigures are the figures of a hop, and that of the server alone which each is compared with.
var hopFigures = []struct{ of, alone string }{
	{"throughput", "throughput"}, {"latency_p50", "latency_p50"}, {"latency_p99", "latency_p99"}, {answerCPU, serverCPU},
}

// hops finds the fronts.
func (t *Tables) hops() {
	alone := t.related(func(s result.Subject) string { return s.Alone })
	for _, r := range t.Rows {
		o := t.beside(r, alone)
		if o == nil {
			continue
		}
		h := Hop{RowKey: r.place(), Alone: o.Subject, More: map[string]Range{}}
		for _, f := range hopFigures {
			if f.of == "throughput" && !r.closed() {
				continue // given, and not found
			}
			if d, rounds := more(o.Metrics[f.alone], r.Metrics[f.of], t.Look); rounds > 0 {
				h.More[f.of], h.Rounds = d, max(h.Rounds, rounds)
			}
		}
		if len(h.More) > 0 {
			t.Hops = append(t.Hops, h)
		}
	}
}

// more is by how much b is above a within the rounds that have both, and how many those are.
func more(a, b Value, look int) (Range, int) {
	as, ds := paired(a, b)
	for i := range ds {
		ds[i] -= as[i]
	}
	s, ok := stats.MedianAt(ds, look)
	if !ok {
		return Range{}, 0
	}
	return Range{s.Median, s.Low, s.High, s.TooFew()}, s.N
}

// hopGrids show how far the fronts of a section lie from the servers alone: a grid for each of those.
func hopGrids(t Tables, rows []Row, f form) []grid {
	var names []string
	for _, h := range t.Hops {
		if h.row().level().section() == rows[0].level().section() && rows[0].Ranked && !slices.Contains(names, h.Alone) {
			names = append(names, h.Alone)
		}
	}
	var grids []grid
	for _, name := range names {
		var of []Hop
		for _, h := range t.Hops {
			if h.Alone == name && h.row().level().section() == rows[0].level().section() {
				of = append(of, h)
			}
		}
		g := grid{title: "A front and its backend beside " + clean(name) + ": by how much more", head: []string{"subject @ conc."}}
		scales := map[string]scale{}
		for _, c := range []struct{ head, figure string }{{"", "throughput"}, {"p50", "latency_p50"}, {"p99", "latency_p99"}, {"CPU/req", answerCPU}} {
			var sizes []float64
			for _, h := range of {
				if d, ok := h.More[c.figure]; ok {
					sizes = append(sizes, max(d.Median, -d.Median))
				}
			}
			scales[c.figure] = scaleOf(sizes, unitOf(c.figure))
			if c.figure == answerCPU {
				scales[c.figure] = microseconds
			}
			if c.head != "" {
				c.head += " "
			}
			g.head = append(g.head, c.head+scales[c.figure].unit)
		}
		for _, h := range of {
			line := []string{rowName(rows, h.row())}
			for _, figure := range hopFigures {
				cell := "-"
				if d, ok := h.More[figure.of]; ok {
					cell = f.cell(scales[figure.of], Value{Median: d.Median, Low: d.Low, High: d.High, TooFew: d.TooFew})
				}
				line = append(line, cell)
			}
			g.add(h.row(), line)
		}
		grids = append(grids, g)
	}
	return grids
}
