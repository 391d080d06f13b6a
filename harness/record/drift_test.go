package record

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestKendall(t *testing.T) {
	for _, row := range []struct {
		n, s int
		want float64
	}{
		{3, 3, 2.0 / 6},  // 123 and 321 of six orders
		{3, 1, 1},        // all of them differ by one or three
		{4, 6, 2.0 / 24}, // the two sorted ones
		{4, 4, 8.0 / 24}, // and those with one pair out of order: three on each side
		{4, 0, 1},        //
		{5, -10, 2.0 / 120},
		{10, 45, 2.0 / 3628800},
	} {
		if got := kendall(row.n, row.s); math.Abs(got-row.want) > 1e-12 {
			t.Errorf("n=%d S=%d: p = %v, want %v", row.n, row.s, got, row.want)
		}
	}
}

func TestTrend(t *testing.T) {
	for _, row := range []struct {
		name      string
		values    []float64
		p, change float64
	}{
		{"too short", []float64{1, 2}, 1, 0},
		{"steady", []float64{5, 5, 5, 5, 5}, 1, 0},
		{"doubling", []float64{1, 2, 4, 8, 16}, 2.0 / 120, 15},
		{"halving", []float64{16, 8, 4, 2, 1}, 2.0 / 120, -15.0 / 16}, // never by more than there was
		{"a trend of zeros", []float64{4, 3, 2, 1, 0}, 1, 0},
		{"one odd value", []float64{10, 10, 10, 90, 10, 10}, 0.8, 0}, // three pairs up, two down: slopes' median 0
	} {
		p, change := trend(row.values)
		if math.Abs(change-row.change) > 1e-12 || row.name != "one odd value" && math.Abs(p-row.p) > 1e-12 || p > 1 {
			t.Errorf("%s: p = %v, change %v, want %v and %v", row.name, p, change, row.p, row.change)
		}
	}
}

func TestDrift(t *testing.T) {
	parts := func(ok func(i int) uint64, mean func(i int) int64) []Slice {
		all := make([]Slice, Slices)
		for i := range all {
			all[i] = Slice{ok(i), int64(ok(i)) * mean(i)}
		}
		return all
	}
	same, level := func(int) uint64 { return 1000 }, func(int) int64 { return 50_000 }
	for _, row := range []struct {
		name   string
		parts  []Slice
		closed bool
		want   string
	}{
		{"steady", parts(same, level), true, ""},
		{"slower and slower", parts(func(i int) uint64 { return uint64(1090 - 20*i) }, level), true, "over the window throughput fell by 16 %"}, // 1090 to 910, the steps of which are not even in logarithms
		{"the same at a given rate", parts(func(i int) uint64 { return uint64(1090 - 20*i) }, level), false, ""},
		{"certain, and a trifle", parts(func(i int) uint64 { return uint64(1000 + i) }, level), true, ""},
		{"a queue that grows", parts(same, func(i int) int64 { return int64(10_000 * (1 + i)) }), false, "the mean latency rose by 511 %"}, // from 10 to 100, and less on the whole than at first
		{"nothing was watched", nil, true, ""},
		{"a part without calls", parts(func(i int) uint64 { return uint64(i) }, level), true, ""},
	} {
		if got := Drift(row.parts, row.closed); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestDriftsFalseAlarms simulates steady windows: how many are said to drift. Neighbouring slices of a machine may have
// something in common, which no test without a model of it can tell from a trend: what that costs is shown, too.
func TestDriftsFalseAlarms(t *testing.T) {
	const windows = 5000
	for _, row := range []struct {
		name        string
		spread      float64 // of a slice, as a share
		correlation float64 // of neighbours
		most        float64
	}{
		{"independent, 3 %", 0.03, 0, 0.01},
		{"independent, 20 %", 0.2, 0, 0.01},
		{"neighbours correlate by 0.3, 20 %", 0.2, 0.3, 0.04},
	} {
		r := rand.New(rand.NewPCG(4, 2))
		alarms := 0
		for range windows {
			parts := make([]Slice, Slices)
			rate, mean := r.NormFloat64(), r.NormFloat64()
			for i := range parts {
				next := func(x float64) float64 {
					return row.correlation*x + math.Sqrt(1-row.correlation*row.correlation)*r.NormFloat64()
				}
				rate, mean = next(rate), next(mean)
				ok := 10_000 * math.Exp(row.spread*rate)
				parts[i] = Slice{uint64(ok), int64(ok * 100_000 * math.Exp(row.spread*mean))}
			}
			if Drift(parts, true) != "" {
				alarms++
			}
		}
		share := float64(alarms) / windows
		t.Logf("%-36s truth no drift, ours %.2f %% say drift", row.name, 100*share)
		if share > row.most {
			t.Errorf("%s: %.2f %% false alarms, at most %.0f %% are allowed", row.name, 100*share, 100*row.most)
		}
	}
}

func TestSlicesAreTheWindows(t *testing.T) {
	s := New([]string{"call"}, false)
	s.Watch(time.Second)
	a, b := s.Recorder(), s.Recorder()
	ms := time.Millisecond
	a.Record(sample(0, 0, 0, 100*ms, nil))            // the end of the first tenth
	a.Record(sample(0, 100*ms, 100*ms, 150*ms, nil))  // the second
	a.Record(sample(0, 150*ms, 150*ms, 1000*ms, nil)) // the last
	a.Record(sample(0, 1000*ms, 1000*ms, 1001*ms, nil))
	b.Record(sample(0, 0, 0, 20*ms, nil))
	b.Record(sample(0, 20*ms, 20*ms, 1200*ms, nil)) // after the window, and past all of it
	want := make([]Slice, Slices)
	want[0] = Slice{2, int64(120 * ms)}
	want[1] = Slice{1, int64(50 * ms)}
	want[9] = Slice{1, int64(850 * ms)}
	got := s.Summary().Slices
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("part %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestTurnsAreOneWindow(t *testing.T) {
	s := New([]string{"call"}, false)
	s.Watch(time.Second)
	a := s.Recorder()
	ms := time.Millisecond
	for turn := range 5 {
		s.Turn(turn, 5)
		a.Record(sample(0, 0, 0, 50*ms, nil))
		a.Record(sample(0, 50*ms, 50*ms, 150*ms, nil))
		a.Record(sample(0, 190*ms, 190*ms, 201*ms, nil)) // after the turn
	}
	for i, got := range s.Summary().Slices {
		want := Slice{1, int64(50 * ms)}
		if i%2 == 1 {
			want = Slice{1, int64(100 * ms)}
		}
		if got != want {
			t.Errorf("part %d: %+v, want %+v", i, got, want)
		}
	}
}
