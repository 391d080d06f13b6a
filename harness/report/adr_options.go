package report

import (
	"fmt"
	"slices"
	"strings"
)

// prosAndCons has what was measured of each option against the baseline, as arguments. What was not measured is for the reader to add.
func (a *adr) prosAndCons() {
	a.heading("Pros and Cons of the Options")
	a.para(toWrite + "what speaks for and against each beside the figures.")
	for _, name := range a.t.subjectNames() {
		fmt.Fprintf(&a.b, "\n### %s\n", EscapeMarkdown(clean(name)))
		a.list(a.arguments(name), "nothing was compared")
	}
}

// arguments are good, neutral or bad, in this order, as MADR has them.
func (a *adr) arguments(subject string) []string {
	if subject == a.t.Baseline {
		return []string{"the others are compared with it"}
	}
	for _, n := range a.t.NotRanked {
		if n.Subject == subject {
			return []string{"Bad, because " + n.Reason}
		}
	}
	var good, neutral, bad []string
	for _, r := range a.t.Rows {
		if r.Subject != subject || r.Step != "" {
			continue
		}
		for _, col := range documentForm.compared {
			c := a.t.Comparison(r, col.metric)
			if c == nil {
				continue
			}
			what := titleOf(c.Metric) + strings.TrimPrefix(strings.TrimSpace(rowName(a.t.Rows, r)), clean(subject))
			change := fmt.Sprintf("because %s differs from that of %s by %s [%s to %s]", what, c.Baseline, signed(c.Ratio), signed(c.Low), signed(c.High))
			switch {
			case !c.Detected:
				neutral = append(neutral, fmt.Sprintf("Neutral, because of %s: %s", what, c.Text))
			case a.t.limited(r, c.Metric):
				neutral = append(neutral, "Neutral, because the driver set "+what)
			case verdict(c.Metric, c.Ratio) == "better":
				good = append(good, "Good, "+change)
			default:
				bad = append(bad, "Bad, "+change)
			}
		}
	}
	return slices.Concat(good, neutral, bad)
}
