package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// ChangeFormats lists those of a comparison of two files, the default first.
var ChangeFormats = []ChangeFormat{
	{Name: Text.Name, Doc: "for a terminal of 80 columns: a table for each figure, then the findings in words", Write: changeText(narrowForm, bare), Colour: changeText(narrowForm, emphasised)},
	{Name: Wide.Name, Doc: "the same with the ends of all intervals, the rounds, and the p-values before their correction", Write: changeText(wideForm, bare),
		Colour: changeText(wideForm, emphasised)},
	{Name: Markdown.Name, Doc: Markdown.Doc, Write: func(w io.Writer, c Changes) error { return markdownOf(w, c.layout(documentForm)) }},
	{Name: JSON.Name, Doc: JSON.Doc, Write: func(w io.Writer, c Changes) error { return jsonOf(w, c) }},
	{Name: HTML.Name, Doc: HTML.Doc, Write: func(w io.Writer, c Changes) error { return htmlOf(w, pageOf(c.layout(documentForm))) }},
	{Name: BenchFmt.Name, Alias: BenchFmt.Alias, Doc: "for benchstat -col side: the rounds of both files as Go benchmark lines", Write: writeChangeBenchFmt},
	{Name: JUnit.Name, Doc: "for the test reports of a CI: a case for each row and limit, failed where it is broken, an error where that can't be told", Write: writeChangeJUnit},
}

func changeText(f form, p paint) func(io.Writer, Changes) error {
	return func(w io.Writer, c Changes) error { return textOf(w, c.layout(f), f, p) }
}

// writeChangeBenchFmt writes the rounds of what was compared, with side: old or side: new as their configuration. benchstat lays the two beside
// each other with -col side. What differs between the files is a comment: as a configuration it would keep them from being compared.
func writeChangeBenchFmt(w io.Writer, c Changes) error {
	var head strings.Builder
	fmt.Fprintf(&head, "# old: %s\n# new: %s\n# %s\n", clean(c.Old.File), clean(c.New.File), clean(c.suspectWords()))
	if c.Control != "" {
		fmt.Fprintf(&head, "# the control %s divides nothing here: these are the figures as they were measured\n", clean(c.Control))
	}
	for _, n := range c.Incomparable {
		fmt.Fprintf(&head, "# %s\n", clean(n.sentence()))
	}
	head.WriteString(benchUnits())
	if err := writeAll(w, "benchfmt", head.String()); err != nil {
		return err
	}
	var keys []RowKey
	var rows []Row // to name them apart
	for _, ch := range c.Changes {
		if !slices.Contains(keys, ch.RowKey) {
			keys, rows = append(keys, ch.RowKey), append(rows, ch.row())
		}
	}
	out := benchfmt.NewWriter(w)
	for side, name := range []string{"old", "new"} {
		for i, k := range keys {
			r := rows[i]
			r.Metrics = map[string]Value{}
			for _, ch := range c.Changes {
				if ch.RowKey == k {
					r.Metrics[ch.Metric] = []Value{ch.Old, ch.New}[side]
					r.Calls = ch.calls[side]
				}
			}
			for _, calls := range r.Calls {
				res := &benchfmt.Result{Config: benchConfig(r, benchEntry{"pkg", "bakeoff"}, benchEntry{"side", name}), Name: benchName(rows, r), Iters: int(calls.Value),
					Values: benchValues(r, calls.Round)}
				if len(res.Values) == 0 || res.Iters == 0 {
					continue // as in the report of each
				}
				if err := out.Write(res); err != nil {
					return fmt.Errorf("write benchfmt: %w", err)
				}
			}
		}
	}
	return nil
}

// writeChangeJUnit writes a suite for the comparison as a whole, whose case fails where nothing could be compared, and one for each limit.
func writeChangeJUnit(w io.Writer, c Changes) error {
	all := junitSuites{Name: "bakeoff compare"}
	whole := junitCase{Name: "there is something to compare", Class: "bakeoff.compare", Out: clean(c.suspectWords())}
	for _, s := range c.Words {
		whole.Out += "\n" + clean(s)
	}
	if len(c.Changes) == 0 {
		whole.Failures = []junitProblem{{"nothing_compared", clean(c.nothing())}}
	}
	all.add(junitSuite{Name: "bakeoff compare", Timestamp: junitTime(c.New.Started), Cases: []junitCase{whole}})
	var limits []string
	suites := map[string]junitSuite{}
	for _, k := range c.Checks {
		s := suites[k.Limit]
		if s.Name == "" {
			limits, s = append(limits, k.Limit), junitSuite{Name: clean(k.Limit), Timestamp: junitTime(c.New.Started)}
		}
		one := junitCase{Name: clean(strings.TrimSpace(k.Name() + " (" + k.section() + ")")), Class: clean("bakeoff.compare." + k.Metric)}
		switch k.Result {
		case CheckFailed:
			one.Failures = []junitProblem{{"limit", clean(k.Text)}}
		case CheckUnknown:
			one.Errors = []junitProblem{{"unknown", clean(k.Text)}}
		default:
			one.Out = clean(k.sentence())
		}
		s.Cases = append(s.Cases, one)
		suites[k.Limit] = s
	}
	for _, l := range limits {
		all.add(suites[l])
	}
	return all.write(w)
}
