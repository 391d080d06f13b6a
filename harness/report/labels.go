package report

import (
	"slices"
	"strconv"
	"strings"

	"bakeoff/internal/plural"
)

// label names a row, with the numbers of its notes.
func (d *document) label(rows []Row, r Row) string {
	var notes []int
	for _, f := range r.Flags {
		notes = append(notes, d.note(f.Text))
	}
	return rowName(rows, r) + marks(notes)
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

// note gives the number of a note; the same text has one number.
func (d *document) note(text string) int {
	text = clean(text)
	i := slices.Index(d.notes, text)
	if i < 0 {
		i = len(d.notes)
		d.notes = append(d.notes, text)
	}
	return i + 1
}

func marks(notes []int) string {
	if len(notes) == 0 {
		return ""
	}
	slices.Sort(notes)
	var s []string
	for _, n := range slices.Compact(notes) {
		s = append(s, strconv.Itoa(n))
	}
	return " [" + strings.Join(s, ",") + "]"
}
