package drive

import (
	"math"
	"strings"
	"testing"
	"time"

	"bakeoff/harness/load"
)

func TestThroughput(t *testing.T) {
	const s = time.Second
	for _, row := range []struct {
		name    string
		stats   load.Stats
		workers int
		open    bool
		want    float64 // NaN: unknown
	}{
		// 4 workers, 10 calls of 0.1 s each in 1 s: 40 calls in 4 worker-seconds.
		{"steady", load.Stats{OK: 40, OKInWindow: 40, Busy: 4 * s, Window: s}, 4, false, 40},
		// 2000 calls of 0.25 s are started at once in a window of 0.15 s, and all end after it: none in the window, yet 8000/s.
		{"longer than the window", load.Stats{OK: 2000, OKInWindow: 0, Busy: 500 * s, Window: 150 * time.Millisecond}, 2000, false, 8000},
		// 800 workers, calls of 0.1 s, 2 s: 20 calls each, the last ends at 2.0 s; or 21 each, over 2.1 s: the same rate.
		{"the call under way at the end counts with its time", load.Stats{OK: 800 * 21, OKInWindow: 800 * 20, Busy: 1680 * s, Window: 2 * s}, 800, false, 8000},
		// Half of the workers' time went to calls that failed.
		{"failures take time", load.Stats{OK: 20, Failed: 2, Busy: 4 * s, Window: s}, 4, false, 20},
		{"open loop: what ended in the window", load.Stats{OK: 500, OKInWindow: 490, Busy: 3 * s, Window: s}, 50, true, 490},
		{"nothing ended", load.Stats{Window: s}, 4, false, math.NaN()},
	} {
		got, ok := throughput(row.stats, row.workers, row.open)
		if !ok {
			got = math.NaN()
		}
		if got != row.want && !(math.IsNaN(got) && math.IsNaN(row.want)) {
			t.Errorf("%s: %g, want %g", row.name, got, row.want)
		}
	}
}

func TestIterationsThatWereNotAllMade(t *testing.T) {
	s := load.Stats{OK: 4000, Iterations: 600, Window: time.Second}
	if got := shortWindow(s, 100, 1000); !strings.Contains(got, "only 600 of 1000 iterations were begun within 1s") {
		t.Errorf("got %q", got)
	}
	if got := shortWindow(s, 100, 600); got != "" {
		t.Errorf("all were made: %q", got)
	}
	if got := shortWindow(s, 1000, 600); !strings.Contains(got, "more --iterations show more") {
		t.Errorf("got %q", got)
	}
}

func TestShortWindow(t *testing.T) {
	for _, row := range []struct {
		ok, workers uint64
		want        string
	}{
		{1926, 2000, "2000 workers made 1.0 calls each in a window of 150ms"},
		{40_000, 2000, ""}, // 20 each
		{39_999, 2000, "made 20.0 calls each"},
		{0, 2000, ""}, // nothing to colour
	} {
		got := shortWindow(load.Stats{OK: row.ok, Window: 150 * time.Millisecond}, int(row.workers), 0)
		if (row.want == "") != (got == "") || !strings.Contains(got, row.want) {
			t.Errorf("%d calls of %d workers: %q, want %q", row.ok, row.workers, got, row.want)
		}
	}
}
