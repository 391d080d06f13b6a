package report

import (
	"fmt"
	"slices"
	"strings"

	"bakeoff/harness/result"
	"bakeoff/harness/stats"
	"bakeoff/internal/plural"
)

// step is one row beside another of the same subject, from which it differs in one thing: in the number of connections, or in TLS.
type step struct {
	from, row Row
	c         Comparison
	s         stats.Comparison
}

// steps compares in one figure each ranked row with the one that from gives for it, where that is ranked too: the two are paired within rounds, which
// no other baseline shows. The p-values are corrected over them all.
func (t *Tables) steps(metric string, from func(r, o Row) bool) []step {
	m := metricOf(metric)
	var steps []step
	var ps []float64
	for _, r := range t.Rows {
		o := t.beside(r, from)
		if o == nil || m.isGiven(r.Mode) {
			continue
		}
		if c, s, ok := compareRows(*o, r, m, t.Look); ok {
			steps, ps = append(steps, step{*o, r, c, s}), append(ps, s.P)
		}
	}
	for i, holm := range stats.Holm(ps) {
		steps[i].c.conclude(steps[i].s, holm, len(steps))
	}
	return steps
}

// beside is the first row that from gives for one at its level; nil where there is none, and where not both are ranked. Rows of steps are beside none.
func (t *Tables) beside(r Row, from func(r, o Row) bool) *Row {
	if !r.Ranked || r.Step != "" {
		return nil
	}
	at := slices.IndexFunc(t.Rows, func(o Row) bool { return o.level() == r.level() && o.Ranked && o.Step == "" && from(r, o) })
	if at < 0 {
		return nil
	}
	return &t.Rows[at]
}

// stepWords says for each figure what has changed from one row to the other: a sentence that begins with what, and names each row by name. The
// figures of which nothing can be told share one. With them come the comparisons.
func (t *Tables) stepWords(what string, figures []finding, from func(r, o Row) bool, name func(step) string) (out []string, all []Comparison) {
	var untold []string
	rounds := 0
	for _, f := range figures {
		var parts []string
		steps := t.steps(f.metric, from)
		for _, s := range steps {
			parts, all = append(parts, f.told(name(s), s)), append(all, s.c)
		}
		switch {
		case len(steps) == 0:
		case slices.ContainsFunc(steps, func(s step) bool { return !s.tooFew() }):
			out = append(out, fmt.Sprintf("What %s in %s: %s.", what, f.name, strings.Join(parts, "; ")))
		default:
			untold, rounds = append(untold, f.name), max(rounds, steps[0].c.Rounds)
		}
	}
	if len(untold) > 0 {
		out = append(out, fmt.Sprintf("What %s in %s can't be told in %s.", what, strings.Join(untold, ", "), plural.Of(rounds, "round")))
	}
	return out, all
}

// tooFew says that the rounds are too few to show any difference.
func (s step) tooFew() bool { return !s.c.Detected && s.c.SmallestEffect == nil }

// told is what with what the two rows say of it.
func (f finding) told(what string, s step) string {
	limited := ""
	if byDriver(f.metric, s.row, s.from) {
		limited = " (the driver was the limiter)"
	}
	switch {
	case s.c.Detected:
		return what + f.change(s.c) + limited
	case s.tooFew():
		return what + "can't be told in " + plural.Of(s.c.Rounds, "round")
	case s.c.equal():
		return what + "the same in every round"
	}
	return what + fmt.Sprintf("no difference detected (%s would have been seen)", percent(*s.c.SmallestEffect))
}

// byConnections says for each subject that was measured over several numbers of connections what their number changes.
func (t *Tables) byConnections() []string {
	fewest := func(r, o Row) bool { return o.Subject == r.Subject && o.Conns < r.Conns } // the rows are in order
	words, _ := t.stepWords("more connections change", findings, fewest, func(s step) string {
		return fmt.Sprintf("%s @ %d over %d instead of %s%s: ", s.row.Subject, s.row.Concurrency, s.row.Conns, plural.Of(s.from.Conns, "connection"), t.ofWorkload(s.row))
	})
	return words
}

// processors are the figures that what is done to the bytes of a call is held responsible for.
var processors = slices.Concat(findings, findingsOf(clientCPU))

// byTLS says for each subject that was measured plain and over TLS what TLS changes.
func (t *Tables) byTLS() []string {
	plain := t.related(func(s result.Subject) string { return s.Plain })
	words, _ := t.stepWords("TLS changes", processors, plain, t.asBefore)
	return words
}

// related finds the row of the subject that of names, over the same connections.
func (t *Tables) related(of func(result.Subject) string) func(r, o Row) bool {
	names := map[string]string{}
	for _, s := range t.Subjects {
		if name := of(s); name != "" {
			names[s.Name] = name
		}
	}
	return func(r, o Row) bool { return o.Subject == names[r.Subject] && o.Conns == r.Conns }
}

// asBefore names a step by the row that it comes from.
func (t *Tables) asBefore(s step) string {
	return fmt.Sprintf("%s @ %s%s ", s.from.Subject, atConns(t.Rows, s.row), t.ofWorkload(s.row))
}

// atConns is the level of a row, with the connections where a subject has rows that differ in them alone.
func atConns(rows []Row, r Row) string {
	if slices.ContainsFunc(rows, func(o Row) bool { return o.Subject == r.Subject && o.at() == r.at() && o.Conns != r.Conns }) {
		return r.at() + " over " + plural.Of(r.Conns, "connection")
	}
	return r.at()
}
