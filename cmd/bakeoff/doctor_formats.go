package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"bakeoff/harness/doctor"
	"bakeoff/harness/report"
	"bakeoff/internal/printable"
)

// findingFormats are how findings are written, the default first.
var findingFormats = []report.FormatOf[[]doctor.Finding]{
	{Name: report.Text.Name, Doc: "for a terminal of 80 columns: each finding, and below it what to do", Write: findingText(80)},
	{Name: report.Wide.Name, Doc: "the same, 130 columns wide", Write: findingText(130)},
	{Name: report.Markdown.Name, Doc: "for a readme or an issue: a table", Write: findingMarkdown},
	{Name: report.JSON.Name, Doc: report.JSON.Doc, Write: func(w io.Writer, all []doctor.Finding) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}},
}

// findingText breaks long text behind the first two columns.
func findingText(width int) func(io.Writer, []doctor.Finding) error {
	return func(w io.Writer, all []doctor.Finding) error {
		const left = 22
		var b strings.Builder
		indent := func(s string) string {
			lines := strings.Split(text.WrapSoft(printable.Line(s), width-left), "\n")
			for i, l := range lines {
				lines[i] = strings.TrimRight(l, " ")
			}
			return strings.Join(lines, "\n"+strings.Repeat(" ", left))
		}
		for _, f := range all {
			fmt.Fprintf(&b, "%-7s  %-11s  %s\n", f.Level, f.Name, indent(f.Found))
			if f.Advice != "" {
				fmt.Fprintf(&b, "%-7s  %-11s  %s\n", "", "", indent("-> "+f.Advice))
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	}
}

func findingMarkdown(w io.Writer, all []doctor.Finding) error {
	tw := table.NewWriter()
	tw.Style().Markdown.PadContent = true // it is read as plain text, too
	tw.AppendHeader(table.Row{"level", "check", "found", "what to do"})
	for _, f := range all {
		tw.AppendRow(table.Row{string(f.Level), f.Name, report.EscapeMarkdown(printable.Line(f.Found)), report.EscapeMarkdown(printable.Line(f.Advice))})
	}
	_, err := io.WriteString(w, tw.RenderMarkdown()+"\n")
	return err
}
