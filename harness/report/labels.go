package report

import (
	"slices"
	"strconv"

	"bakeoff/internal/plural"
)

// label names a row, with the numbers of its notes.
func (d *document) label(t Tables, rows []Row, r Row) string {
	var notes []int
	name := rowName(rows, r)
	of := name + t.ofWorkload(r)
	if r.Step == "" {
		d.rows = append(d.rows, of)
	}
	for _, f := range r.Flags {
		notes = append(notes, d.note(f.Kind, f.Text, of))
	}
	return name + marks(notes)
}

// whyUnranked is the end of a section's title.
func whyUnranked(t Tables, rows []Row) string {
	if slices.ContainsFunc(rows, func(r Row) bool {
		return !slices.ContainsFunc(t.NotRanked, func(n NotRanked) bool { return n.Subject == r.Subject })
	}) {
		return "see the notes"
	}
	return "without proof of the agreed answers"
}

// rowName is "grpc @ 50", with the connections where the subject has rows that differ in them alone.
func rowName(rows []Row, r Row) string {
	name := clean(r.Subject)
	if slices.ContainsFunc(rows, func(o Row) bool {
		return o.Subject == r.Subject && o.Concurrency == r.Concurrency && o.Rate == r.Rate && o.Conns != r.Conns
	}) {
		name += " (" + plural.Of(r.Conns, "conn") + ")"
	}
	if r.Concurrency > 0 {
		name += " @ " + strconv.Itoa(r.Concurrency)
	}
	if r.Rate != "" {
		name += ", " + clean(r.Rate) + "/s"
	}
	if r.Step != "" {
		name = "  " + name + " " + clean(r.Step)
	}
	return name
}
