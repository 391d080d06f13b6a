package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

// small is a trial with figures that can be added up by hand: rate in req/s, CPU of server and client in seconds a call.
func small(subject string, round int, rate, server, client float64) result.Trial {
	return result.Trial{Subject: subject, Workload: "w", Mode: "closed", Concurrency: 10, Conns: 10, Round: round, Store: "memory", Elapsed: 2,
		Outcomes: result.Outcomes{Started: 8, OK: 5, Failed: map[string]uint64{"timeout": 1, "reset": 1}, CutOff: 1},
		Values: map[string]float64{result.Throughput: rate, result.ServerCPUPerReq: server, result.ClientCPUPerReq: client,
			result.ServerCPU: server * 5, result.ServerRSS: 1000}}
}

func fileOf(subjects []string, trials ...result.Trial) result.File {
	f := result.File{Name: "f.jsonl", Header: result.Header{Schema: 1, Experiment: "e", Planned: len(trials)}, Trials: trials}
	for _, s := range subjects {
		f.Header.Subjects = append(f.Header.Subjects, result.Subject{Name: s, Conformant: true})
	}
	return f
}

// build ranks all rows; TestUnranked is about those that have no place.
func build(t *testing.T, f result.File, baseline string) Tables {
	t.Helper()
	tables, err := Build(f, Options{Baseline: baseline, RankFlagged: true})
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func kinds(r Row) string {
	var ks []string
	for _, f := range r.Flags {
		ks = append(ks, f.Kind)
	}
	return strings.Join(ks, " ")
}

func TestArithmetic(t *testing.T) {
	var trials []result.Trial
	for round, rate := range []float64{100, 90, 80, 70, 60, 50} { // the machine slows down
		trials = append(trials,
			small("a", round+1, rate, 20e-6, 10e-6),
			small("b", round+1, rate*[]float64{1.3, 1.2, 1.4, 1.5, 1.3, 1.2}[round], 10e-6, 10e-6))
	}
	for i := range trials {
		trials[i].Outcomes.Dropped = 2
	}
	tables := build(t, fileOf([]string{"a", "b"}, trials...), "")
	if len(tables.Rows) != 2 || tables.Baseline != "a" || tables.Rounds != 6 || tables.Measured != 12 || tables.Interrupted {
		t.Fatalf("%d rows, baseline %q, %d rounds", len(tables.Rows), tables.Baseline, tables.Rounds)
	}
	a := tables.Rows[0]
	for _, row := range []struct {
		metric, unit      string
		median, low, high float64
	}{
		{"throughput", "req/s", 75, 50, 100},                       // (70+80)/2; six rounds: the whole range has 1-2/64 = 0.969
		{"server_cpu_per_req", "s", 20e-6, 20e-6, 20e-6},           //
		{"cores_per_10k", "cores", 0.3, 0.3, 0.3},                  // (20+10) us * 10,000; the store is in the server
		{"server_cores_per_10k", "cores", 0.2, 0.2, 0.2},           // 20 us * 10,000
		{"server_cores", "cores", 5 * 10e-6, 5 * 10e-6, 5 * 10e-6}, // 5 calls * 20 us / 2 s
		{"server_rss", "B", 1000, 1000, 1000},                      //
	} {
		v, ok := a.Metrics[row.metric]
		if !ok || v.Unit != row.unit || v.Rounds != 6 || v.Coverage != 0.96875 ||
			math.Abs(v.Median-row.median) > 1e-12 || math.Abs(v.Low-row.low) > 1e-12 || math.Abs(v.High-row.high) > 1e-12 {
			t.Errorf("%s: %+v, want %+v", row.metric, v, row)
		}
	}
	want := &Outcomes{Started: 48, OK: 30, Failed: 12, CutOff: 6, Dropped: 12, FailedByClass: map[string]uint64{"timeout": 6, "reset": 6}} // six times
	if d := cmp.Diff(want, a.Outcomes); d != "" {
		t.Error(d)
	}
	for metric, why := range map[string]string{
		"store_cpu_per_req": "the store has no process of its own", "store_cores": "the store has no process of its own",
		"latency_p50": "no call succeeded", "client_cores": "not measured", "dials": "not measured",
	} {
		if _, known := a.Metrics[metric]; known || a.Unknown[metric] != why {
			t.Errorf("%s: unknown because %q, want %q", metric, a.Unknown[metric], why)
		}
	}
	for m := range maps.Keys(a.Unknown) {
		if strings.HasPrefix(m, "service_") {
			t.Errorf("%s in the closed loop", m)
		}
	}

	b := tables.Rows[1]
	c := tables.Comparison(b, "throughput")
	// factors sorted 1.2 1.2 1.3 1.3 1.4 1.5; all six above 1: p = 2/64, alone in its family. The medians alone (75 against 99.5) would say 1.33.
	if c == nil || math.Abs(c.Ratio-1.3) > 1e-12 || math.Abs(c.Low-1.2) > 1e-12 || math.Abs(c.High-1.5) > 1e-12 ||
		c.P != 2.0/64 || c.PHolm != c.P || !c.Detected || c.Text != "+30% [+20%, +50%]" || c.Rounds != 6 {
		t.Errorf("throughput: %+v", c)
	}
	if c := tables.Comparison(b, "client_cpu_per_req"); c == nil || c.Detected || c.Ratio != 1 || c.P != 1 || c.Text != "no difference detected: equal in every round" {
		t.Errorf("client CPU: %+v", c)
	}
	if c := tables.Comparison(b, "cores_per_10k"); c == nil || math.Abs(c.Ratio-2.0/3) > 1e-12 { // 20/30
		t.Errorf("cores: %+v", c)
	}
	if c := tables.Comparison(a, "throughput"); c != nil {
		t.Errorf("the baseline is compared with itself: %+v", c)
	}
	if c := tables.Comparison(b, "server_cores"); c != nil {
		t.Errorf("a figure that is neither better nor worse is compared: %+v", c)
	}
}

func TestHolmIsPerMetricOverTheReport(t *testing.T) {
	var trials []result.Trial
	for round := 1; round <= 6; round++ {
		for i, s := range []string{"a", "b", "c"} {
			trials = append(trials, small(s, round, 100+float64(50*i), 1e-6, 1e-6))
		}
	}
	tables := build(t, fileOf([]string{"a", "b", "c"}, trials...), "")
	for _, s := range tables.Rows[1:] {
		c := tables.Comparison(s, "throughput")
		// six rounds of one sign: 2/64 = 0.031; twice that is 0.0625: in a family of two, six rounds can't show anything
		if c.P != 0.03125 || c.PHolm != 0.0625 || c.Detected || c.SmallestEffect != nil || c.Text != "no difference detected: too few rounds to see any" {
			t.Errorf("%s: %+v", s.Subject, c)
		}
	}
}

func TestBaseline(t *testing.T) {
	f := fileOf([]string{"odd", "a", "b"}, small("odd", 1, 1, 1, 1), small("a", 1, 1, 1, 1), small("b", 1, 1, 1, 1))
	f.Header.Subjects[0].Conformant = false
	f.Header.Subjects[0].Differences = []string{"hit: want 1, got 2"}
	for _, row := range []struct {
		name, option, header, want string
		comparisons                bool
		warning, err               string
	}{
		{"the first that is ranked", "", "", "a", true, "", ""},
		{"the run's", "", "b", "b", true, "", ""},
		{"the reader's goes first", "a", "b", "a", true, "", ""},
		{"one that is not ranked", "odd", "", "", false, "the baseline odd is not ranked, so there are no ratios: choose another", ""},
		{"unknown", "bb", "", "", false, "", `unknown baseline "bb": did you mean "b"? (odd, a, b)`},
	} {
		g := f
		g.Header.Baseline = row.header
		tables, err := Build(g, Options{Baseline: row.option})
		if row.err != "" {
			if err == nil || err.Error() != row.err {
				t.Errorf("%s: got %v, want %s", row.name, err, row.err)
			}
			continue
		}
		if err != nil || tables.Baseline != row.want || (len(tables.Comparisons) > 0) != row.comparisons {
			t.Errorf("%s: baseline %q, %d comparisons, %v", row.name, tables.Baseline, len(tables.Comparisons), err)
		}
		var warnings []string
		for _, w := range tables.Warnings {
			warnings = append(warnings, w.Text)
		}
		if strings.Join(warnings, "\n") != row.warning {
			t.Errorf("%s: warnings %q, want %q", row.name, warnings, row.warning)
		}
		for _, c := range tables.Comparisons {
			if c.Subject == "odd" {
				t.Errorf("%s: the subject that is not ranked is compared: %+v", row.name, c)
			}
		}
		if r := tables.Rows[0]; r.Subject != "odd" || r.Ranked || !strings.Contains(r.Flags[0].Text, "hit: want 1, got 2") {
			t.Errorf("%s: first row %+v", row.name, r)
		}
	}
}

func TestOnlyLikeIsCompared(t *testing.T) {
	change := func(tr result.Trial, f func(*result.Trial)) result.Trial { f(&tr); return tr }
	base := small("a", 1, 1, 1, 1)
	for _, row := range []struct {
		name  string
		other result.Trial
		want  bool
		note  string
	}{
		{"the same", small("b", 1, 1, 1, 1), true, ""},
		{"another level", change(small("b", 1, 1, 1, 1), func(t *result.Trial) { t.Concurrency = 20 }), false, ""},
		{"another mode", change(small("b", 1, 1, 1, 1), func(t *result.Trial) { t.Mode = "open" }), false, ""},
		{"another workload", change(small("b", 1, 1, 1, 1), func(t *result.Trial) { t.Workload = "v" }), false, ""},
		{"another store", change(small("b", 1, 1, 1, 1), func(t *result.Trial) { t.Store = "aerospike://h/ns" }), false, ""},
		{"another round", small("b", 2, 1, 1, 1), false, ""},
		{"other connections", change(small("b", 1, 1, 1, 1), func(t *result.Trial) { t.Conns = 1 }), true, "other connections: 1 x 10 against 10 x 1 of a"},
	} {
		tables := build(t, fileOf([]string{"a", "b"}, base, row.other), "")
		if got := len(tables.Comparisons) > 0; got != row.want {
			t.Errorf("%s: compared is %v", row.name, got)
			continue
		}
		if row.want && strings.Join(tables.Comparisons[0].Notes, ";") != row.note {
			t.Errorf("%s: notes %q, want %q", row.name, tables.Comparisons[0].Notes, row.note)
		}
	}
	// Connections: the baseline's row with as many is taken, and none where several have others.
	conns := func(subject string, n int) result.Trial {
		return change(small(subject, 1, float64(n), 1, 1), func(t *result.Trial) { t.Conns = n })
	}
	tables := build(t, fileOf([]string{"a", "b"}, conns("a", 1), conns("a", 5), conns("b", 5), conns("b", 10)), "")
	var got []string
	for _, c := range tables.Comparisons {
		if c.Metric == "throughput" {
			got = append(got, fmt.Sprintf("%d:%d", c.Conns, c.BaselineConns))
		}
	}
	if !slices.Equal(got, []string{"5:5"}) {
		t.Errorf("compared connections %v, want 5:5 alone", got)
	}
}

func TestStoreStartedAfreshIsOneStore(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"memory", "memory"}, {"", ""}, {"aerospike://127.0.0.1:40123/test", "aerospike://127.0.0.1/test"}, {"aerospike://[::1]:3000/test", "aerospike://[::1]/test"},
		{"aerospike://host/test", "aerospike://host/test"}, {"aerospike 8.1.2.0 at 127.0.0.1:40123", "aerospike 8.1.2.0 at 127.0.0.1"},
	} {
		if got := storeName(row.in); got != row.want {
			t.Errorf("store %q is named %q, want %q", row.in, got, row.want)
		}
	}
	one, two := small("a", 1, 1, 1, 1), small("a", 2, 1, 1, 1)
	one.Store, two.Store = "aerospike://127.0.0.1:1001/test", "aerospike://127.0.0.1:1002/test"
	if tables := build(t, fileOf([]string{"a"}, one, two), ""); len(tables.Rows) != 1 || tables.Rows[0].Rounds != 2 {
		t.Errorf("rows %+v", tables.Rows)
	}
}

func TestCoresNeedEveryRole(t *testing.T) {
	tr := small("a", 1, 1, 1e-6, 1e-6)
	tr.Store = "aerospike://h/ns" // somewhere else: its CPU can't be read
	r := build(t, fileOf([]string{"a"}, tr), "").Rows[0]
	if _, known := r.Metrics["cores_per_10k"]; known || r.Unknown["cores_per_10k"] != "the CPU of the store is unknown" {
		t.Errorf("cores_per_10k: %v, %q", r.Metrics["cores_per_10k"], r.Unknown["cores_per_10k"])
	}
	if _, known := r.Metrics["server_cores_per_10k"]; !known {
		t.Error("the server's cores are unknown, too")
	}
	tr = small("a", 1, 1, 1e-6, 1e-6)
	tr.Warnings = append(tr.Warnings, result.Warning{Kind: result.WarnBackendUnread, Text: "a front"})
	r = build(t, fileOf([]string{"a"}, tr), "").Rows[0]
	if _, known := r.Metrics["cores_per_10k"]; known || r.Unknown["cores_per_10k"] != "the CPU of the backend is unknown" {
		t.Errorf("of a front whose backend nothing reads, cores_per_10k: %v, %q", r.Metrics["cores_per_10k"], r.Unknown["cores_per_10k"])
	}
}

func TestP999NeedsTenThousandCallsInEveryRound(t *testing.T) {
	for _, row := range []struct {
		calls []int64
		why   string
	}{
		{[]int64{10_000, 10_000}, ""},
		{[]int64{10_000, 9_999}, "too few calls: 9999 in round 2, 10000 are needed"}, // to leave that round out would choose the fast ones
	} {
		var trials []result.Trial
		for i, n := range row.calls {
			tr := small("a", i+1, 1, 1, 1)
			tr.Histograms = []result.Histogram{times(t, "s", result.OutcomeOK, result.TimeResponse, n, 1e-3), times(t, "s", "timeout", result.TimeResponse, 50_000, 1)}
			trials = append(trials, tr)
		}
		r := build(t, fileOf([]string{"a"}, trials...), "").Rows[0]
		v, known := r.Metrics["latency_p999"]
		if known != (row.why == "") || r.Unknown["latency_p999"] != row.why {
			t.Errorf("%v calls: %+v, %q, want %q", row.calls, v, r.Unknown["latency_p999"], row.why)
		}
		// The failures, a thousand times as slow, are in no percentile.
		if v := r.Metrics["latency_max"]; math.Abs(v.Median-0.012) > 1e-9 || v.Rounds != 2 {
			t.Errorf("max %+v, want 12 ms", v)
		}
		for _, pair := range [][2]string{{"latency_p50", "latency_p90"}, {"latency_p90", "latency_p99"}, {"latency_p99", "latency_max"}, {"latency_mean", "latency_max"}} {
			if r.Metrics[pair[0]].Median > r.Metrics[pair[1]].Median {
				t.Errorf("%s is above %s", pair[0], pair[1])
			}
		}
	}
}

func TestOrderDoesNotDependOnTheShuffle(t *testing.T) {
	var trials []result.Trial
	for round := 1; round <= 2; round++ {
		for _, level := range []int{800, 50} {
			for _, s := range []string{"c", "a", "b"} {
				tr := small(s, round, 1, 1, 1)
				tr.Concurrency = level
				trials = append(trials, tr)
			}
		}
	}
	tables := build(t, fileOf([]string{"a", "b", "c"}, trials...), "")
	slices.Reverse(trials)
	other := build(t, fileOf([]string{"a", "b", "c"}, trials...), "")
	var order []string
	for _, r := range tables.Rows {
		order = append(order, fmt.Sprint(r.Subject, r.Concurrency))
	}
	if want := []string{"a50", "b50", "c50", "a800", "b800", "c800"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if d := cmp.Diff(tables, other); d != "" {
		t.Error(d)
	}
}

func TestABrokenHistogramNamesItsLine(t *testing.T) {
	tr := small("a", 3, 1, 1, 1)
	tr.Line = 17
	tr.Histograms = []result.Histogram{{Step: "s", Outcome: result.OutcomeOK, Time: result.TimeResponse, Count: 3, Data: "AAAA"}}
	_, err := Build(fileOf([]string{"a"}, tr), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), `f.jsonl:17:1: a trial of a, round 3: histogram of step "s", ok: "data" is too short, or no base64: the line was changed`) {
		t.Errorf("got %v", err)
	}
	tr.Line = 0 // from memory
	_, err = Build(fileOf([]string{"a"}, tr), Options{})
	if err == nil || !strings.HasPrefix(err.Error(), `trial of a, round 3: `) {
		t.Errorf("got %v", err)
	}
}
