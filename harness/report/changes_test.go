package report

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

// rounds are those of a subject whose rate and server CPU have these values.
func rounds(subject string, rates, cpus []float64) []result.Trial {
	var ts []result.Trial
	for i, rate := range rates {
		ts = append(ts, small(subject, i+1, rate, cpus[i]*1e-6, 10e-6))
	}
	return ts
}

func times10(xs []float64, by float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = by * x
	}
	return out
}

var (
	spread = []float64{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}
	// drift is a machine that slows down to half.
	drift = []float64{100, 110, 120, 130, 140, 150, 160, 170, 180, 190}
)

func compare(t *testing.T, older, newer result.File, o ChangeOptions) Changes {
	t.Helper()
	c, err := Compare(older, newer, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func change(t *testing.T, c Changes, subject, metric string) Change {
	t.Helper()
	for _, ch := range c.Changes {
		if ch.Subject == subject && ch.Metric == metric {
			return ch
		}
	}
	t.Fatalf("no change of %s of %s among %d", metric, subject, len(c.Changes))
	return Change{}
}

func TestCompareFindsAChange(t *testing.T) {
	older := fileOf([]string{"a", "b"}, append(rounds("a", spread, spread), rounds("b", spread, spread)...)...)
	newer := fileOf([]string{"a", "b"}, append(rounds("a", spread, times10(spread, 1.5)), rounds("b", times10(spread, 2), spread)...)...)
	c := compare(t, older, newer, ChangeOptions{Metrics: []string{"throughput", "server_cpu_per_req"}})
	for _, row := range []struct {
		subject, metric, verdict string
		ratio                    float64
		detected                 bool
	}{
		{"a", "throughput", "", 1, false},
		{"a", "server_cpu_per_req", "worse", 1.5, true}, // 104.5*1.5 / 104.5
		{"b", "throughput", "better", 2, true},
		{"b", "server_cpu_per_req", "", 1, false},
	} {
		ch := change(t, c, row.subject, row.metric)
		if math.Abs(ch.Ratio-row.ratio) > 1e-9 || ch.Detected != row.detected || ch.Verdict != row.verdict || ch.PHolm < ch.P {
			t.Errorf("%+v, want %+v", ch, row)
		}
	}
	if a := change(t, c, "a", "throughput"); a.SmallestEffect == nil || *a.SmallestEffect > 0.15 {
		t.Errorf("of a spread of 9 %% at least 15 %% could be seen: %+v", a)
	}
	text := strings.Join(c.Words, "\n")
	for _, want := range []string{"Changed in throughput: b @ 10 +100%", "better.", "Changed in server CPU per request: a @ 10 +50%", "worse.",
		"No change detected in throughput: a @ 10 ("} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}

// TestCompareWithControl: a machine that drifts by a factor of two hides a change of 10 %; against a subject that drifts alike it is plain.
func TestCompareWithControl(t *testing.T) {
	ones := times10(drift, 1)
	older := fileOf([]string{"a", "c"}, append(rounds("a", ones, drift), rounds("c", ones, drift)...)...)
	newer := fileOf([]string{"a", "c"}, append(rounds("a", ones, times10(drift, 1.4*1.1)), rounds("c", ones, times10(drift, 1.4))...)...)
	metrics := []string{"server_cpu_per_req"}
	if plain := compare(t, older, newer, ChangeOptions{Metrics: metrics}); !change(t, plain, "c", metrics[0]).Detected {
		t.Error("the machine is 40 % slower, and that is not seen")
	}
	c := compare(t, older, newer, ChangeOptions{Metrics: metrics, Control: "c"})
	// (drift*1.54)/(drift*1.4) = 1.1 against drift/drift = 1 in every round
	if a := change(t, c, "a", metrics[0]); math.Abs(a.Ratio-1.1) > 1e-9 || math.Abs(a.Low-1.1) > 1e-9 || !a.Detected {
		t.Errorf("%+v, want 1.1", a)
	}
	if len(c.Changes) != 1 {
		t.Errorf("%d changes, want 1: the control is not compared with itself", len(c.Changes))
	}
	_, err := Compare(older, newer, ChangeOptions{Control: "C"})
	if want := `f.jsonl: unknown control "C": did you mean "c"? (a, c)`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestCompareMatchesRows(t *testing.T) {
	at := func(tr result.Trial, set func(*result.Trial)) result.Trial { set(&tr); return tr }
	base := small("a", 1, 1, 1, 1)
	for _, row := range []struct {
		name     string
		old, new result.Trial
		same     bool
	}{
		{"the same", base, base, true},
		{"another subject", base, at(base, func(t *result.Trial) { t.Subject = "b" }), false},
		{"another workload", base, at(base, func(t *result.Trial) { t.Workload = "v" }), false},
		{"another mode", base, at(base, func(t *result.Trial) { t.Mode = "open" }), false},
		{"another concurrency", base, at(base, func(t *result.Trial) { t.Concurrency++ }), false},
		{"another rate", base, at(base, func(t *result.Trial) { t.Rate = "500" }), false},
		{"other arrivals", base, at(base, func(t *result.Trial) { t.Arrivals = "poisson" }), false},
		{"other connections", base, at(base, func(t *result.Trial) { t.Conns = 1 }), false},
		{"another kind of store", base, at(base, func(t *result.Trial) { t.Store = "aerospike 8.0" }), false},
		{"another version of the store", at(base, func(t *result.Trial) { t.Store = "aerospike 8.0" }), at(base, func(t *result.Trial) { t.Store = "aerospike 8.1" }), true},
		{"a store by its address", at(base, func(t *result.Trial) { t.Store = "aerospike 8.0" }), at(base, func(t *result.Trial) { t.Store = "aerospike://db:3000/test" }), true},
	} {
		c := compare(t, fileOf([]string{"a", "b"}, row.old), fileOf([]string{"a", "b"}, row.new), ChangeOptions{Metrics: []string{"throughput"}})
		if same := len(c.Changes) == 1 && len(c.Incomparable) == 0; same != row.same {
			t.Errorf("%s: %d changes, %d not compared", row.name, len(c.Changes), len(c.Incomparable))
		}
		if !row.same && (len(c.Incomparable) != 2 || len(c.Changes) != 0) {
			t.Errorf("%s: %+v, want both rows to be told of", row.name, c.Incomparable)
		}
	}
}

func TestSuspects(t *testing.T) {
	f := func(kernel, version, grpc string, settings string, cpus string) result.File {
		tr := small("a", 1, 1, 1, 1)
		tr.Options, tr.CPUSets = json.RawMessage(`{"gc_percent": `+cpus+`}`), map[string]string{"server": cpus}
		file := fileOf([]string{"a"}, tr)
		file.Header.Version = version
		file.Header.Settings = json.RawMessage(settings)
		file.Header.Env = result.Environment{Kernel: kernel, CPUs: 2, MemBytes: 8 << 30, Modules: map[string]string{"example.com/grpc": grpc}}
		return file
	}
	got := suspects(f("6.1", "v1", "v1.1", `{"duration":"2s","subjects":["a", "b"],"flags":{"rate":"5","duration":"2s"}}`, "0"),
		f("6.2", "v1", "v1.2", `{"duration":"3s","subjects":["a","b"],"flags":{"duration":"3s"},"seed":7}`, "1"))
	want := []Suspect{
		{"kernel", "6.1", "6.2"}, {"module example.com/grpc", "v1.1", "v1.2"}, {"setting duration", "2s", "3s"}, {"setting rate", "5", ""},
		{"CPUs of the server", "0", "1"}, {"option gc_percent of a @ 10", "0", "1"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if same := suspects(f("6.1", "v1", "v1", `{}`, "0"), f("6.1", "v1", "v1", `{}`, "0")); len(same) != 0 {
		t.Errorf("%v", same)
	}
}

func TestChangeFormats(t *testing.T) {
	older, newer := fileOf([]string{"a|b\x1b"}, rounds("a|b\x1b", spread, spread)...), fileOf([]string{"a|b\x1b"}, rounds("a|b\x1b", spread, times10(spread, 3))...)
	newer.Header.Env.Kernel = "6.2"
	limit, err := ParseLimit("server_cpu_per_req>+5%")
	if err != nil {
		t.Fatal(err)
	}
	c := compare(t, older, newer, ChangeOptions{Limits: []Limit{limit}})
	for _, f := range ChangeFormats {
		var b strings.Builder
		if err := f.Write(&b, c); err != nil {
			t.Fatal(err)
		}
		for _, want := range map[string][]string{
			"table":    {"kernel: nothing -> 6.2", "104 +-4%", "314 +-4%", "+200% [", "worse", "<0.001", "FAILED"},
			"wide":     {"kernel: nothing -> 6.2", "104 [101, 108]", "314 [303, 324]", "+200% [", "worse", "<0.001", "10, 10", "FAILED"},
			"benchfmt": {"# Suspect these first", "kernel: nothing -> 6.2", "side: old", "side: new", "server-cpu-ns/op"},
			"junit":    {`tests="2" failures="1" errors="0"`, `<failure type="limit" message="+200% [`},
			"markdown": {"kernel: nothing -&gt; 6.2", "| a\\|b", "+200% [", "worse", "FAILED"},
			"json":     {`"server_cpu_per_req"`, `"verdict": "worse"`, `"result": "failed"`, `"what": "kernel"`},
		}[f.Name] {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: no %q in:\n%s", f.Name, want, b.String())
			}
		}
		if f.Name != "json" && strings.Contains(b.String(), "\x1b") {
			t.Errorf("%s: a control character gets through", f.Name)
		}
		if err := f.Write(full{}, c); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s to a full disk: %v", f.Name, err)
		}
	}
	if _, err := FindChange("csv"); err == nil || !strings.Contains(err.Error(), "table, wide, markdown, json, html, benchfmt, junit") {
		t.Errorf("%v", err)
	}
}

func TestCompareNothing(t *testing.T) {
	c := compare(t, fileOf([]string{"a"}), fileOf([]string{"a"}), ChangeOptions{})
	if len(c.Changes) != 0 || !strings.Contains(strings.Join(c.Words, " "), "There is no trial with figures in f.jsonl") {
		t.Errorf("%+v", c)
	}
	if _, err := Compare(fileOf([]string{"a"}), fileOf([]string{"a"}), ChangeOptions{Metrics: []string{"thruput"}}); err == nil || !strings.Contains(err.Error(), `"throughput"`) {
		t.Errorf("%v", err)
	}
}

// TestSuspectsOfTheUnknown has a revision that one side alone knows be no difference.
func TestSuspectsOfTheUnknown(t *testing.T) {
	of := func(version, git, folder string) result.Header {
		return result.Header{Version: version, Env: result.Environment{Git: git, GitWorkingDirectory: folder}}
	}
	if got := Suspects(of("v1", "abc", ""), of("devel", "", "def")); len(got) != 0 {
		t.Errorf("%v", got)
	}
	want := []Suspect{{"bakeoff", "v1", "v2"}, {"revision", "abc", "def"}}
	if d := cmp.Diff(want, Suspects(of("v1", "abc", ""), of("v2", "def", ""))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Suspect{{"revision of the working directory", "abc", "def"}}, Suspects(of("devel", "", "abc"), of("devel", "", "def"))); d != "" {
		t.Error(d)
	}
}
