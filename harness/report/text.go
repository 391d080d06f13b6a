package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Text is for a terminal of 130 columns, without colours; names in wide letters stand in line.
var Text = Format{Name: "table", Doc: "for a terminal: tables by theme, then the findings in words", Write: writeText}

// textWidth is where sentences are broken. Tables are as wide as their figures.
const textWidth = 120

func writeText(w io.Writer, t Tables) error { return textOf(w, layout(t)) }

func textOf(w io.Writer, d document) error {
	var b strings.Builder
	para := func(lines ...string) {
		for _, l := range lines {
			fmt.Fprintln(&b, trimRight(text.WrapSoft(l, textWidth)))
		}
	}
	para(d.title)
	para(d.head...)
	for _, warning := range d.warnings {
		para("warning: " + warning)
	}
	if len(d.sections) == 0 {
		para("", d.empty)
	}
	for _, s := range d.sections {
		para("", s.title, strings.Repeat("-", text.StringWidthWithoutEscSequences(s.title)))
		for _, g := range s.grids {
			fmt.Fprintf(&b, "\n%s\n%s\n", g.title, trimRight(g.writer(true).Render()))
		}
	}
	if len(d.notes) > 0 {
		para("")
		for i, n := range d.notes {
			para(fmt.Sprintf("[%d] %s", i+1, n))
		}
	}
	if len(d.legend) > 0 {
		para("")
		para(d.legend...)
	}
	if len(d.words) > 0 {
		para("")
		para(d.words...)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// writer puts a grid into a table of go-pretty, which knows the width of wide letters.
func (g grid) writer(separators bool) table.Writer {
	style := table.StyleDefault
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Box.MiddleHorizontal = "-"
	tw := table.NewWriter()
	tw.SetStyle(style)
	tw.AppendHeader(cells(g.head))
	configs := make([]table.ColumnConfig, 0, len(g.head))
	for i := 1; i < len(g.head); i++ {
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	tw.SetColumnConfigs(configs)
	for i, row := range g.rows {
		if separators && i > 0 && g.levels[i] != g.levels[i-1] {
			tw.AppendSeparator()
		}
		tw.AppendRow(cells(row))
	}
	return tw
}

func cells(texts []string) table.Row {
	row := make(table.Row, len(texts))
	for i, s := range texts {
		row[i] = s
	}
	return row
}

func trimRight(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
