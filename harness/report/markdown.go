package report

import (
	"fmt"
	"io"
	"strings"
)

// Markdown is for a readme, an issue or a wiki: the tables of Text as GitHub's dialect has them.
var Markdown = Format{Name: "markdown", Doc: "for a readme or an issue: the same tables in Markdown", Write: writeMarkdown}

func writeMarkdown(w io.Writer, t Tables) error { return markdownOf(w, layout(t, documentForm)) }

func markdownOf(w io.Writer, d document) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", EscapeMarkdown(d.title))
	list := func(lines []string) {
		if len(lines) > 0 {
			fmt.Fprintln(&b)
		}
		for _, l := range lines {
			fmt.Fprintf(&b, "- %s\n", EscapeMarkdown(l))
		}
	}
	paragraphs := func(lines []string) {
		for _, l := range lines {
			fmt.Fprintf(&b, "\n%s\n", EscapeMarkdown(l))
		}
	}
	list(d.head)
	for _, warning := range d.warnings {
		fmt.Fprintf(&b, "\n> **Warning:** %s\n", EscapeMarkdown(warning))
	}
	if len(d.sections) == 0 {
		paragraphs([]string{d.empty})
	}
	paragraphs(d.words)
	for _, s := range d.sections {
		fmt.Fprintf(&b, "\n## %s\n", EscapeMarkdown(s.title))
		for _, g := range s.grids {
			fmt.Fprintf(&b, "\n### %s\n\n%s\n", EscapeMarkdown(g.title), g.markdown())
		}
	}
	if len(d.doubts) > 0 {
		fmt.Fprintln(&b)
	}
	for i, n := range d.notes() {
		fmt.Fprintf(&b, "- \\[%d\\] %s\n", i+1, EscapeMarkdown(n))
	}
	paragraphs(d.legend)
	return writeAll(w, "markdown", b.String())
}

// markdown is the table in GitHub's dialect.
func (g grid) markdown() string {
	tw := g.writer(false, EscapeMarkdown)
	tw.Style().Markdown.PadContent = true // it is read as plain text, too
	return tw.RenderMarkdown()
}

// EscapeMarkdown keeps names and messages from being markup; brackets alone are none. The bars of tables are go-pretty's to escape.
func EscapeMarkdown(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "](", `]\(`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "~", `\~`,
)
