package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"bakeoff/internal/plural"
)

// BesideFormat is a documented way to write Beside.
type BesideFormat = FormatOf[Beside]

// BesideFormats lists those of runs side by side, the default first.
var BesideFormats = []BesideFormat{
	{Name: Text.Name, Doc: Text.Doc, Write: func(w io.Writer, b Beside) error {
		return textOf(w, b.layout(narrowForm), narrowForm, bare)
	}},
	{Name: Wide.Name, Doc: Wide.Doc, Write: func(w io.Writer, b Beside) error { return textOf(w, b.layout(wideForm), wideForm, bare) }},
	{Name: Markdown.Name, Doc: Markdown.Doc, Write: func(w io.Writer, b Beside) error { return markdownOf(w, b.layout(documentForm)) }},
	{Name: JSON.Name, Doc: JSON.Doc, Write: func(w io.Writer, b Beside) error { return jsonOf(w, b) }},
	{Name: CSV.Name, Doc: CSV.Doc, Write: writeBesideCSV},
	{Name: HTML.Name, Doc: HTML.Doc, Write: func(w io.Writer, b Beside) error { return htmlOf(w, pageOf(b.layout(documentForm))) }},
}

// FindBeside is Find for runs side by side.
func FindBeside(name string) (BesideFormat, error) {
	return FindFormat("format of several runs", name, BesideFormats)
}

// besideMetrics are the figures that stand side by side for people; JSON and CSV have all.
var besideMetrics = []string{"throughput", "latency_p50", "latency_p99", serverCPU, clientCPU, storeCPU, "cores_per_10k", "server_rss"}

func (b Beside) layout(f form) document {
	f.charts = false
	d := document{title: "bakeoff report: " + plural.Of(len(b.Runs), "run") + " side by side", empty: "There are no trials yet."}
	for i, r := range b.Runs {
		d.head = append(d.head, clean(fmt.Sprintf("%s: %s, %s, %d of %s, %s%s", r.Name, strings.Join(r.Files, " + "), r.Experiment, r.Measured, plural.Of(r.Planned, "trial"),
			plural.Of(r.Rounds, "round"), when(r.Started))))
		if i > 0 {
			d.words = append(d.words, clean(r.differences(b.Runs[0].Name)))
		}
	}
	for _, w := range b.Warnings {
		d.warnings = append(d.warnings, clean(w.Text))
	}
	for _, rows := range b.sections() {
		s := section{title: clean(rows[0].section())}
		for _, metric := range besideMetrics {
			if g, ok := d.besideGrid(b, rows, metric, f); ok {
				s.grids = append(s.grids, g)
			}
		}
		d.sections = append(d.sections, s)
	}
	if len(d.sections) > 0 {
		d.legend = []string{f.legend(Tables{}), "Nothing is tested here: bakeoff compare OLD NEW says what changed between two files, and what can't be told."}
	}
	return d
}

// differences says in a sentence what is other than in the first run.
func (r Run) differences(first string) string {
	if len(r.Differs) == 0 {
		return fmt.Sprintf("%s and %s have machine, versions and settings in common, as far as they are recorded.", first, r.Name)
	}
	var all []string
	for _, s := range r.Differs {
		all = append(all, s.String())
	}
	return fmt.Sprintf("From %s to %s this differs: %s.", first, r.Name, strings.Join(all, "; "))
}

// sections are the rows by workload, loop and store.
func (b Beside) sections() [][]BesideRow {
	var places []string
	for _, r := range b.Rows {
		if !slices.Contains(places, r.section()) {
			places = append(places, r.section())
		}
	}
	all := make([][]BesideRow, len(places))
	for _, r := range b.Rows {
		i := slices.Index(places, r.section())
		all[i] = append(all[i], r)
	}
	return all
}

func (d *document) besideGrid(b Beside, rows []BesideRow, metric string, f form) (g grid, ok bool) {
	var values []float64
	var named []Row // to name them apart
	for _, r := range rows {
		named = append(named, r.row())
		for _, c := range r.Cells {
			if c != nil {
				if v, known := c.Metrics[metric]; known {
					values = append(values, v.Median)
				}
			}
		}
	}
	if len(values) == 0 {
		return g, false
	}
	s := scaleOf(values, unitOf(metric))
	g = grid{title: clean(strings.TrimSuffix(titleOf(metric)+", "+s.unit, ", ")), head: []string{"subject @ conc."}}
	for _, r := range b.Runs {
		g.head = append(g.head, clean(r.Name))
	}
	for _, r := range rows {
		line := []string{rowName(named, r.row())}
		some := false
		for _, c := range r.Cells {
			line = append(line, d.besideCell(c, metric, s, f))
			some = some || line[len(line)-1] != "-"
		}
		if some {
			g.add(r.row(), line)
		}
	}
	return g, true
}

// besideCell is a figure with the numbers of what takes its row out of the ranking.
func (d *document) besideCell(c *BesideCell, metric string, s scale, f form) string {
	if c == nil {
		return "-"
	}
	v, known := c.Metrics[metric]
	if !known {
		return "-"
	}
	var notes []int
	for _, flag := range c.Flags {
		if !c.Ranked && flag.keepsOut() {
			notes = append(notes, d.note(flag.Kind, flag.Text, ""))
		}
	}
	return f.cell(s, v) + marks(notes)
}

// keepsOut says that the flag takes its row out of the ranking.
func (f Flag) keepsOut() bool {
	return f.Unranks || f.Kind == FlagNotConformant || f.Kind == FlagNotChecked
}

// writeBesideCSV writes a line for each row, figure and run.
func writeBesideCSV(w io.Writer, b Beside) error {
	c := newCSV(w)
	c.Write([]string{"run", "files", "subject", "workload", "step", "mode", "store", "concurrency", "rate", "arrivals", "conns", "ranked", "metric", "unit", "median", "low", "high"}) // errors stay with the writer until Flush
	for _, r := range b.Rows {
		for i, cell := range r.Cells {
			if cell == nil {
				continue
			}
			for _, m := range Metrics {
				if v, ok := cell.Metrics[m.Name]; ok {
					c.Write([]string{b.Runs[i].Name, strings.Join(b.Runs[i].Files, " "), r.Subject, r.Workload, r.Step, r.Mode, r.Store, strconv.Itoa(r.Concurrency), r.Rate, r.Arrivals,
						strconv.Itoa(r.Conns), strconv.FormatBool(cell.Ranked), m.Name, v.Unit, exact(v.Median), exact(v.Low), exact(v.High)})
				}
			}
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}
