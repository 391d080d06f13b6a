package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

// HTML is one file that can be mailed: it asks the network for nothing, and opens from a disk. What it shows works without its
// script, which only sorts the tables.
var HTML = Format{Name: "html", Doc: "one file for a browser, without network: charts, sortable tables, environment, options, how to reproduce", Write: writeHTML}

// HTMLStyle and HTMLScript are what a page needs that shows HTMLBody. When its contents are replaced, the page tells the script by an event "report" at
// the document.
var (
	//go:embed html/style.css
	HTMLStyle string
	//go:embed html/sort.js
	HTMLScript string
	//go:embed html/page.tmpl
	pageText string
)

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"inc": func(i int) int { return i + 1 }}).Parse(pageText))

func writeHTML(w io.Writer, t Tables) error { return htmlOf(w, newPage(t)) }

func htmlOf(w io.Writer, p page) error {
	p.Style = template.HTML("<style>" + HTMLStyle + "</style>")     // #nosec: both are ours
	p.Script = template.HTML("<script>" + HTMLScript + "</script>") // #nosec
	p.Policy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'",
		digest(HTMLStyle), digest(HTMLScript))
	return execute(w, "page", p)
}

// HTMLBody is what stands on the page, without head and script: for pages that change.
func HTMLBody(t Tables) ([]byte, error) {
	var b bytes.Buffer
	err := execute(&b, "report", newPage(t))
	return b.Bytes(), err
}

// HTMLBodyBeside is HTMLBody for runs side by side.
func HTMLBodyBeside(b Beside) ([]byte, error) {
	var out bytes.Buffer
	err := execute(&out, "report", pageOf(b.layout(documentForm)))
	return out.Bytes(), err
}

func execute(w io.Writer, name string, p page) error {
	var b bytes.Buffer // an error in its middle shall not leave half a page
	if err := pageTemplate.ExecuteTemplate(&b, name, p); err != nil {
		return fmt.Errorf("write html: %w", err)
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("write html: %w", err)
	}
	return nil
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(sum[:])
}
