package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"

	"bakeoff/harness/result"
)

// withGzip is a run in which http-gzip does half of what http does, at twice the CPU time, and with a quarter of the bytes; http-gzip is not compared with
// the baseline grpc in this.
func withGzip(t *testing.T) Tables {
	t.Helper()
	gzip := http
	gzip.name = "http-gzip"
	h := header("compression", 30, grpc, http, gzip)
	h.Subjects[2].Uncompressed = "http"
	var trials []result.Trial
	for round := 1; round <= 10; round++ {
		for _, workload := range []string{"payload-100k", "payload-100k-bytes"} {
			plain := http.trial(t, 16, round, "memory")
			squeezed := http.trial(t, 16, round, "memory")
			squeezed.Subject = gzip.name
			squeezed.Values[result.Throughput] /= 2
			squeezed.Values[result.ServerCPUPerReq] *= 2
			squeezed.Values[result.SentPerReq], squeezed.Values[result.ReceivedPerReq] = http.sent/4, http.received/4
			for _, tr := range []result.Trial{grpc.trial(t, 16, round, "memory"), plain, squeezed} {
				tr.Workload = workload
				trials = append(trials, tr)
			}
		}
	}
	tables, err := Build(result.File{Name: "f.jsonl", Header: h, Trials: trials}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func TestWhatGzipChanges(t *testing.T) {
	tables := withGzip(t)
	var words []string
	for _, w := range tables.Words {
		if strings.HasPrefix(w, "What gzip changes") {
			words = append(words, w)
		}
	}
	want := []string{
		"What gzip changes in throughput: http @ 16 with payload-100k 50% less [50% to 50%]; http @ 16 with payload-100k-bytes 50% less [50% to 50%].",
		"What gzip changes in server CPU per request: http @ 16 with payload-100k 2.00 times as much [2.00 to 2.00]; http @ 16 with payload-100k-bytes 2.00 times as much [2.00 to 2.00].",
		"What gzip changes in p99 latency: http @ 16 with payload-100k the same in every round; http @ 16 with payload-100k-bytes the same in every round.",
		"What gzip changes in client CPU per request: http @ 16 with payload-100k the same in every round; http @ 16 with payload-100k-bytes the same in every round.",
		"What gzip changes in bytes sent per request: http @ 16 with payload-100k 75% fewer [75% to 75%]; http @ 16 with payload-100k-bytes 75% fewer [75% to 75%].",
		"What gzip changes in bytes received per request: http @ 16 with payload-100k 75% fewer [75% to 75%]; http @ 16 with payload-100k-bytes 75% fewer [75% to 75%].",
	}
	if d := cmp.Diff(want, words); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	var read Tables
	if err := json.Unmarshal([]byte(render(t, JSON, tables)), &read); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(read.Compressed, func(c Comparison) bool { return c.Metric == "throughput" && c.Workload == "payload-100k" })
	if i < 0 || len(read.Compressed) != 2*len(squeezed) || read.Compressed[i].Subject != "http-gzip" || read.Compressed[i].Baseline != "http" || !read.Compressed[i].Detected ||
		read.Compressed[i].Ratio != 0.5 {
		t.Errorf("json: %+v", read.Compressed)
	}
}

func TestWhatGzipChangesInTooFewRounds(t *testing.T) {
	tables := Tables{Subjects: []result.Subject{{Name: "a"}, {Name: "a-gzip", Uncompressed: "a"}},
		Rows: []Row{madeUp("a", 50, "w", "throughput", 9, 8, 7), madeUp("a-gzip", 50, "w", "throughput", 4, 5, 6)}}
	for _, metric := range []string{serverCPU, "bytes_sent_per_req"} {
		for i := range tables.Rows {
			tables.Rows[i].Metrics[metric] = tables.Rows[i].Metrics["throughput"]
		}
	}
	want := []string{"What gzip changes in throughput, server CPU per request, bytes sent per request can't be told in 3 rounds."}
	if d := cmp.Diff(want, tables.byCompression()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestCompressedInTheTerminal has the distance of each subject from itself, and its bytes both ways, within 80 columns.
func TestCompressedInTheTerminal(t *testing.T) {
	out := render(t, Text, withGzip(t))
	for _, line := range strings.Split(out, "\n") {
		if w := text.StringWidthWithoutEscSequences(line); w > 80 {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	_, after, found := strings.Cut(out, "With gzip, beside the same without: ratios, and bytes for each request\n")
	if !found {
		t.Fatalf("there is no table of it:\n%s", out)
	}
	table, _, _ := strings.Cut(after, "\n\n")
	if got := strings.Count(table, "http-gzip @ 16 "); got == 0 || strings.Contains(table, "grpc") || strings.Contains(table, "http @ 16") {
		t.Errorf("want rows of http-gzip alone:\n%s", table)
	}
	for _, want := range []string{"0.50", "2.00", "equal", "310 -> 77.5", "260 -> 65.0", "req/s", "server CPU/req", "client CPU/req", "sent B", "received B"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	limited := withGzip(t)
	for i := range limited.Compressed {
		limited.Compressed[i].Notes = []string{"the driver was the limiter in most rounds of http-gzip"}
	}
	if s := render(t, Text, limited); !strings.Contains(s, "\nhttp-gzip @ 16 [1]   0.50 ") || !strings.Contains(s, "\n[1] the driver was the limiter in most rounds of http-gzip\n") {
		t.Errorf("the doubt about a ratio is not beside it:\n%s", s)
	}
	if s := render(t, Text, load(t, "complete")); strings.Contains(s, "gzip") {
		t.Errorf("nothing compresses, and it says:\n%s", s)
	}
}
