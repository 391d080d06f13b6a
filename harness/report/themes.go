package report

import (
	"slices"
	"strconv"
	"strings"
)

// column is one column of a grid of metrics.
type column struct {
	head   string // without the unit
	metric string
	scale  *scale // nil: found from the values
	hop    bool   // is left out where no row has a backend
	shared string // columns that share a name here share the scale that is found
}

// theme is a grid of metrics.
type theme struct {
	title   string
	columns []column
	steps   bool // rows of steps, too
}

// outcomes is the grid of what became of the calls. In the short form the throughput stands with the latencies.
func outcomes(rows []Row, labels []string, f form) grid {
	s := scaleOf(medians(rows, "throughput"), unitRate)
	g := grid{title: "Throughput and outcomes (calls summed over the rounds)",
		head: []string{"subject @ conc.", "conns x in flight", "rounds", s.unit, "ok", "failed", "cut off", "dropped"}}
	if f.short {
		g.title = "Outcomes (calls summed over the rounds), connections x calls in flight"
		g.head = []string{"subject @ conc.", "conns", "rounds", "ok", "failed", "cut off", "dropped"}
	}
	for i, r := range rows {
		if r.Outcomes == nil {
			continue
		}
		o, speed := r.Outcomes, "-"
		if v, ok := r.Metrics["throughput"]; ok {
			speed = r.led("throughput", f.cell(s, v))
		}
		line := []string{labels[i], InFlight(r.Conns, r.Concurrency), strconv.Itoa(r.Rounds)}
		if !f.short {
			line = append(line, speed)
		}
		for _, n := range []uint64{o.OK, o.Failed, o.CutOff, o.Dropped} {
			line = append(line, strconv.FormatUint(n, 10))
		}
		g.add(r, line)
	}
	return g
}

func (g *grid) add(r Row, line []string) {
	g.rows = append(g.rows, line)
	g.levels = append(g.levels, strconv.Itoa(r.Concurrency)+" "+r.Rate)
}

func medians(rows []Row, metrics ...string) []float64 {
	var vs []float64
	for _, r := range rows {
		for _, m := range metrics {
			if v, ok := r.Metrics[m]; ok {
				vs = append(vs, v.Median)
			}
		}
	}
	return vs
}

// grid fills a theme; ok is false if it does not apply to any of the rows.
func (th theme) grid(rows []Row, labels []string, f form) (g grid, ok bool) {
	th.columns = slices.DeleteFunc(slices.Clone(th.columns), func(c column) bool { return c.hop && len(medians(rows, c.metric)) == 0 })
	g = grid{title: th.title, head: []string{"subject @ conc."}}
	scales := make([]scale, len(th.columns))
	for i, c := range th.columns {
		metrics := []string{c.metric}
		for _, other := range th.columns {
			if c.shared != "" && other.shared == c.shared {
				metrics = append(metrics, other.metric)
			}
		}
		if c.scale != nil {
			scales[i] = *c.scale
		} else {
			scales[i] = scaleOf(medians(rows, metrics...), unitOf(c.metric))
		}
		g.head = append(g.head, strings.TrimSpace(c.head+" "+scales[i].unit))
	}
	for i, r := range rows {
		if r.Step != "" && !th.steps {
			continue
		}
		line := []string{labels[i]}
		for j, c := range th.columns {
			v, known := r.Metrics[c.metric]
			why, applies := r.Unknown[c.metric]
			ok = ok || (known || applies) && c.metric != "in_flight" // which every mode has
			switch {
			case known:
				line = append(line, r.led(c.metric, f.cell(scales[j], v)))
			case strings.HasPrefix(why, tooFewCalls):
				line = append(line, "too few")
			default:
				line = append(line, "-")
			}
		}
		g.add(r, line)
	}
	return g, ok
}

// The marks of Row.Leads.
const (
	markBest = "*"
	markTied = "="
)

// led puts the mark of the row's place in front of a cell.
func (r Row) led(metric, cell string) string {
	return map[string]string{LeadBest: markBest, LeadTied: markTied}[r.Leads[metric]] + cell
}

func unitOf(metric string) string { return metricOf(metric).Unit }
