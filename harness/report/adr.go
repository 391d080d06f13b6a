package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bakeoff/internal/plural"
)

// ADR is an architecture decision record in the form of MADR 4, filled with what this run can say. It decides nothing: what a run measures is a
// part of such a decision, and the rest (who maintains it, what clients speak already) is not in a result file. Where the reader must write, it says so.
var ADR = Format{Name: "adr", Doc: "an architecture decision record (MADR), filled with this run; the decision is left to you", Write: writeADR}

// toWrite marks what is left to the reader.
const toWrite = "**To be written:** "

func writeADR(w io.Writer, t Tables) error {
	d := layout(t, documentForm)
	a := &adr{t: t, d: d}
	a.front()
	a.context()
	a.drivers()
	a.options()
	a.capacity()
	a.outcome()
	a.prosAndCons()
	a.risks()
	a.more()
	return writeAll(w, "adr", a.b.String())
}

// adr writes one record.
type adr struct {
	t Tables
	d document
	b strings.Builder
}

func (a *adr) heading(text string) { fmt.Fprintf(&a.b, "\n## %s\n", text) }

func (a *adr) para(text string) { fmt.Fprintf(&a.b, "\n%s\n", text) }

// list is a list of texts from the file; none says so in the words of the caller.
func (a *adr) list(texts []string, none string) {
	fmt.Fprintln(&a.b)
	for _, s := range texts {
		fmt.Fprintf(&a.b, "- %s\n", EscapeMarkdown(clean(s)))
	}
	if len(texts) == 0 {
		fmt.Fprintf(&a.b, "- %s\n", none)
	}
}

func (a *adr) front() {
	fmt.Fprintf(&a.b, "---\nstatus: proposed\n")
	if !a.t.Started.IsZero() {
		fmt.Fprintf(&a.b, "date: %s\n", a.t.Started.UTC().Format(time.DateOnly))
	}
	fmt.Fprintf(&a.b, "decision-makers: # to be written\n---\n\n# Which RPC protocol: %s\n", EscapeMarkdown(clean(strings.Join(a.t.subjectNames(), ", "))))
}

func (a *adr) context() {
	a.heading("Context and Problem Statement")
	a.para(toWrite + "what the services do, who calls them, and what made the question come up.")
	var loads []string
	for _, ranked := range []bool{true, false} {
		for _, rows := range sectionsOf(a.t.Rows, ranked) {
			var levels []string
			for _, r := range rows {
				if !slices.Contains(levels, r.at()) {
					levels = append(levels, r.at())
				}
			}
			s := rows[0].key().section() + " at " + strings.Join(levels, ", ")
			if !slices.Contains(loads, s) {
				loads = append(loads, s)
			}
		}
	}
	a.para("What was measured, and on which machine:")
	a.list(slices.Concat(a.d.head, prefixed("workload ", loads)), "nothing: there are no trials yet")
}

func prefixed(prefix string, texts []string) []string {
	var out []string
	for _, s := range texts {
		out = append(out, prefix+s)
	}
	return out
}

// drivers are the figures with their intervals, what they say, and what they can't.
func (a *adr) drivers() {
	a.heading("Decision Drivers")
	a.para(toWrite + "what else weighs: clients that exist, tools, streaming, people who know it.")
	a.para("Measured, with the doubt beside each figure:")
	for _, s := range a.d.sections {
		fmt.Fprintf(&a.b, "\n### %s\n", EscapeMarkdown(s.title))
		for _, g := range s.grids {
			fmt.Fprintf(&a.b, "\n%s\n\n%s\n", EscapeMarkdown(g.title), g.markdown())
		}
	}
	if len(a.d.sections) == 0 {
		a.para(a.d.empty)
	}
	for _, l := range a.d.legend {
		a.para(EscapeMarkdown(l))
	}
	a.para("What it says:")
	a.list(a.t.Words, "nothing yet")
	a.para("What can't be told apart:")
	var same []string
	for _, c := range a.t.Comparisons {
		if !c.Detected && documentForm.shown(c.Metric) && c.Step == "" {
			same = append(same, fmt.Sprintf("%s of %s and %s: %s", titleOf(c.Metric), strings.TrimSpace(rowName(a.t.Rows, c.row())), c.Baseline, c.Text))
		}
	}
	none := "every figure that is compared shows a difference"
	if len(a.t.Comparisons) == 0 {
		none = "nothing was compared"
	}
	a.list(same, none)
}

func (a *adr) options() {
	a.heading("Considered Options")
	var all []string
	for _, name := range a.t.subjectNames() {
		text := name
		for _, s := range a.t.Subjects {
			if s.Name == name && s.Doc != "" {
				text += ": " + s.Doc
			}
		}
		for _, n := range a.t.NotRanked {
			if n.Subject == name {
				text += " (not ranked: " + n.Reason + ")"
			}
		}
		all = append(all, text)
	}
	a.list(all, "none")
}

// capacity is what a load would need; the tables of it stand among the drivers.
func (a *adr) capacity() {
	a.heading("Capacity and Cost")
	c := a.t.Capacity
	if c == nil {
		a.para("No load was named: `bakeoff report FILE -o adr --load 50000/s --core-price 0.04/h` works out the cores for one, and what they cost.")
		return
	}
	var lines []string
	for _, cr := range c.Rows {
		name := strings.TrimSpace(rowName(a.t.Rows, cr.row()))
		if cr.Server == nil {
			lines = append(lines, name+": unknown, for the server's CPU time is")
			continue
		}
		s := fmt.Sprintf("%s: %s of the server for %s", name, cr.Server.text("cores"), c.load())
		if cr.Month != nil {
			s += ", " + cr.Month.text("a month")
		}
		lines = append(lines, s)
	}
	a.list(lines, "no row is ranked")
	a.para(EscapeMarkdown(c.legend()))
}

// text is a range in words.
func (r Range) text(unit string) string {
	s := fmt.Sprintf("%s %s [%s to %s]", digits(r.Median), unit, digits(r.Low), digits(r.High))
	if r.TooFew {
		s += " (too few rounds for an interval: the whole range)"
	}
	return s
}

func (a *adr) outcome() {
	a.heading("Decision Outcome")
	a.para(toWrite + "the option that was chosen, and why. This record does not choose: the figures above are one driver among others.")
	fmt.Fprintf(&a.b, "\n### Consequences\n")
	a.para(toWrite + "what becomes easier, and what harder.")
	fmt.Fprintf(&a.b, "\n### Confirmation\n")
	a.para(toWrite + "how to see later that it still holds. `bakeoff compare OLD.jsonl NEW.jsonl --fail-if 'server_cpu_per_req>+5%'` is one way.")
}

// risks are the doubts about the figures: those of the run, then those of rows, by the numbers that stand in the tables.
func (a *adr) risks() {
	a.heading("Risks")
	a.para("Doubts about these figures, which the run raised itself:")
	var all []string
	for _, w := range a.t.Warnings {
		all = append(all, w.Text)
	}
	if a.t.Interrupted {
		all = append(all, fmt.Sprintf("%d of %s were made", a.t.Present, plural.Of(a.t.Planned, "trial")))
	}
	if words := a.t.connectionWords(); words != "" {
		all = append(all, words)
	}
	for i, n := range a.d.doubts {
		of := strings.Join(n.rows, ", ")
		if len(a.d.rows) > 2 && !slices.ContainsFunc(a.d.rows, func(row string) bool { return !slices.Contains(n.rows, row) }) {
			of = "all rows"
		}
		all = append(all, fmt.Sprintf("[%d] %s: %s", i+1, of, n.text()))
	}
	a.list(all, "none was raised")
}

func (a *adr) more() {
	a.heading("More Information")
	var all []string
	for _, f := range a.t.Files {
		name := EscapeMarkdown(clean(filepath.Base(f)))
		if to := a.t.linkTo(f); to != "" {
			name = fmt.Sprintf("[%s](<%s>)", name, link(to))
		}
		all = append(all, name+": the raw results; `bakeoff report FILE` makes every table of them again")
	}
	if len(a.t.Command) > 0 {
		all = append(all, "made by "+EscapeMarkdown(clean(strings.Join(a.t.Command, " "))))
	}
	fmt.Fprintln(&a.b)
	for _, s := range all {
		fmt.Fprintf(&a.b, "- %s\n", s)
	}
	if len(all) == 0 {
		fmt.Fprintln(&a.b, "- the raw results are not in a file")
	}
}

// link is a path as the target of a link between angle brackets.
func link(path string) string {
	return strings.NewReplacer("%", "%25", "<", "%3C", ">", "%3E", `\`, "%5C", "#", "%23", "?", "%3F").Replace(clean(filepath.ToSlash(path)))
}
