package report

import (
	"fmt"
	"slices"
	"strconv"

	"bakeoff/internal/plural"
)

// Capacity is what a load would need if each call cost what it cost here: CPU time a call times calls a second.
type Capacity struct {
	Load float64 `json:"load"` // calls a second
	// CorePrice is what one core costs an hour, in whatever currency the reader meant; absent where it is unknown.
	CorePrice float64       `json:"core_price,omitempty"`
	Rows      []CapacityRow `json:"rows"`
}

// CapacityRow is what one row's subject would need at one level of concurrency: cores kept busy, by role, with the intervals of its CPU
// time a call. A role whose CPU time is unknown is absent.
type CapacityRow struct {
	RowKey
	Server     *Range `json:"server_cores,omitempty"`
	Backend    *Range `json:"backend_cores,omitempty"` // of a front
	Client     *Range `json:"client_cores,omitempty"`
	StoreCores *Range `json:"store_cores,omitempty"`
	// Month is what the server's cores, and those of its backend, cost in a month of HoursPerMonth hours; absent without a price.
	Month *Range `json:"server_month,omitempty"`
}

// Range is a median with its interval.
type Range struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// TooFew: the rounds are too few for the confidence that is asked for, and the range is the whole one.
	TooFew bool `json:"too_few_rounds,omitempty"`
}

// HoursPerMonth is a twelfth of a year of 365 days.
const HoursPerMonth = 730

// capacity works out what the load that o names would need, for every ranked row.
func (t *Tables) capacity(o Options) {
	if o.Load <= 0 {
		return
	}
	c := &Capacity{Load: o.Load, CorePrice: max(0, o.CorePrice), Rows: []CapacityRow{}}
	for _, r := range t.Rows {
		if !r.Ranked || r.Step != "" {
			continue
		}
		cr := CapacityRow{RowKey: r.place(), Server: r.times(serverCPU, o.Load), Backend: r.times(backendCPU, o.Load), Client: r.times(clientCPU, o.Load), StoreCores: r.times(storeCPU, o.Load)}
		if c.CorePrice > 0 {
			answering := serverCPU
			if cr.Backend != nil {
				answering = answerCPU
			}
			cr.Month = r.times(answering, o.Load*c.CorePrice*HoursPerMonth)
		}
		c.Rows = append(c.Rows, cr)
	}
	t.Capacity = c
}

// times is a figure of the row times a factor; nil if it is unknown, or the product beyond all numbers.
func (r Row) times(metric string, factor float64) *Range {
	v, ok := r.Metrics[metric]
	if !ok {
		return nil
	}
	if _, why := known(v.High * factor); why != "" {
		return nil
	}
	return &Range{v.Median * factor, v.Low * factor, v.High * factor, v.TooFew}
}

// capacityGrid is the part of the capacity that a section's rows are about.
func capacityGrid(t Tables, rows []Row, f form) (g grid, ok bool) {
	c := t.Capacity
	if c == nil {
		return g, false
	}
	g = grid{title: "Cores for " + c.load(), head: []string{"subject @ conc.", "server", "client", "store"}}
	behind := slices.ContainsFunc(c.Rows, func(cr CapacityRow) bool { return cr.Backend != nil })
	if behind {
		g.head = append(g.head, "backend")
	}
	if c.CorePrice > 0 {
		g.head = append(g.head, "server's cost a month")
	}
	cell := func(r *Range) string {
		if r == nil {
			return "-"
		}
		return f.cell(plain, Value{Median: r.Median, Low: r.Low, High: r.High, TooFew: r.TooFew})
	}
	for _, cr := range c.Rows {
		if cr.row().level().section() != rows[0].level().section() {
			continue
		}
		line := []string{rowName(rows, cr.row()), cell(cr.Server), cell(cr.Client), cell(cr.StoreCores)}
		if behind {
			line = append(line, cell(cr.Backend))
		}
		if c.CorePrice > 0 {
			line = append(line, cell(cr.Month))
		}
		g.add(cr.row(), line)
	}
	return g, len(g.rows) > 0
}

func (c Capacity) load() string { return strconv.FormatFloat(c.Load, 'f', -1, 64) + " calls/s" }

// legend says how far the capacity can be trusted.
func (c Capacity) legend() string {
	s := "Cores for a load are those kept busy, if a call costs at " + c.load() + " what it cost here; what idles between calls, and room for peaks, come on top."
	if c.CorePrice > 0 {
		s += fmt.Sprintf(" A month is %s, a core %s an hour.", plural.Of(HoursPerMonth, "hour"), strconv.FormatFloat(c.CorePrice, 'f', -1, 64))
	}
	return s
}
