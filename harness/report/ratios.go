package report

import (
	"fmt"
	"slices"
	"strconv"
)

// ratios is the grid of the rows against the baseline.
func (d *document) ratios(t Tables, rows []Row, f form) (g grid, ok bool) {
	g = grid{title: "Ratio to " + clean(t.Baseline) + " at the same level", head: []string{"subject @ conc."}}
	for _, c := range f.compared {
		g.head = append(g.head, c.head)
	}
	for _, r := range rows {
		if cells, notes, some := d.ratioCells(t, t.Comparisons, rows, r, f.compared); some {
			g.add(r, append([]string{rowName(rows, r) + marks(notes)}, cells...))
		}
	}
	return g, len(g.rows) > 0
}

// ratioCells are a row's cells out of comparisons, with the numbers of their notes; some says that there is one.
func (d *document) ratioCells(t Tables, of []Comparison, rows []Row, r Row, columns []column) (cells []string, notes []int, some bool) {
	for _, col := range columns {
		c := comparisonOf(of, r, col.metric)
		cells = append(cells, ratioCell(c))
		if c != nil {
			some = true
			for _, n := range c.Notes {
				notes = append(notes, d.note("", n, rowName(rows, r)+t.ofWorkload(r)))
			}
		}
	}
	return cells, notes, some
}

// noDifference begins a cell where no difference was detected.
const noDifference = "no diff."

func ratioCell(c *Comparison) string {
	switch {
	case c == nil:
		return "-"
	case c.Detected && c.Low == c.High:
		return factors(c.Ratio)[0]
	case c.Detected:
		f := factors(c.Ratio, c.Low, c.High)
		return fmt.Sprintf("%s [%s, %s]", f[0], f[1], f[2])
	case c.SmallestEffect == nil:
		return "too few rounds"
	case c.equal():
		return "equal"
	}
	return noDifference + " (" + percent(*c.SmallestEffect) + ")"
}

// factors prints ratios alike; near 1 the third decimal is what counts.
func factors(ratios ...float64) []string {
	near := slices.ContainsFunc(ratios, func(r float64) bool { return r > 0.95 && r < 1.05 })
	var out []string
	for _, r := range ratios {
		switch {
		case r < 0.1 || r >= 9.995:
			out = append(out, digits(r))
		case near:
			out = append(out, strconv.FormatFloat(r, 'f', 3, 64))
		default:
			out = append(out, strconv.FormatFloat(r, 'f', 2, 64))
		}
	}
	return out
}
