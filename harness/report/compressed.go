package report

import (
	"slices"

	"bakeoff/harness/result"
)

// squeezed are the figures that compression is held responsible for.
var squeezed = slices.Concat(processors, findingsOf("bytes_sent_per_req", "bytes_received_per_req"))

// byCompression sets each subject that was measured with gzip beside itself without, and says what gzip changes.
func (t *Tables) byCompression() []string {
	words, all := t.stepWords("gzip changes", squeezed, t.related(func(s result.Subject) string { return s.Uncompressed }), t.asBefore)
	t.Compressed = all
	return words
}

// compressed is the grid of how far the rows of a section that compress lie from the same without, and of the bytes for each request before and after.
func (d *document) compressed(t Tables, rows []Row, f form) (g grid, ok bool) {
	ratios := []column{{head: "req/s", metric: "throughput"}, {head: "server CPU/req", metric: serverCPU}, {head: "client CPU/req", metric: clientCPU}}
	both := []column{{head: "sent", metric: "bytes_sent_per_req"}, {head: "received", metric: "bytes_received_per_req"}}
	g = grid{title: "With gzip, beside the same without: ratios, and bytes for each request", head: []string{"subject @ conc."}}
	for _, c := range ratios {
		g.head = append(g.head, c.head)
	}
	// was is the figure of the row without.
	was := func(r Row, metric string) (Value, bool) {
		for _, o := range t.Rows {
			if c := comparisonOf(t.Compressed, r, metric); c != nil && o.Subject == c.Baseline && o.level() == r.level() && o.Conns == c.BaselineConns && o.Step == "" {
				v, known := o.Metrics[metric]
				return v, known
			}
		}
		return Value{}, false
	}
	scales := make([]scale, len(both))
	for i, c := range both {
		var sizes []float64
		for _, r := range rows {
			if v, known := was(r, c.metric); known {
				sizes = append(sizes, v.Median, r.Metrics[c.metric].Median)
			}
		}
		scales[i] = scaleOf(sizes, unitBytes)
		g.head = append(g.head, c.head+" "+scales[i].unit)
	}
	for _, r := range rows {
		cells, notes, some := d.ratioCells(t, t.Compressed, rows, r, ratios)
		line := append([]string{rowName(rows, r) + marks(notes)}, cells...)
		for i, c := range both {
			cell := "-"
			if v, known := was(r, c.metric); known {
				cell = digits(v.Median/scales[i].factor) + " -> " + digits(r.Metrics[c.metric].Median/scales[i].factor)
			}
			line = append(line, cell)
		}
		if some {
			g.add(r, line)
		}
	}
	return g, len(g.rows) > 0
}
