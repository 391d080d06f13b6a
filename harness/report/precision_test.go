package report

import (
	"math"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// looked is a run of a and b that went on to so many rounds; b is 10 % above a, more or less by one of ten shares.
func looked(rounds int, subjects ...string) result.File {
	var trials []result.Trial
	for round := 1; round <= rounds; round++ {
		share := math.Exp(0.01 * float64((round*7)%10-5) / 5) // -0.01 to 0.008
		for _, s := range subjects {
			rate := 100.0
			if s != "a" {
				rate = 110 * share
			}
			trials = append(trials, small(s, round, rate, 1e-6, 1e-6))
		}
	}
	f := fileOf(subjects, trials...)
	f.Header.Precision = &result.Precision{Figure: "throughput", Target: 0.02, First: 10}
	return f
}

func TestLooksHaveTheirLevel(t *testing.T) {
	for _, row := range []struct {
		rounds, look int
		confidence   string
		coverage     float64 // that the ratio's interval has at least
	}{
		{10, 1, "97.5%", 0.975},
		{20, 2, "98.75%", 0.9875},
		{30, 3, "99.375%", 0.99375}, // the time was spent between two looks: it counts as the next
		{40, 3, "99.375%", 0.99375},
	} {
		tables := build(t, looked(row.rounds, "a", "b"), "")
		c := tables.Comparison(tables.Rows[1], "throughput")
		if tables.Look != row.look || c.Coverage < row.coverage || c.Coverage > row.coverage+0.006 || c.TooFew || !c.Detected {
			t.Errorf("%d rounds: look %d, %+v", row.rounds, tables.Look, c)
		}
		if v := tables.Rows[0].Metrics["throughput"]; v.Coverage < row.coverage || v.TooFew {
			t.Errorf("%d rounds: %+v", row.rounds, v)
		}
		var text strings.Builder
		if err := Text.Write(&text, tables); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"the " + row.confidence + " interval", "with " + row.confidence + " intervals"} {
			if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
				t.Errorf("%d rounds: %q is missing in:\n%s", row.rounds, want, text.String())
			}
		}
		if w, ok := tables.Within("throughput"); !ok || w != c.HalfWidth || math.Abs(w-(math.Sqrt(c.High/c.Low)-1)) > 1e-12 || w > 0.011 {
			t.Errorf("%d rounds: within %g, %v", row.rounds, w, ok)
		}
	}
}

func TestWithin(t *testing.T) {
	one := build(t, looked(10, "b"), "")
	v := one.Rows[0].Metrics["throughput"]
	if w, ok := one.Within("throughput"); !ok || w != v.HalfWidth || math.Abs(w-(v.High-v.Low)/2/v.Median) > 1e-12 {
		t.Errorf("one subject: within %g, %v, want that of the median, %+v", w, ok, v)
	}
	few := build(t, looked(6, "a", "b"), "") // 1-2/64 = 0.969 < 0.975
	if w, ok := few.Within("throughput"); ok {
		t.Errorf("six rounds: within %g", w)
	}
	few = build(t, looked(6, "b"), "")
	if w, ok := few.Within("throughput"); ok {
		t.Errorf("six rounds of one subject: within %g", w)
	}
	if w, ok := one.Within("latency_p50"); ok {
		t.Errorf("an unknown figure: within %g", w)
	}
	if w, ok := build(t, fileOf([]string{"a"}), "").Within("throughput"); ok {
		t.Errorf("no trials: within %g", w)
	}
}

// TestHeaderOfNoRun has what a report alone can see to be wrong with a header: of what is chosen from the file's subjects and from the report's figures.
func TestHeaderOfNoRun(t *testing.T) {
	for _, c := range []struct {
		change func(h *result.Header)
		want   string
	}{
		{func(h *result.Header) { h.Precision = &result.Precision{Figure: "thruput", Target: 0.02, First: 10} }, `"precision.figure": unknown figure "thruput": did you mean "throughput"?`},
		{func(h *result.Header) { h.Precision = &result.Precision{Figure: "dials", Target: 0.02, First: 10} }, `"precision.figure": unknown figure "dials"`},
		{func(h *result.Header) { h.Baseline = "soap" }, `unknown baseline "soap"`},
	} {
		f := fileOf([]string{"a"}, small("a", 1, 1, 1, 1))
		c.change(&f.Header)
		_, err := Build(f, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "f.jsonl:1:1: the header: "+c.want) || !strings.HasSuffix(err.Error(), "restore the first line") {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
