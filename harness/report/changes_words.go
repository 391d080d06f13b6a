package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bakeoff/internal/plural"
)

// titles are what the figures are called in sentences and above tables; the others go by their names.
var titles = map[string]string{
	"throughput": "throughput", "latency_p50": "median latency", "latency_p90": "p90 latency", "latency_p99": "p99 latency", "latency_p999": "p99.9 latency",
	serverCPU: "server CPU per request", clientCPU: "client CPU per request", storeCPU: "store CPU per request",
	"bytes_sent_per_req": "bytes sent per request", "bytes_received_per_req": "bytes received per request", "server_rss": "server memory", "cores_per_10k": "cores for 10,000 req/s",
}

func titleOf(metric string) string {
	if t, ok := titles[metric]; ok {
		return t
	}
	return metric
}

// words says what changed, what did not as far as can be told, and what can't be compared.
func (c *Changes) words() []string {
	changed, same := c.metricWords()
	out := append([]string{}, changed...)
	if len(c.Changes) > 0 && len(changed) == 0 {
		out = append(out, "No change was detected.")
	}
	out = append(out, same...)
	if len(c.Changes) == 0 {
		out = append(out, c.nothing())
	}
	for _, n := range c.Incomparable {
		out = append(out, n.sentence())
	}
	for _, k := range c.Checks {
		out = append(out, k.sentence())
	}
	if unshown := c.Unshown(); unshown != "" {
		out = append(out, unshown+".")
	}
	return out
}

// nothing says why no figure is compared.
func (c *Changes) nothing() string {
	if empty := c.empty(); len(empty) > 0 {
		return fmt.Sprintf("There is no trial with figures in %s: nothing can be compared.", strings.Join(empty, " and in "))
	}
	if len(c.same) > 0 {
		return "The files have the same trials: nothing new was measured, and nothing can be compared."
	}
	return "The files have no row in common that could be compared."
}

// Unshown says how many checks passed only because the rounds could not show otherwise; "" where each that passed is shown to.
func (c *Changes) Unshown() string {
	n, passed := 0, 0
	var least float64
	for _, k := range c.Checks {
		if k.Result != CheckPassed {
			continue
		}
		if passed++; !k.Shown {
			n++
			least = max(least, math.Abs(*k.FailsFrom))
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s that passed may hide a change beyond the limit: the rounds could not have shown one short of up to %s; more rounds, or --control, show smaller ones",
		n, plural.Of(passed, "check"), percent(least))
}

// empty names the files in which nothing was measured.
func (c *Changes) empty() []string {
	var files []string
	for _, s := range []Side{c.Old, c.New} {
		if s.Measured == 0 {
			files = append(files, s.File)
		}
	}
	return slices.Compact(files)
}

// suspectWords come first in every format: a change of the machine looks like one of a subject.
func (c *Changes) suspectWords() string {
	if len(c.Suspects) == 0 {
		return "Machine, versions and settings are the same in both files, as far as they are recorded."
	}
	var parts []string
	for _, s := range c.Suspects {
		parts = append(parts, s.String())
	}
	return "Suspect these first, for they differ between the files: " + strings.Join(parts, "; ") + "."
}

// metricWords are a sentence for each metric that changed, and one for each that did not.
func (c *Changes) metricWords() (changed, same []string) {
	var tooFew int
	for _, metric := range metricNames() {
		var did, not []string
		var effects []float64 // the smallest that could have been seen
		for _, ch := range c.Changes {
			switch {
			case ch.Metric != metric:
			case ch.Detected:
				did = append(did, strings.TrimSpace(fmt.Sprintf("%s %s [%s to %s] %s", c.name(ch), signed(ch.Ratio), signed(ch.Low), signed(ch.High), ch.Verdict)))
			case ch.SmallestEffect == nil:
				tooFew++
			case ch.equal():
				not = append(not, c.name(ch)+" (equal in all rounds)")
			default:
				not, effects = append(not, c.name(ch)), append(effects, *ch.SmallestEffect)
			}
		}
		if len(did) > 0 {
			changed = append(changed, fmt.Sprintf("Changed in %s: %s.", titleOf(metric), strings.Join(did, ", ")))
		}
		if len(not) > 0 {
			same = append(same, fmt.Sprintf("No change detected in %s: %s%s.", titleOf(metric), strings.Join(not, ", "), seen(effects)))
		}
	}
	if tooFew > 0 {
		same = append(same, fmt.Sprintf("%s can't show any difference, however large: both files need more rounds (10 are the default), or fewer figures must be compared.",
			plural.Of(tooFew, "comparison")))
	}
	return changed, same
}

// seen says how large a change could have been seen.
func seen(effects []float64) string {
	if len(effects) == 0 {
		return ""
	}
	least, most := percent(slices.Min(effects)), percent(slices.Max(effects))
	if least == most {
		return fmt.Sprintf(" (%s would have been seen)", least)
	}
	return fmt.Sprintf(" (one of %s to %s would have been seen)", least, most)
}

// name is short where the files hold one workload, mode and store.
func (c *Changes) name(ch Change) string {
	if slices.ContainsFunc(c.Changes, func(o Change) bool { return o.section() != ch.section() }) {
		return rowName(nil, ch.row()) + " (" + ch.section() + ")"
	}
	return strings.TrimSpace(rowName(nil, ch.row()))
}

// Name is what the row is called in sentences: with its level, and its rate where it has one.
func (k RowKey) Name() string { return strings.TrimSpace(rowName(nil, k.row())) }

func (k RowKey) row() Row {
	return Row{Subject: k.Subject, Workload: k.Workload, Step: k.Step, Mode: k.Mode, Store: k.Store, Concurrency: k.Concurrency, Rate: k.Rate, Arrivals: k.Arrivals,
		Conns: k.Conns}
}

// section names what rows must have in common to stand in one table.
func (k RowKey) section() string {
	loop := ""
	if k.Mode != "" {
		loop = k.Mode + " loop"
	}
	return strings.Join(slices.DeleteFunc([]string{k.Workload, loop, k.Store}, func(s string) bool { return s == "" }), ", ")
}

func (n Incomparable) sentence() string {
	what := n.Name() + " (" + n.section() + ")"
	if n.Metric != "" {
		what = titleOf(n.Metric) + " of " + what
	}
	return fmt.Sprintf("Not compared: %s: %s.", what, strings.TrimSuffix(n.Reason, "."))
}

func (k Check) sentence() string {
	row := ""
	if name := k.Name(); name != "" {
		row = ", " + name
	}
	return fmt.Sprintf("Limit %s%s: %s: %s.", k.Limit, row, strings.ToUpper(k.Result), strings.TrimSuffix(k.Text, "."))
}
