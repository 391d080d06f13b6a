package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// The names of Text and Wide.
const (
	textName = "table"
	wideName = "wide"
)

// Text is for a terminal of 80 columns: what a first look needs. Names in wide letters stand in line. Who is best, and where no difference was
// detected, is told by marks and words, never by colour alone.
var Text = Format{Name: textName, Doc: "for a terminal of 80 columns: tables by theme, bars, then the findings in words",
	Write: textFormat(narrowForm, bare), Colour: textFormat(narrowForm, emphasised)}

// Wide is Text with all columns: for a terminal of 132.
var Wide = Format{Name: wideName, Doc: "the same with all columns and the ends of all intervals, 132 columns wide",
	Write: textFormat(wideForm, bare), Colour: textFormat(wideForm, emphasised)}

// textWidth is where sentences are broken in a form without a width of its own.
const textWidth = 120

func textFormat(f form, p paint) func(io.Writer, Tables) error {
	return func(w io.Writer, t Tables) error { return textOf(w, layout(t, f), f, p) }
}

// paint is how a cell of a table looks.
type paint func(cell string) string

func bare(cell string) string { return cell }

// emphasised makes the best bold and what no difference was detected in faint; both say so in letters, too.
func emphasised(cell string) string {
	switch {
	case strings.HasPrefix(cell, markBest):
		return "\x1b[1m" + cell + "\x1b[0m"
	case strings.HasPrefix(cell, noDifference):
		return "\x1b[2m" + cell + "\x1b[0m"
	}
	return cell
}

func textOf(w io.Writer, d document, f form, p paint) error {
	var b strings.Builder
	width := cmp.Or(f.width, textWidth)
	para := func(lines ...string) {
		for _, l := range lines {
			fmt.Fprintln(&b, trimRight(text.WrapSoft(l, width)))
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
		para("", s.title, strings.Repeat("-", min(width, text.StringWidthWithoutEscSequences(s.title))))
		for _, g := range s.grids {
			para("", g.title)
			for _, part := range g.fit(f.width - gap) { // a rule is as wide as the last column with its gap
				fmt.Fprintln(&b, trimRight(part.writer(true, p).Render()))
			}
		}
		for _, c := range s.charts {
			para("", c.title)
			fmt.Fprintln(&b, strings.Join(c.lines, "\n"))
		}
	}
	if len(d.doubts) > 0 {
		para("")
		for i, n := range d.notes() {
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
	return writeAll(w, f.name, b.String())
}

// writer puts a grid into a table of go-pretty, which knows the width of wide letters.
func (g grid) writer(separators bool, p paint) table.Writer {
	style := table.StyleDefault
	style.Options = table.Options{SeparateHeader: true}
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Box.MiddleHorizontal = "-"
	tw := table.NewWriter()
	tw.SetStyle(style)
	tw.AppendHeader(cells(g.head, bare))
	configs := make([]table.ColumnConfig, 0, len(g.head))
	for i := 1; i < len(g.head); i++ {
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	tw.SetColumnConfigs(configs)
	for i, row := range g.rows {
		if separators && i > 0 && g.levels[i] != g.levels[i-1] {
			tw.AppendSeparator()
		}
		tw.AppendRow(cells(row, p))
	}
	return tw
}

func cells(texts []string, p paint) table.Row {
	row := make(table.Row, len(texts))
	for i, s := range texts {
		row[i] = p(s)
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
