package report

import (
	"strconv"
	"strings"
)

// messageGrid has the figures of each message where calls stream several: a route of 100 points is not a route of two.
func messageGrid(rows []Row, labels []string, f form) (g grid, ok bool) {
	columns := []struct {
		head, metric string
		rate         bool // a call's figure is multiplied by its messages, and not divided
		unit         string
	}{
		{"", "throughput", true, "msg/s"}, {"server", serverCPU, false, unitSeconds}, {"client", clientCPU, false, unitSeconds},
		{"sent", "bytes_sent_per_req", false, unitBytes}, {"received", "bytes_received_per_req", false, unitBytes},
	}
	g = grid{title: "For each message that a call carries", head: []string{"subject @ conc.", "messages"}}
	each := func(r Row, v Value, rate bool) Value {
		factor := float64(r.Messages)
		if !rate {
			factor = 1 / factor
		}
		v.Median, v.Low, v.High = v.Median*factor, v.Low*factor, v.High*factor
		return v
	}
	scales := make([]scale, len(columns))
	for i, c := range columns {
		var medians []float64
		for _, r := range rows {
			if v, known := r.Metrics[c.metric]; known && r.Messages > 1 {
				medians = append(medians, each(r, v, c.rate).Median)
			}
		}
		scales[i] = scaleOf(medians, c.unit)
		if c.rate {
			scales[i] = scaleOf(medians, unitRate)
			scales[i].unit = scales[i].unit[:len(scales[i].unit)-len(unitRate)] + c.unit
		}
		g.head = append(g.head, strings.TrimSpace(c.head+" "+scales[i].unit))
	}
	for i, r := range rows {
		if r.Messages <= 1 || r.Step != "" {
			continue
		}
		ok = true
		line := []string{labels[i], strconv.Itoa(r.Messages)}
		for j, c := range columns {
			cell := "-"
			if v, known := r.Metrics[c.metric]; known {
				cell = f.cell(scales[j], each(r, v, c.rate))
			}
			line = append(line, cell)
		}
		g.add(r, line)
	}
	return g, ok
}
