package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"bakeoff/harness/result"
)

// loaded are the reports that were made already: reading histograms takes long under the race detector. Nobody changes them.
var loaded = map[string]Tables{}

func load(t testing.TB, name string) Tables {
	t.Helper()
	if tables, ok := loaded[name]; ok {
		return tables
	}
	file, err := result.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := Build(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	loaded[name] = tables
	return tables
}

func render(t testing.TB, f Format, tables Tables) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, tables); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFind(t *testing.T) {
	for _, f := range All {
		if got, err := Find(f.Name); err != nil || got.Name != f.Name || f.Doc == "" {
			t.Errorf("%s: %+v, %v", f.Name, got, err)
		}
	}
	if f, err := Find("gobench"); err != nil || f.Name != BenchFmt.Name {
		t.Errorf("by its other name: %+v, %v", f, err)
	}
	_, err := Find("markdwon")
	if want := `unknown format "markdwon": did you mean "markdown"? (table, wide, markdown, `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// full is a writer without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAFullDiskIsAnError(t *testing.T) {
	for _, name := range []string{"complete", "empty"} {
		tables := load(t, name)
		for _, f := range All {
			if err := f.Write(full{}, tables); !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "write "+f.Name+": ") {
				t.Errorf("%s of %s: %v", f.Name, name, err)
			}
		}
	}
	if f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		defer f.Close()
		if err := Text.Write(f, load(t, "complete")); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("/dev/full: %v", err)
		}
	}
}

func TestTextFitsAndStandsInLine(t *testing.T) {
	for _, s := range synthetic {
		for _, f := range []struct {
			Format
			width int
		}{{Text, 80}, {Wide, 132}} {
			fits(t, s.name+" as "+f.Name, render(t, f.Format, load(t, s.name)), f.width)
		}
	}
}

// fits looks for lines that are too long, end in blanks, or do not stand in line.
func fits(t *testing.T, name, out string, most int) {
	t.Helper()
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		width := text.StringWidthWithoutEscSequences(line)
		if width > most || strings.HasSuffix(line, " ") {
			t.Errorf("%s:%d: %d columns, or blanks at the end: %q", name, i+1, width, line)
		}
		// Below a head whose last column is at the right, every row ends where the head does.
		if strings.HasPrefix(line, "subject @ conc.") {
			for _, row := range lines[i+2:] {
				if row == "" || strings.HasPrefix(row, "subject @ conc.") {
					break
				}
				if w := text.StringWidthWithoutEscSequences(row); w != width && !strings.HasPrefix(row, "---") {
					t.Errorf("%s: a row of %d columns under a head of %d: %q", name, w, width, row)
				}
			}
		}
	}
}

// The names that programs rely on, as the JSON of a complete run has them.
func TestJSONNames(t *testing.T) {
	var doc struct {
		Schema     *int
		Experiment *string
		Rows       []map[string]json.RawMessage
		Comparison []map[string]json.RawMessage `json:"comparisons"`
	}
	if err := json.Unmarshal([]byte(render(t, JSON, load(t, "complete"))), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema == nil || *doc.Schema != 1 || doc.Experiment == nil || *doc.Experiment != "datatype" || len(doc.Rows) != 6 || len(doc.Comparison) == 0 {
		t.Fatalf("schema %v, experiment %v, %d rows, %d comparisons", doc.Schema, doc.Experiment, len(doc.Rows), len(doc.Comparison))
	}
	has := func(what string, m map[string]json.RawMessage, names ...string) {
		for _, n := range names {
			if _, ok := m[n]; !ok {
				t.Errorf("%s has no %q", what, n)
			}
		}
	}
	object := func(raw json.RawMessage) (m map[string]json.RawMessage) {
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, r := range doc.Rows {
		has("a row", r, "subject", "mode", "concurrency", "conns", "rounds", "outcomes", "metrics", "flags")
		has("outcomes", object(r["outcomes"]), "started", "ok", "failed", "cut_off", "dropped")
		metrics := object(r["metrics"])
		has("metrics", metrics, "throughput", "latency_p50", "latency_p90", "latency_p99", "latency_p999", "latency_max", "latency_mean", "server_cpu_per_req",
			"client_cpu_per_req", "store_cpu_per_req", "cores_per_10k", "bytes_sent_per_req", "bytes_received_per_req", "server_rss")
		for name, m := range metrics {
			has(name, object(m), "unit", "median", "low", "high")
		}
	}
	for _, c := range doc.Comparison {
		has("a comparison", c, "subject", "baseline", "workload", "concurrency", "metric", "ratio", "low", "high", "p", "p_holm", "detected", "text")
	}
	// Without a store of its own there is no figure for it, and not a zero.
	if s := render(t, JSON, load(t, "single")); strings.Contains(s, `"store_cpu_per_req": {`) {
		t.Error("store_cpu_per_req for the store within the server")
	}
}

// TestJSONOfNothing holds a file with next to nothing in it to lists that are empty and not null, and to a seed that survives readers
// whose numbers have 53 bits.
func TestJSONOfNothing(t *testing.T) {
	f := fileOf(nil)
	f.Header.Seed = 1<<64 - 1 // as a double 18446744073709551616
	s := render(t, JSON, build(t, f, ""))
	for _, want := range []string{`"seed": 18446744073709551615,`, `"seed_text": "18446744073709551615"`, `"subjects": []`, `"warnings": []`, `"words": []`, `"rows": []`} {
		if !strings.Contains(s, want) {
			t.Errorf("no %s in:\n%s", want, s)
		}
	}
	c, err := Compare(f, f, ChangeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var changes bytes.Buffer
	if err := ChangeFormats[2].Write(&changes, c); err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{s, changes.String()} {
		if strings.Contains(doc, "null") {
			t.Errorf("null in:\n%s", doc)
		}
	}
}

// TestEveryAbsenceHasItsReason looks for each figure that a row could have, among those that are known and those that are not.
func TestEveryAbsenceHasItsReason(t *testing.T) {
	for _, s := range synthetic {
		for _, r := range load(t, s.name).Rows {
			for _, m := range Metrics {
				_, known := r.Metrics[m.Name]
				applies := (m.applies == nil || m.applies(r.Mode)) && (r.Step == "" || m.latency) && !m.hop // of which TestHops speaks
				if why := r.Unknown[m.Name]; known == (why != "") && applies {
					t.Errorf("%s: %s of %s %q: known %t, unknown for %q", s.name, m.Name, r.Subject, r.Step, known, why)
				}
			}
		}
	}
	for _, r := range load(t, "single").Rows { // grpc makes 1,800 calls in a round
		if why := r.Unknown["latency_p999"]; r.Subject == "grpc" && !strings.HasPrefix(why, "too few calls: ") {
			t.Errorf("p99.9 of grpc is unknown for %q", why)
		}
	}
}

// The CSV has the JSON's figures, exactly.
func TestCSVEqualsTables(t *testing.T) {
	for _, s := range synthetic {
		tables := load(t, s.name)
		lines, err := csv.NewReader(strings.NewReader(render(t, CSV, tables))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := map[string]int{}
		for i, name := range lines[0] {
			column[name] = i
		}
		got := map[string]float64{}
		for _, l := range lines[1:] {
			v, err := strconv.ParseFloat(l[column["median"]], 64)
			if err != nil {
				t.Fatal(err)
			}
			got[strings.Join([]string{l[column["subject"]], l[column["step"]], l[column["concurrency"]], l[column["metric"]]}, "/")] = v
		}
		n := 0
		for _, r := range tables.Rows {
			for name, v := range r.Metrics {
				n++
				key := fmt.Sprintf("%s/%s/%d/%s", r.Subject, r.Step, r.Concurrency, name)
				if got[key] != v.Median {
					t.Errorf("%s: %s is %v, want %v", s.name, key, got[key], v.Median)
				}
			}
		}
		if len(got) != n {
			t.Errorf("%s: %d figures, want %d", s.name, len(got), n)
		}
	}
}

func TestARowWithoutFiguresIsShown(t *testing.T) {
	f := fileOf([]string{"a"}, result.Trial{Subject: "a", Workload: "w", Mode: "closed", Concurrency: 5, Round: 1, Error: "the port is taken"})
	tables := build(t, f, "")
	for _, format := range []Format{Text, Markdown, JSON} {
		if s := render(t, format, tables); !strings.Contains(s, "the port is taken") {
			t.Errorf("%s does not say why:\n%s", format.Name, s)
		}
	}
	if s := render(t, CSV, tables); !strings.Contains(s, "a,w,,closed,,5,0,0,1,true,") || !strings.Contains(s, ",missing_rounds,,\n") {
		t.Errorf("csv:\n%s", s)
	}
}

func TestNumbers(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{digits(0), "0"}, {digits(1234567.8), "1234568"}, {digits(99.96), "100"}, {digits(99.94), "99.9"}, {digits(9.996), "10.0"}, {digits(1), "1.00"},
		{digits(0.9996), "1.00"}, {digits(0.0123), "0.012"}, {digits(0.00001234), "1.2e-05"}, {digits(-2.5), "-2.50"},
		{percent(0.0995), "10%"}, {percent(0.0994), "9.9%"}, {percent(-0.25), "25%"}, {percent(0), "0.0%"},
		{percent(0.00049), "0.05%"}, {percent(0.0004), "0.04%"}, {percent(-3e-7), "0.00003%"}, {percent(1e-12), "0.0%"}, {percent(0.996), "99.6%"}, {percent(0.99996), "99.996%"},
		{percent(1), "100%"}, {percent(1 - 1e-15), "100%"}, {percent(1.004), "100%"}, {percent(math.Inf(1)), "+Inf%"}, {percentage(0.99996, digits), "99.996%"}, {percentage(0.5, digits), "50.0%"}, {percentage(1, digits), "100%"},
		{signed(1.25), "+25%"}, {signed(0.75), "-25%"}, {signed(1), "+0.0%"},
		{InFlight(1, 50), "1 x 50"}, {InFlight(50, 50), "50 x 1"}, {InFlight(3, 50), "3 x 16.7"}, {InFlight(300, 5), "300 x <1"}, {InFlight(6, 5), "6 x <1"}, {InFlight(0, 50), "-"}, {InFlight(5, 0), "-"},
		{scaleOf([]float64{31_000, 800, 42_000}, unitRate).unit, "k req/s"}, // the middle one decides
		{scaleOf([]float64{0.3}, unitRate).unit, "req/s"},
		{scaleOf([]float64{0.0015, 0.2, 0.0004}, unitSeconds).unit, "ms"},
		{scaleOf([]float64{15e-6}, unitSeconds).unit, "us"},
		{scaleOf([]float64{31e6}, unitBytes).unit, "MiB"}, {scaleOf([]float64{121}, unitBytes).unit, "B"}, {scaleOf(nil, unitBytes).unit, "B"},
		{scale{1000, "k"}.cell(Value{Median: 31200, Low: 30100, High: 32000, Coverage: 0.97}), "31.2 [30.1, 32.0]"},
		{scale{1000, "k"}.cell(Value{Median: 31200, Low: 30100, High: 32000, Coverage: 0.75, TooFew: true}), "31.2 (30.1, 32.0)"},
		{scale{1, ""}.cell(Value{Median: 121, Low: 121, High: 121, Coverage: 0.97}), "121"},
		{strings.Join(factors(1.4, 1.3, 1.5), " "), "1.40 1.30 1.50"}, {strings.Join(factors(1.02, 1.01, 1.06), " "), "1.020 1.010 1.060"},
		{strings.Join(factors(12.3, 0.05), " "), "12.3 0.050"},
	} {
		if row.got != row.want {
			t.Errorf("got %q, want %q", row.got, row.want)
		}
	}
}

// Whatever stands in a result file, a report is made or refused, and its JSON is valid.
func FuzzReport(f *testing.F) {
	for _, s := range synthetic {
		b, err := os.ReadFile(filepath.Join("testdata", s.name+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 8000)])
	}
	f.Add([]byte(`{"schema":1,"kind":"bakeoff-header","planned":1,"subjects":[{"name":"a"}]}` + "\n" +
		`{"kind":"bakeoff-trial","subject":"a","round":1,"window":1e-320,"outcomes":{"started":0,"ok":0,"cut_off":0,"dropped":0},"elapsed":1e-320,"values":{"throughput":1e308,"server_cpu_per_req":1e308,"client_cpu_per_req":1e-320,"server_cpu":1e300}}`))
	for _, v := range []string{"1e15", "1e-18"} { // the ends of what is read
		f.Add([]byte(`{"schema":1,"kind":"bakeoff-header","planned":1,"subjects":[{"name":"a"}]}` + "\n" +
			strings.NewReplacer("1e-320", "1e-9", "1e308", v, "1e300", "1e9").Replace(`{"kind":"bakeoff-trial","subject":"a","round":1,"window":1e-320,"outcomes":{"started":0,"ok":0,"cut_off":0,"dropped":0},"elapsed":1e-320,"values":{"throughput":1e308,"server_rss":1e308,"client_cpu_per_req":1e-320,"server_cpu":1e300}}`)))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		file, err := result.Read(bytes.NewReader(in), "f")
		if err != nil {
			return
		}
		tables, err := Build(file, Options{})
		if err != nil {
			return
		}
		for _, format := range All {
			if err := format.Write(io.Discard, tables); err != nil {
				t.Errorf("%s: %v", format.Name, err)
			}
		}
		var any map[string]any
		if err := json.Unmarshal([]byte(render(t, JSON, tables)), &any); err != nil {
			t.Error(err)
		}
	})
}
