package report

import (
	"fmt"
	"slices"

	"bakeoff/harness/result"
	"bakeoff/harness/stats"
)

// compare sets every ranked row beside the baseline's row of the same level, metric by metric, and corrects each
// metric's p-values over the whole report: a reader looks down one column.
func (t *Tables) compare() {
	if t.Baseline == "" {
		return
	}
	byMetric := map[string][]int{} // places in t.Comparisons
	var all []stats.Comparison     // in the same places
	for _, r := range t.Rows {
		if r.Subject == t.Baseline || !r.Ranked {
			continue
		}
		b := t.baselineOf(r)
		if b == nil || !b.Ranked {
			continue
		}
		for _, m := range Metrics {
			if m.Better == Neither || m.isGiven(r.Mode) {
				continue
			}
			c, s, ok := compareRows(*b, r, m, t.Look)
			if !ok {
				continue
			}
			byMetric[m.Name] = append(byMetric[m.Name], len(t.Comparisons))
			t.Comparisons = append(t.Comparisons, c)
			all = append(all, s)
		}
	}
	for _, places := range byMetric {
		ps := make([]float64, len(places))
		for i, p := range places {
			ps[i] = t.Comparisons[p].P
		}
		for i, holm := range stats.Holm(ps) {
			t.Comparisons[places[i]].conclude(all[places[i]], holm, len(places))
		}
	}
}

// baselineOf is the baseline's row that r is compared with: of the same connections if there is one, else the only
// one. Of several with other connections none is more like r than the others.
func (t *Tables) baselineOf(r Row) *Row {
	var found []*Row
	for i := range t.Rows {
		b := &t.Rows[i]
		if b.Subject != t.Baseline || b.level() != r.level() || b.Step != r.Step {
			continue
		}
		if b.Conns == r.Conns {
			return b
		}
		found = append(found, b)
	}
	if len(found) == 1 {
		return found[0]
	}
	return nil
}

func (r Row) level() level {
	return level{r.Workload, r.Mode, r.Store, r.Concurrency, r.Rate, r.Arrivals}
}

// paired are the figures of the rounds that have both, round by round.
func paired(a, b Value) (as, bs []float64) {
	inA := map[int]float64{}
	for _, o := range a.Observations {
		inA[o.Round] = o.Value
	}
	for _, o := range b.Observations {
		if v, ok := inA[o.Round]; ok {
			as, bs = append(as, v), append(bs, o.Value)
		}
	}
	return as, bs
}

// compareRows pairs the rounds that both have.
func compareRows(base, r Row, m Metric, look int) (Comparison, stats.Comparison, bool) {
	bs, os := paired(base.Metrics[m.Name], r.Metrics[m.Name])
	s, ok := stats.CompareAt(bs, os, look)
	if !ok {
		return Comparison{}, s, false
	}
	c := Comparison{RowKey: r.place(), Baseline: base.Subject, BaselineConns: base.Conns, Metric: m.Name, Rounds: s.N, Ratio: s.Ratio, Low: s.Low, High: s.High, Coverage: s.Coverage, P: s.P}
	if width, enough := s.HalfWidth(); enough {
		c.HalfWidth = width
	} else {
		c.TooFew = true
	}
	if r.Conns != base.Conns {
		c.Notes = append(c.Notes, fmt.Sprintf("other connections: %s against %s of %s", InFlight(r.Conns, r.Concurrency), InFlight(base.Conns, base.Concurrency), base.Subject))
	}
	for _, row := range []Row{base, r} {
		if byDriver(m.Name, row) {
			c.Notes = append(c.Notes, fmt.Sprintf("the driver was the limiter in most rounds of %s", row.Subject))
		}
	}
	if base.notRestarted() || r.notRestarted() {
		c.Notes = append(c.Notes, "servers that ran already were not restarted between rounds: the rounds are less independent than the interval takes them for")
	}
	return c, s, true
}

// Comparison is that of a row and a metric with the baseline, or nil.
func (t Tables) Comparison(r Row, metric string) *Comparison {
	return comparisonOf(t.Comparisons, r, metric)
}

func comparisonOf(all []Comparison, r Row, metric string) *Comparison {
	for i := range all {
		if c := &all[i]; c.Metric == metric && c.Subject == r.Subject && c.Conns == r.Conns && c.Step == r.Step && c.row().level() == r.level() {
			return c
		}
	}
	return nil
}

// notRestarted says that the server of the row was not started afresh for each round.
func (r Row) notRestarted() bool {
	return slices.ContainsFunc(r.Flags, func(f Flag) bool { return f.Kind == result.WarnNotRestarted })
}

// conclude says what the p-value, corrected over a family of so many comparisons, allows to say.
func (c *Comparison) conclude(s stats.Comparison, holm float64, family int) {
	c.PHolm, c.Detected = holm, s.Detected(holm)
	effect, ok := s.SmallestEffect(family)
	switch {
	case c.Detected:
		c.Text = fmt.Sprintf("%s [%s, %s]", signed(c.Ratio), signed(c.Low), signed(c.High))
		return
	case !ok:
		c.Text = "no difference detected: too few rounds to see any"
		return
	case c.equal():
		c.Text = "no difference detected: equal in every round"
	default:
		c.Text = fmt.Sprintf("no difference detected; one of %s would have been seen", percent(effect))
	}
	c.SmallestEffect = &effect
}

// equal says that the two agree exactly, round by round.
func (c *Comparison) equal() bool { return c.Low == 1 && c.High == 1 }

// InFlight prints connections x calls in flight on each: "1 x 50" is one shared connection, "50 x 1" one for each call, and "300 x <1"
// more connections than calls.
func InFlight(conns, concurrency int) string {
	if conns <= 0 || concurrency <= 0 {
		return "-"
	}
	if conns > concurrency {
		return fmt.Sprintf("%d x <1", conns)
	}
	if concurrency%conns == 0 {
		return fmt.Sprintf("%d x %d", conns, concurrency/conns)
	}
	return fmt.Sprintf("%d x %s", conns, digits(float64(concurrency)/float64(conns)))
}
