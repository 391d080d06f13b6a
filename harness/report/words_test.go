package report

import (
	"slices"
	"testing"
)

func TestSentence(t *testing.T) {
	rate, latency := findings[0], findings[2]
	effect := 0.032
	of := func(subject string, ratio, low, high float64) Comparison {
		return Comparison{RowKey: RowKey{Subject: subject}, Baseline: "base", Ratio: ratio, Low: low, High: high, Detected: true}
	}
	same := Comparison{RowKey: RowKey{Subject: "same"}, Baseline: "base", Ratio: 1.01, Low: 0.99, High: 1.05, SmallestEffect: &effect}
	equal := Comparison{RowKey: RowKey{Subject: "equal"}, Baseline: "base", Ratio: 1, Low: 1, High: 1, SmallestEffect: new(float64)}
	for _, row := range []struct {
		name string
		f    finding
		in   []Comparison
		want string
	}{
		{"more is better, the best first", rate, []Comparison{of("a", 1.1, 1.05, 1.2), of("b", 2.5, 2.4, 2.6)},
			"In throughput at 50, ahead of base: b 2.50 times as much [2.40 to 2.60], a 10% more [5.0% to 20%]."},
		{"less is better", latency, []Comparison{of("a", 0.9, 0.85, 0.95), of("b", 0.5, 0.4, 0.6)},
			"In p99 latency at 50, ahead of base: b 50% lower [40% to 60%], a 10% lower [5.0% to 15%]."},
		{"the baseline is ahead", rate, []Comparison{of("a", 0.9, 0.85, 0.95)},
			"In throughput at 50, base is ahead; behind base: a 10% less [5.0% to 15%]."},
		{"with one not told apart nobody is ahead", rate, []Comparison{of("a", 0.9, 0.85, 0.95), same},
			"In throughput at 50, behind base: a 10% less [5.0% to 15%]; no difference detected between base and same (3.2% would have been seen)."},
		{"equal", rate, []Comparison{equal}, "In throughput at 50, no difference detected between base and equal (equal in every round)."},
	} {
		if got := row.f.sentence(row.in, "50"); got != row.want {
			t.Errorf("%s:\ngot  %s\nwant %s", row.name, got, row.want)
		}
	}
}

// A throughput that the driver set is in no sentence about who is ahead; the CPU per request still is.
func TestWordsLeaveOutWhatTheDriverSet(t *testing.T) {
	tables := load(t, "complete") // thrift @ 800 is limited by the driver
	want := map[string]bool{
		"In throughput at 800, no difference detected between grpc and http (4.4% would have been seen).":                                                                                                                                     true,
		"In server CPU per request at 800, ahead of grpc: thrift 37% less [36% to 38%], http 20% less [18% to 21%].":                                                                                                                          true,
		"The driver was the limiter in most rounds of thrift @ 800: their throughput is a lower bound, and their latency that of driver and subject together; neither is ranked, unless --rank-flagged asks for it; compare CPU per request.": true,
	}
	for _, w := range tables.Words {
		delete(want, w)
	}
	for w := range want {
		t.Errorf("missing: %s\nin %q", w, tables.Words)
	}
}

// Where the baseline alone has no figures, the others are not said to be missing.
func TestWordsOfABaselineThatFailed(t *testing.T) {
	f := fileOf([]string{"a", "b"}, small("a", 1, 1, 1, 1), small("b", 1, 1, 1, 1))
	f.Header.Baseline = "a"
	for i := range f.Trials {
		if f.Trials[i].Subject == "a" {
			f.Trials[i].Error = "refused"
		}
	}
	tables, err := Build(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "a, the baseline, has no figures, so that nothing is compared with it: --baseline chooses another."
	if !slices.Contains(tables.Words, want) {
		t.Errorf("%q in %q", want, tables.Words)
	}
}
