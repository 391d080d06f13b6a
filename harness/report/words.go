package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"bakeoff/harness/stats"
	"bakeoff/internal/plural"
)

// finding is a metric that sentences are made of.
type finding struct{ metric, name, more, less string }

var findings = findingsOf("throughput", serverCPU, "latency_p99")

// findingsOf are those of metrics, as sentences call them.
func findingsOf(metrics ...string) []finding {
	var fs []finding
	for _, m := range metrics {
		f := finding{m, titleOf(m), "more", "less"}
		switch {
		case strings.HasPrefix(m, "latency_"):
			f.more, f.less = "higher", "lower"
		case strings.HasPrefix(m, "bytes_"):
			f.less = "fewer"
		}
		fs = append(fs, f)
	}
	return fs
}

// words says in sentences who is ahead of the baseline, by how much, and what can't be told. With more than two levels
// it speaks of the lowest and the highest; the tables have them all.
func words(t Tables) []string {
	out := append([]string{}, t.findRateWords()...)
	if t.Baseline != "" {
		for _, rows := range sectionsOf(t.Rows, true) {
			for _, sentence := range t.sectionWords(rows) {
				if !slices.Contains(out, sentence) { // that rounds are too few is said once
					out = append(out, sentence)
				}
			}
		}
		if len(t.Comparisons) == 0 && t.FindRate == nil {
			out = append(out, t.nothingCompared())
		}
	}
	if w := t.connectionWords(); w != "" {
		out = append(out, w)
	}
	if w := t.limitedWords(); w != "" {
		out = append(out, w)
	}
	if w := t.invalidWords(); w != "" {
		out = append(out, w)
	}
	for _, n := range t.NotRanked {
		out = append(out, fmt.Sprintf("%s is not ranked: %s.", n.Subject, strings.TrimSuffix(n.Reason, ".")))
	}
	return out
}

// nothingCompared says why there is no comparison with the baseline.
func (t Tables) nothingCompared() string {
	measured := func(baseline bool) bool {
		return slices.ContainsFunc(t.Rows, func(r Row) bool { return (r.Subject == t.Baseline) == baseline && r.Rounds > 0 })
	}
	if measured(false) && !measured(true) {
		return fmt.Sprintf("%s, the baseline, has no figures, so that nothing is compared with it: --baseline chooses another.", t.Baseline)
	}
	return fmt.Sprintf("There is nothing to compare %s with.", t.Baseline)
}

func (t Tables) sectionWords(rows []Row) []string {
	var levels []string
	for _, r := range rows {
		if at := atConns(rows, r); !slices.Contains(levels, at) {
			levels = append(levels, at) // the rows are in order
		}
	}
	if len(levels) > 2 {
		levels = []string{levels[0], levels[len(levels)-1]}
	}
	var out []string
	var tooFew []Comparison
	for _, f := range findings {
		for _, at := range levels {
			var cs []Comparison
			for _, r := range rows {
				if atConns(rows, r) != at || r.Step != "" || t.limited(r, f.metric) {
					continue
				}
				c := t.Comparison(r, f.metric)
				switch {
				case c == nil:
				case c.Detected || c.SmallestEffect != nil:
					cs = append(cs, *c)
				default:
					tooFew = append(tooFew, *c)
				}
			}
			if len(cs) > 0 {
				out = append(out, f.sentence(cs, at+t.ofWorkload(rows[0])))
			}
		}
	}
	if len(tooFew) > 0 {
		c := slices.MinFunc(tooFew, func(a, b Comparison) int { return cmp.Compare(a.Rounds, b.Rounds) })
		var others []string
		for _, other := range tooFew {
			if !slices.Contains(others, other.Subject) {
				others = append(others, other.Subject)
			}
		}
		family := 0
		for _, other := range t.Comparisons {
			if other.Metric == c.Metric {
				family++
			}
		}
		out = append(out, fmt.Sprintf("%s can't tell a difference between %s and %s from chance: at least %d are needed%s.",
			plural.Of(c.Rounds, "round"), c.Baseline, strings.Join(others, ", "), stats.LeastRounds(family, t.Look), among(family)))
	}
	return out
}

// among says why more rounds are needed than for a single comparison.
func among(family int) string {
	if family < 2 {
		return ""
	}
	return fmt.Sprintf(", because each figure is compared in %d places, and the more are looked at the more differ by chance", family)
}

// sentence is about one metric at one level: those ahead of the baseline, best first, those behind, those not told apart.
func (f finding) sentence(cs []Comparison, at string) string {
	gain := func(c Comparison) float64 {
		if metricOf(f.metric).Better == Higher {
			return c.Ratio
		}
		return 1 / c.Ratio
	}
	slices.SortStableFunc(cs, func(a, b Comparison) int { return cmp.Compare(gain(b), gain(a)) })
	var ahead, behind, same []string
	for _, c := range cs {
		switch {
		case !c.Detected:
			if c.equal() {
				same = append(same, c.Subject+" (equal in every round)")
			} else {
				same = append(same, fmt.Sprintf("%s (%s would have been seen)", c.Subject, percent(*c.SmallestEffect)))
			}
		case gain(c) > 1:
			ahead = append(ahead, c.Subject+" "+f.change(c))
		default:
			behind = append(behind, c.Subject+" "+f.change(c))
		}
	}
	base := cs[0].Baseline
	s := fmt.Sprintf("In %s at %s, ", f.name, at)
	var parts []string
	switch {
	case len(ahead) > 0:
		parts = append(parts, "ahead of "+base+": "+strings.Join(ahead, ", "))
	case len(same) == 0:
		s += base + " is ahead; "
	}
	if len(behind) > 0 {
		parts = append(parts, "behind "+base+": "+strings.Join(behind, ", "))
	}
	if len(same) > 0 {
		parts = append(parts, "no difference detected between "+base+" and "+strings.Join(same, ", "))
	}
	return s + strings.Join(parts, "; ") + "."
}

// change is "23% more [20% to 25%]", or with whole factors "2.3 times as much [2.2 to 2.4]".
func (f finding) change(c Comparison) string {
	if c.Ratio >= 2 {
		return fmt.Sprintf("%s times as much [%s to %s]", digits(c.Ratio), digits(c.Low), digits(c.High))
	}
	if c.Ratio < 1 {
		return fmt.Sprintf("%s %s [%s to %s]", percent(1-c.Ratio), f.less, percent(1-c.High), percent(1-c.Low))
	}
	return fmt.Sprintf("%s %s [%s to %s]", percent(c.Ratio-1), f.more, percent(c.Low-1), percent(c.High-1))
}

// connectionWords warns when protocols and connection models are compared in one.
func (t Tables) connectionWords() string {
	var models []string
	differ := false
	for _, c := range t.Comparisons {
		if c.Conns == c.BaselineConns {
			continue
		}
		differ = true
		for _, m := range []string{c.Baseline + " " + InFlight(c.BaselineConns, c.Concurrency), c.Subject + " " + InFlight(c.Conns, c.Concurrency)} {
			if !slices.Contains(models, m) {
				models = append(models, m)
			}
		}
	}
	if !differ {
		return ""
	}
	return "The connections differ (" + strings.Join(models, ", ") + "), so the ratios are of protocol and connections together."
}

// limited says that a figure, or the one that it is compared with, is the driver's, and not ranked for it.
func (t Tables) limited(r Row, metric string) bool {
	b := t.baselineOf(r)
	return t.unrankedFigure(metric, r) || b != nil && t.unrankedFigure(metric, *b)
}

// limitedWords warns when throughput and latency are the driver's.
func (t Tables) limitedWords() string {
	var names []string
	for _, r := range t.Rows {
		if r.Step == "" && r.DriverLimited() {
			names = append(names, rowName(nil, r))
		}
	}
	if len(names) == 0 {
		return ""
	}
	asked := "neither is ranked, unless --rank-flagged asks for it"
	if t.RankFlagged {
		asked = "both are ranked as asked, though they say nothing about who is faster"
	}
	return "The driver was the limiter in most rounds of " + strings.Join(names, ", ") +
		": their throughput is a lower bound, and their latency that of driver and subject together; " + asked + "; compare CPU per request."
}
