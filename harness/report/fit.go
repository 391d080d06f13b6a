package report

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// gap is what stands between two columns of a table.
const gap = 2

// fit parts a grid whose lines are wider than so many columns of a terminal into grids that are not: each has the names of the rows, and
// as many of the other columns as there is room for. A name that leaves no room for one is shortened. None is room for anything.
func (g grid) fit(width int) []grid {
	if width <= 0 || len(g.head) == 0 {
		return []grid{g}
	}
	widths := make([]int, len(g.head))
	for _, row := range append([][]string{g.head}, g.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(cell))
		}
	}
	if len(widths) > 1 {
		if most := max(width-gap-slices.Max(widths[1:]), minName); widths[0] > most {
			g.rows = slices.Clone(g.rows)
			for i, row := range g.rows {
				g.rows[i] = slices.Concat([]string{shortened(row[0], most)}, row[1:])
			}
			widths[0] = most
		}
	}
	var parts []grid
	for from := 1; from == 1 || from < len(widths); {
		taken, to := widths[0], from
		for to < len(widths) && (to == from || taken+gap+widths[to] <= width) {
			taken += gap + widths[to]
			to++
		}
		pick := func(row []string) []string { return slices.Concat(row[:1], row[from:to]) }
		p := grid{title: g.title, head: pick(g.head), levels: g.levels}
		for _, row := range g.rows {
			p.rows = append(p.rows, pick(row))
		}
		parts = append(parts, p)
		from = max(to, from+1)
	}
	return parts
}

// minName is how much of a name is left, however narrow the terminal.
const minName = 20

// shortened is a name of so many columns, with the numbers of its notes.
func shortened(name string, columns int) string {
	notes := ""
	if i := strings.LastIndex(name, " ["); i > 0 && strings.HasSuffix(name, "]") && len(name)-i < columns {
		name, notes = name[:i], name[i:]
	}
	return text.Snip(name, columns-len(notes), "~") + notes
}
