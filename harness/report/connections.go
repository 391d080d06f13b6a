package report

import (
	"fmt"
	"slices"
	"strings"

	"bakeoff/harness/stats"
	"bakeoff/internal/plural"
)

// step is one row beside another of the same subject: that over the fewest connections, or that without TLS.
type step struct {
	from, row Row
	c         Comparison
	s         stats.Comparison
}

// byConnections says for each subject that was measured over several numbers of connections what their number changes.
func (t *Tables) byConnections() []string {
	var out []string
	for _, f := range findings {
		m := Metrics[slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == f.metric })]
		var steps []step
		var ps []float64
		for i, r := range t.Rows {
			first := slices.IndexFunc(t.Rows, func(o Row) bool { return o.Subject == r.Subject && o.level() == r.level() && o.Ranked && o.Step == "" })
			if !r.Ranked || r.Step != "" || first == i || m.given != nil && m.given(r.Mode) {
				continue
			}
			if c, s, ok := compareRows(t.Rows[first], r, m, t.Look); ok {
				steps, ps = append(steps, step{t.Rows[first], r, c, s}), append(ps, s.P)
			}
		}
		var parts []string
		for i, holm := range stats.Holm(ps) {
			steps[i].c.conclude(steps[i].s, holm, len(steps))
			parts = append(parts, f.ofConnections(steps[i]))
		}
		if len(parts) > 0 {
			out = append(out, fmt.Sprintf("What more connections change in %s: %s.", f.name, strings.Join(parts, "; ")))
		}
	}
	return out
}

func (f finding) ofConnections(s step) string {
	return f.told(fmt.Sprintf("%s @ %d over %d instead of %s: ", s.row.Subject, s.row.Concurrency, s.row.Conns, plural.Of(s.from.Conns, "connection")), s)
}

// told is what with what the two rows say of it.
func (f finding) told(what string, s step) string {
	limited := ""
	if f.metric == "throughput" && (s.row.DriverLimited() || s.from.DriverLimited()) {
		limited = " (the driver was the limiter)"
	}
	switch {
	case s.c.Detected:
		return what + f.change(s.c) + limited
	case s.c.SmallestEffect == nil:
		return what + "can't be told in " + plural.Of(s.c.Rounds, "round")
	case s.c.equal():
		return what + "the same in every round"
	}
	return what + fmt.Sprintf("no difference detected (%s would have been seen)", percent(*s.c.SmallestEffect))
}

// atConns is the level of a row, with the connections where a subject has rows that differ in them alone.
func atConns(rows []Row, r Row) string {
	if slices.ContainsFunc(rows, func(o Row) bool { return o.Subject == r.Subject && o.at() == r.at() && o.Conns != r.Conns }) {
		return r.at() + " over " + plural.Of(r.Conns, "connection")
	}
	return r.at()
}
