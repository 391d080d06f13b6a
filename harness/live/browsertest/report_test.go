package browsertest

import (
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bakeoff/harness/live"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
)

// complete is a result file with two levels of three subjects.
const complete = "../../report/testdata/complete.jsonl"

func read(t *testing.T, path string) (result.File, report.Tables) {
	t.Helper()
	file, err := result.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := report.Build(file, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return file, tables
}

// throughputs are the medians of a table's throughput column, in its order, by the names of the rows.
func throughputs(b *browser) (names []string, values []float64) {
	b.t.Helper()
	for _, row := range eval[[][]string](b, `Array.from(document.querySelector("section.level table.sortable").tBodies[0].rows).map(function (r) {
		return [r.cells[0].firstChild.textContent.trim(), r.cells[3].textContent]; })`) {
		number, _, _ := strings.Cut(strings.TrimLeft(row[1], "*="), " ")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			b.t.Fatalf("%q: %v", row, err)
		}
		names, values = append(names, row[0]), append(values, v)
	}
	return names, values
}

// same checks that the page's throughputs are those of the tables, to the digits shown.
func same(b *browser, t report.Tables) {
	b.t.Helper()
	names, values := throughputs(b)
	if len(names) != len(t.Rows) {
		b.t.Fatalf("%d rows for %d", len(names), len(t.Rows))
	}
	for _, r := range t.Rows {
		i := slices.Index(names, r.Subject+" @ "+strconv.Itoa(r.Concurrency))
		if i < 0 {
			b.t.Fatalf("%s at %d is not among %q", r.Subject, r.Concurrency, names)
		}
		if want := r.Metrics["throughput"].Median / 1000; math.Abs(values[i]-want) > want*0.005 {
			b.t.Errorf("%s: %v k req/s on the page, %v in the file", names[i], values[i], want)
		}
	}
}

const headOf = `document.querySelector("section.level table.sortable").tHead.rows[0].cells[3]`

// The report is one file: it opens from a disk and asks for nothing else.
func TestReport(t *testing.T) {
	_, tables := read(t, complete)
	tables.Command = append(tables.Command, "--store", "aerospike://"+strings.Repeat("a-long-name.", 20)+"example:3000/test") // no sheet is as wide
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.HTML.Write(f, tables); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b := start(t)
	b.do(chromedp.Navigate("file://" + path))
	kinds := b.charts()
	for _, want := range []string{"throughput-by-level", "latency-by-level", "percentiles", "cpu-by-role", "bytes", "rounds-throughput", "rounds-latency_p99", "rounds-server_cpu_per_req"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("there is no chart %s: %q", want, kinds)
		}
	}
	if n := eval[int](b, `document.querySelectorAll("[data-chart=rounds-throughput] .mark").length`); n != 60 {
		t.Errorf("%d dots for 60 rounds", n)
	}
	same(b, tables)
	if bad := eval[int](b, `Array.from(document.querySelectorAll("table")).filter(function (t) { return !t.caption || !t.caption.textContent ||
		Array.from(t.querySelectorAll("th")).some(function (h) { return !h.scope; }); }).length`); bad > 0 {
		t.Errorf("%d tables without a caption or with heads that are of nothing", bad)
	}

	// By mouse and by keyboard.
	b.do(chromedp.Click(headOf+`.querySelector("button")`, chromedp.ByJSPath))
	if _, v := throughputs(b); !slices.IsSorted(v) || eval[string](b, headOf+`.getAttribute("aria-sort")`) != "ascending" {
		t.Errorf("not sorted upwards: %v", v)
	}
	b.do(chromedp.Focus(headOf+`.querySelector("button")`, chromedp.ByJSPath), chromedp.KeyEvent(kb.Enter))
	_, v := throughputs(b)
	if slices.Reverse(v); !slices.IsSorted(v) || eval[string](b, headOf+`.getAttribute("aria-sort")`) != "descending" {
		t.Errorf("not sorted downwards: %v", v)
	}
	same(b, tables)
	b.looks("report")
	b.prints()
	if asked := b.quiet(); slices.ContainsFunc(asked, func(u string) bool { return !strings.HasPrefix(u, "file://"+path) && !strings.HasPrefix(u, "data:") }) {
		t.Errorf("the report asked for %q", asked)
	}
}

// The live page moves while a file grows, and keeps how its tables are sorted.
func TestLive(t *testing.T) {
	file, _ := read(t, complete)
	path := filepath.Join(t.TempDir(), "growing.jsonl")
	w, err := result.Create(path, file.Header, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	add := func(trials []result.Trial) {
		for _, tr := range trials {
			if err := w.Append(tr); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(file.Trials[:30])
	server, err := live.New(live.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(t.Context(), l) }()
	t.Cleanup(func() { // t's context has ended by now
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	b := start(t)
	b.do(chromedp.Navigate("http://" + l.Addr().String() + "/"))
	b.until(`document.getElementById("count").textContent === "30 of 60 trials" && document.querySelector(".chart")`)
	b.charts()
	before := eval[string](b, `document.querySelector("[data-chart=rounds-throughput]").outerHTML`)
	b.do(chromedp.Click(headOf+`.querySelector("button")`, chromedp.ByJSPath))
	add(file.Trials[30:])
	b.until(`document.getElementById("count").textContent === "60 of 60 trials" && document.querySelectorAll("[data-chart=rounds-throughput] .mark").length === 60`)
	if after := eval[string](b, `document.querySelector("[data-chart=rounds-throughput]").outerHTML`); after == before {
		t.Error("the chart has not moved")
	}
	_, tables := read(t, path)
	same(b, tables)
	if _, v := throughputs(b); !slices.IsSorted(v) {
		t.Errorf("the new report is not sorted as the old one was: %v", v)
	}
	if errors := eval[[]string](b, `Array.from(document.querySelectorAll("#errors li")).map(function (e) { return e.textContent; })`); len(errors) != 3 || !strings.Contains(errors[0], "http at 800") {
		t.Errorf("errors %q", errors)
	}
	b.charts()
	if !eval[bool](b, `document.getElementById("now").hidden`) {
		t.Error("there is a place for a trial under way, of which nothing is known")
	}
	server.Tell(live.Progress{Doing: "block 10 of 10: http, measuring", Now: "29700 calls/s now, 3 of 59400 calls failed so far"})
	b.until(`document.getElementById("now").textContent === "29700 calls/s now, 3 of 59400 calls failed so far" && !document.getElementById("now").hidden`)
	b.looks("live")
	for _, u := range b.quiet() {
		if !strings.HasPrefix(u, "http://"+l.Addr().String()+"/") && !strings.HasPrefix(u, "data:") {
			t.Errorf("the page asked for %s", u)
		}
	}
}

// A folder is a list, and two of its runs stand side by side.
func TestFolder(t *testing.T) {
	b := start(t)
	server, err := live.New(live.Options{Path: "../../report/testdata"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(t.Context(), l) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	b.do(chromedp.Navigate("http://" + l.Addr().String() + "/"))
	b.looks("folder")
	b.do(chromedp.Click(`a[href="/file/complete.jsonl/"]`), chromedp.WaitVisible("#status"))
	b.until(`document.getElementById("count").textContent === "60 of 60 trials"`)
	b.do(chromedp.Click(`a[href="/"]`), chromedp.WaitVisible("form"), chromedp.Click(`a[href="/file/drifting.jsonl/"]`), chromedp.WaitVisible("#status"))
	b.until(`document.getElementById("count").textContent === "18 of 18 trials"`)
	kinds := b.charts()
	for _, want := range []string{"timeline-rate", "timeline-latency", "timeline-cpu-server", "timeline-cpu-client", "timeline-cpu-store"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("there is no chart %s: %q", want, kinds)
		}
	}
	b.looks("timelines")
	b.do(chromedp.Click(`a[href="/"]`), chromedp.WaitVisible("form"), chromedp.Click(`input[value="complete.jsonl"]`), chromedp.Click(`input[value="steps.jsonl"]`),
		chromedp.Click(`button[type=submit]`), chromedp.WaitVisible("nav"))
	if title := eval[string](b, `document.querySelector("h1").textContent`); !strings.Contains(title, "side by side") {
		t.Errorf("title %q", title)
	}
	b.looks("beside")
	b.quiet()
}
