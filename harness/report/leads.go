package report

import (
	"slices"

	"bakeoff/harness/stats"
)

// The values of Row.Leads.
const (
	LeadBest = "best" // the best of its level, and told apart from every other row there
	LeadTied = "tied" // the best or one that is not told apart from it: nobody is known to be the best
)

// ledMetrics are the figures by which rows lead: those that the tables compare, and what a capacity plan needs.
var ledMetrics = []string{"throughput", "latency_p50", "latency_p99", serverCPU, "cores_per_10k", "server_rss"}

// lead says for each figure and level which row is the best, or which may be. All ranked rows of a level are compared with one another, paired
// within rounds, and the p-values are corrected over all pairs of the report for that figure: the best is picked after looking, so what
// it was picked from must count. A throughput or latency that the driver had a part in, in some row, leads nowhere.
func (t *Tables) lead() {
	for _, m := range Metrics {
		if slices.Contains(ledMetrics, m.Name) {
			t.leadIn(m)
		}
	}
}

// duel is two rows of one level, by their places, and what the rounds say of them.
type duel struct {
	a, b int
	s    stats.Comparison
}

func (t *Tables) leadIn(m Metric) {
	var duels []duel
	var ps []float64
	levels := t.contests(m)
	for _, rows := range levels {
		for i, a := range rows {
			for _, b := range rows[i+1:] {
				if _, s, ok := compareRows(t.Rows[a], t.Rows[b], m, t.Look); ok {
					duels, ps = append(duels, duel{a, b, s}), append(ps, s.P)
				}
			}
		}
	}
	apart := map[[2]int]bool{}
	for i, holm := range stats.Holm(ps) {
		d := duels[i]
		apart[[2]int{d.a, d.b}] = d.s.Detected(holm)
		apart[[2]int{d.b, d.a}] = apart[[2]int{d.a, d.b}]
	}
	for _, rows := range levels {
		best := slices.MinFunc(rows, func(a, b int) int {
			va, vb := t.Rows[a].Metrics[m.Name].Median, t.Rows[b].Metrics[m.Name].Median
			if m.Better == Higher {
				va, vb = vb, va
			}
			switch {
			case va < vb:
				return -1
			case va > vb:
				return 1
			}
			return 0
		})
		tied := slices.DeleteFunc(slices.Clone(rows), func(r int) bool { return r != best && apart[[2]int{best, r}] })
		word := LeadTied
		if len(tied) == 1 {
			word = LeadBest
		}
		for _, r := range tied {
			if t.Rows[r].Leads == nil {
				t.Rows[r].Leads = map[string]string{}
			}
			t.Rows[r].Leads[m.Name] = word
		}
	}
}

// contests are the places of the ranked rows with a figure above zero, of which there are ratios, by level and step; only those where there are two or more.
func (t *Tables) contests(m Metric) [][]int {
	type contest struct {
		level
		step string
	}
	var order []contest
	rows := map[contest][]int{}
	limited := map[contest]bool{}
	for i, r := range t.Rows {
		if v := r.Metrics[m.Name]; !(v.Median > 0) || !r.Ranked || m.isGiven(r.Mode) {
			continue
		}
		c := contest{r.level(), r.Step}
		if len(rows[c]) == 0 {
			order = append(order, c)
		}
		rows[c] = append(rows[c], i)
		limited[c] = limited[c] || t.unrankedFigure(m.Name, r)
	}
	var all [][]int
	for _, c := range order {
		if len(rows[c]) > 1 && !limited[c] {
			all = append(all, rows[c])
		}
	}
	return all
}
