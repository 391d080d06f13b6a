package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bakeoff/harness/stats"
	"bakeoff/internal/plural"
	"bakeoff/internal/printable"
)

// document is what the formats for people have in common: small tables by theme, and sentences. All text in it is clean:
// names and messages come from a file, and may hold anything.
type document struct {
	title    string
	head     []string // lines
	sections []section
	empty    string // what to say where there are no sections
	legend   []string
	notes    []string // notes[i] is number i+1
	words    []string
	warnings []string
}

// section is the rows of one workload, mode and store; ranked ones, or those that are not.
type section struct {
	title string
	grids []grid
}

type grid struct {
	title  string
	head   []string
	rows   [][]string
	levels []string // of the rows: a line is drawn where it changes
}

// column is one column of a grid of metrics.
type column struct {
	head   string // without the unit
	metric string
	scale  *scale // nil: found from the values
	shared string // columns that share a name here share the scale that is found
}

// theme is a grid of metrics.
type theme struct {
	title   string
	columns []column
	steps   bool // rows of steps, too
}

var themes = []theme{
	paceTheme,
	{title: "Latency of the calls that succeeded", steps: true, columns: []column{
		{head: "p50", metric: "latency_p50", shared: "time"}, {head: "p90", metric: "latency_p90", shared: "time"},
		{head: "p99", metric: "latency_p99", shared: "time"}, {head: "p99.9", metric: "latency_p999", shared: "time"},
		{head: "max", metric: "latency_max", shared: "time"},
	}},
	{title: "Service time of the calls that succeeded, from when they were sent", steps: true, columns: []column{
		{head: "p50", metric: "service_p50", shared: "time"}, {head: "p90", metric: "service_p90", shared: "time"},
		{head: "p99", metric: "service_p99", shared: "time"}, {head: "p99.9", metric: "service_p999", shared: "time"},
		{head: "max", metric: "service_max", shared: "time"},
	}},
	{title: "CPU per request, and cores for 10,000 req/s", columns: []column{
		{head: "server", metric: "server_cpu_per_req", scale: &microseconds}, {head: "client", metric: "client_cpu_per_req", scale: &microseconds},
		{head: "store", metric: "store_cpu_per_req", scale: &microseconds},
		{head: "cores/10k", metric: "cores_per_10k", scale: &plain}, {head: "server's", metric: "server_cores_per_10k", scale: &plain},
	}},
	{title: "CPU in use as % of a core, memory, bytes per request", columns: []column{
		{head: "server", metric: "server_cores", scale: &percentOf}, {head: "client", metric: "client_cores", scale: &percentOf},
		{head: "store", metric: "store_cores", scale: &percentOf},
		{head: "server RSS", metric: "server_rss"}, {head: "sent", metric: "bytes_sent_per_req"}, {head: "received", metric: "bytes_received_per_req"},
	}},
}

// compared are the columns of the grid of ratios; JSON and CSV have those of the other metrics.
var compared = []column{
	{head: "req/s", metric: "throughput"}, {head: "p50", metric: "latency_p50"}, {head: "p99", metric: "latency_p99"},
	{head: "server CPU/req", metric: "server_cpu_per_req"}, {head: "server RSS", metric: "server_rss"},
}

func layout(t Tables) document {
	d := document{title: clean(strings.Join([]string{"bakeoff", t.Experiment}, " ")), empty: "There are no trials yet."}
	d.head = headLines(t)
	for _, w := range t.Warnings {
		d.warnings = append(d.warnings, clean(w.Text))
	}
	for _, w := range t.Words {
		d.words = append(d.words, clean(w))
	}
	for _, ranked := range []bool{true, false} {
		for _, rows := range sectionsOf(t.Rows, ranked) {
			d.sections = append(d.sections, d.section(t, rows, ranked))
		}
	}
	if len(d.sections) > 0 {
		d.legend = []string{"Figures are medians of the rounds: [ ] is the " + t.confidence() + " interval, ( ) the whole range where rounds are too few for one, no brackets where all rounds agree. " +
			"'-' is unknown or not to be had; 'too few' calls in a round for a p99.9 (10,000 are needed)."}
	}
	if slices.ContainsFunc(t.Comparisons, func(c Comparison) bool { return shown(c.Metric) }) {
		d.legend = append(d.legend, fmt.Sprintf("Ratios are to %s, paired within rounds, with %s intervals; p-values are corrected by Holm's method for each figure over the whole report. "+
			"'no diff.' is: no difference detected; in brackets about the smallest difference that four in five such runs would have shown.", clean(t.Baseline), t.confidence()))
	}
	if p := t.Precision; p != nil {
		d.legend = append(d.legend, fmt.Sprintf("The rounds were doubled until the interval of %s was within %s, or the time was spent. This is look %d at them: so that all looks "+
			"together err no more often than one at 95%%, its intervals and differences have %s.", clean(p.Figure), percent(p.Target), t.Look, t.confidence()))
	}
	return d
}

// confidence is the level of the intervals: "95%", or that of the look.
func (t Tables) confidence() string {
	return strconv.FormatFloat(100*(1-stats.LookAlpha(t.Look)), 'g', 6, 64) + "%"
}

func shown(metric string) bool {
	return slices.ContainsFunc(compared, func(c column) bool { return c.metric == metric })
}

func headLines(t Tables) []string {
	var lines []string
	line := func(parts ...string) {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		if len(parts) > 0 {
			lines = append(lines, clean(strings.Join(parts, ", ")))
		}
	}
	var stores []string
	for _, r := range t.Rows {
		if r.Store != "" && !slices.Contains(stores, r.Store) {
			stores = append(stores, r.Store)
		}
	}
	prefixed := func(prefix, s string) string {
		if s == "" {
			return ""
		}
		return prefix + s
	}
	started := ""
	if !t.Started.IsZero() {
		started = t.Started.UTC().Format(time.DateTime) + " UTC"
	}
	line(prefixed("store ", strings.Join(stores, " and ")), plural.Of(t.Rounds, "round"), fmt.Sprintf("seed %d", t.Seed), prefixed("baseline ", t.Baseline), started)
	e := t.Environment
	cpus, procs := "", ""
	if e.CPUs > 0 {
		cpus = plural.Of(e.CPUs, "CPU")
	}
	if e.GOMAXPROCS > 0 {
		procs = "GOMAXPROCS " + strconv.Itoa(e.GOMAXPROCS)
	}
	line(e.CPUModel, cpus, strings.TrimSpace(e.OS+" "+e.Kernel), e.Arch, e.Go, procs)
	if t.Interrupted {
		lines = append(lines, fmt.Sprintf("%d of %s: the run was interrupted, or is not over yet", t.Present, plural.Of(t.Planned, "trial")))
	}
	if n := t.Present - t.Measured; n > 0 {
		lines = append(lines, fmt.Sprintf("%s without figures", plural.Of(n, "trial")))
	}
	return lines
}

// sectionsOf splits rows, which are in order, by workload, mode and store.
func sectionsOf(rows []Row, ranked bool) [][]Row {
	var all [][]Row
	var last level
	for _, r := range rows {
		if r.Ranked != ranked {
			continue
		}
		l := r.level().section()
		if len(all) == 0 || l != last {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], r)
		last = l
	}
	return all
}

func (d *document) section(t Tables, rows []Row, ranked bool) section {
	r := rows[0]
	var parts []string
	arrivals := ""
	if r.Arrivals != "" {
		arrivals = r.Arrivals + " arrivals"
	}
	for _, p := range []string{r.Workload, r.Mode + " loop", arrivals, r.Store} {
		if p != "" && p != " loop" {
			parts = append(parts, clean(p))
		}
	}
	s := section{title: strings.Join(parts, ", ")}
	if !ranked {
		s.title += ": not ranked, " + whyUnranked(t, rows)
	}
	labels := make([]string, len(rows))
	for i, r := range rows {
		labels[i] = d.label(rows, r)
	}
	s.grids = append(s.grids, outcomes(rows, labels))
	for _, th := range themes {
		if g, ok := th.grid(rows, labels); ok {
			s.grids = append(s.grids, g)
		}
	}
	if g, ok := d.ratios(t, rows); ok {
		s.grids = append(s.grids, g)
	}
	return s
}

// label names a row, with the numbers of its notes.
func (d *document) label(rows []Row, r Row) string {
	var notes []int
	for _, f := range r.Flags {
		notes = append(notes, d.note(f.Text))
	}
	return rowName(rows, r) + marks(notes)
}

// whyUnranked is the end of a section's title.
func whyUnranked(t Tables, rows []Row) string {
	if slices.ContainsFunc(rows, func(r Row) bool {
		return !slices.ContainsFunc(t.NotRanked, func(n NotRanked) bool { return n.Subject == r.Subject })
	}) {
		return "see the notes"
	}
	return "without proof of the agreed answers"
}

// rowName is "grpc @ 50", with the connections where the subject has rows that differ in them alone.
func rowName(rows []Row, r Row) string {
	name := clean(r.Subject)
	if slices.ContainsFunc(rows, func(o Row) bool {
		return o.Subject == r.Subject && o.Concurrency == r.Concurrency && o.Rate == r.Rate && o.Conns != r.Conns
	}) {
		name += " (" + plural.Of(r.Conns, "conn") + ")"
	}
	if r.Concurrency > 0 {
		name += " @ " + strconv.Itoa(r.Concurrency)
	}
	if r.Rate != "" {
		name += ", " + clean(r.Rate) + "/s"
	}
	if r.Step != "" {
		name = "  " + name + " " + clean(r.Step)
	}
	return name
}

// note gives the number of a note; the same text has one number.
func (d *document) note(text string) int {
	text = clean(text)
	i := slices.Index(d.notes, text)
	if i < 0 {
		i = len(d.notes)
		d.notes = append(d.notes, text)
	}
	return i + 1
}

func marks(notes []int) string {
	if len(notes) == 0 {
		return ""
	}
	slices.Sort(notes)
	var s []string
	for _, n := range slices.Compact(notes) {
		s = append(s, strconv.Itoa(n))
	}
	return " [" + strings.Join(s, ",") + "]"
}

func outcomes(rows []Row, labels []string) grid {
	s := scaleOf(medians(rows, "throughput"), unitRate)
	g := grid{title: "Throughput and outcomes (calls summed over the rounds)",
		head: []string{"subject @ conc.", "conns x in flight", "rounds", s.unit, "ok", "failed", "cut off", "dropped"}}
	for i, r := range rows {
		if r.Outcomes == nil {
			continue
		}
		o, speed := r.Outcomes, "-"
		if v, ok := r.Metrics["throughput"]; ok {
			speed = s.cell(v)
		}
		line := []string{labels[i], InFlight(r.Conns, r.Concurrency), strconv.Itoa(r.Rounds), speed}
		for _, n := range []uint64{o.OK, o.Failed, o.CutOff, o.Dropped} {
			line = append(line, strconv.FormatUint(n, 10))
		}
		g.add(r, line)
	}
	return g
}

func (g *grid) add(r Row, line []string) {
	g.rows = append(g.rows, line)
	g.levels = append(g.levels, strconv.Itoa(r.Concurrency)+" "+r.Rate)
}

func medians(rows []Row, metrics ...string) []float64 {
	var vs []float64
	for _, r := range rows {
		for _, m := range metrics {
			if v, ok := r.Metrics[m]; ok {
				vs = append(vs, v.Median)
			}
		}
	}
	return vs
}

// grid fills a theme; ok is false if it does not apply to any of the rows.
func (th theme) grid(rows []Row, labels []string) (g grid, ok bool) {
	g = grid{title: th.title, head: []string{"subject @ conc."}}
	scales := make([]scale, len(th.columns))
	for i, c := range th.columns {
		metrics := []string{c.metric}
		for _, other := range th.columns {
			if c.shared != "" && other.shared == c.shared {
				metrics = append(metrics, other.metric)
			}
		}
		if c.scale != nil {
			scales[i] = *c.scale
		} else {
			scales[i] = scaleOf(medians(rows, metrics...), unitOf(c.metric))
		}
		g.head = append(g.head, strings.TrimSpace(c.head+" "+scales[i].unit))
	}
	for i, r := range rows {
		if r.Step != "" && !th.steps {
			continue
		}
		line := []string{labels[i]}
		for j, c := range th.columns {
			v, known := r.Metrics[c.metric]
			why, applies := r.Unknown[c.metric]
			ok = ok || (known || applies) && c.metric != "in_flight" // which every mode has
			switch {
			case known:
				line = append(line, scales[j].cell(v))
			case strings.HasPrefix(why, tooFewCalls):
				line = append(line, "too few")
			default:
				line = append(line, "-")
			}
		}
		g.add(r, line)
	}
	return g, ok
}

func unitOf(metric string) string {
	for _, m := range Metrics {
		if m.Name == metric {
			return m.Unit
		}
	}
	return ""
}

// ratios is the grid of the rows against the baseline.
func (d *document) ratios(t Tables, rows []Row) (g grid, ok bool) {
	g = grid{title: "Ratio to " + clean(t.Baseline) + " at the same level", head: []string{"subject @ conc."}}
	for _, c := range compared {
		g.head = append(g.head, c.head)
	}
	for _, r := range rows {
		var notes []int
		var cells []string
		some := false
		for _, col := range compared {
			c := t.Comparison(r, col.metric)
			cells = append(cells, ratioCell(c))
			if c != nil {
				some = true
				for _, n := range c.Notes {
					notes = append(notes, d.note(n))
				}
			}
		}
		if some {
			g.add(r, append([]string{rowName(rows, r) + marks(notes)}, cells...))
		}
	}
	return g, len(g.rows) > 0
}

func ratioCell(c *Comparison) string {
	switch {
	case c == nil:
		return "-"
	case c.Detected && c.Low == c.High:
		return factors(c.Ratio)[0]
	case c.Detected:
		f := factors(c.Ratio, c.Low, c.High)
		return fmt.Sprintf("%s [%s, %s]", f[0], f[1], f[2])
	case c.SmallestEffect == nil:
		return "too few rounds"
	case c.equal():
		return "equal"
	}
	return "no diff. (" + percent(*c.SmallestEffect) + ")"
}

// factors prints ratios alike; near 1 the third decimal is what counts.
func factors(ratios ...float64) []string {
	near := slices.ContainsFunc(ratios, func(r float64) bool { return r > 0.95 && r < 1.05 })
	var out []string
	for _, r := range ratios {
		switch {
		case r < 0.1 || r >= 9.995:
			out = append(out, digits(r))
		case near:
			out = append(out, strconv.FormatFloat(r, 'f', 3, 64))
		default:
			out = append(out, strconv.FormatFloat(r, 'f', 2, 64))
		}
	}
	return out
}

// clean makes text safe for a terminal and a single line.
var clean = printable.Line
