package report

import (
	"fmt"
	"slices"
	"strings"

	"bakeoff/harness/stats"
)

// protected are the figures that TLS is held responsible for.
var protected = slices.Concat(findings, []finding{{"client_cpu_per_req", "client CPU per request", "more", "less"}})

// byTLS says for each subject that was measured plain and over TLS what TLS changes: the two are paired within rounds, which no
// other baseline shows.
func (t *Tables) byTLS() []string {
	plain := map[string]string{}
	for _, s := range t.Subjects {
		if s.Plain != "" {
			plain[s.Name] = s.Plain
		}
	}
	var out []string
	for _, f := range protected {
		m := Metrics[slices.IndexFunc(Metrics, func(m Metric) bool { return m.Name == f.metric })]
		var steps []step
		var ps []float64
		for _, r := range t.Rows {
			from := slices.IndexFunc(t.Rows, func(o Row) bool {
				return o.Subject == plain[r.Subject] && o.level() == r.level() && o.Conns == r.Conns && o.Ranked && o.Step == ""
			})
			if from < 0 || !r.Ranked || r.Step != "" || m.given != nil && m.given(r.Mode) {
				continue
			}
			if c, s, ok := compareRows(t.Rows[from], r, m, t.Look); ok {
				steps, ps = append(steps, step{t.Rows[from], r, c, s}), append(ps, s.P)
			}
		}
		var parts []string
		for i, holm := range stats.Holm(ps) {
			steps[i].c.conclude(steps[i].s, holm, len(steps))
			r := steps[i].row
			at := fmt.Sprintf("%s @ %s", plain[r.Subject], atConns(t.Rows, r))
			if slices.ContainsFunc(t.Rows, func(o Row) bool { return o.Workload != r.Workload }) {
				at += " in " + r.Workload
			}
			parts = append(parts, f.told(at+" ", steps[i]))
		}
		if len(parts) > 0 {
			out = append(out, fmt.Sprintf("What TLS changes in %s: %s.", f.name, strings.Join(parts, "; ")))
		}
	}
	return out
}
