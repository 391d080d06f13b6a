// Package resulttest has what tests of readers of result files need to write some. It stands apart so that no command links package
// testing.
package resulttest

import (
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"bakeoff/harness/result"
)

// Times is the histogram of n calls of one step and outcome that all took the same time, in nanoseconds from 1000 on.
func Times(t testing.TB, step, outcome string, n, each int64) result.Histogram {
	t.Helper()
	h := hdrhistogram.New(1000, 120_000_000_000, 3)
	if err := h.RecordValues(each, n); err != nil {
		t.Fatal(err)
	}
	times, err := result.EncodeHistogram(step, outcome, result.TimeResponse, h, each, float64(each), each)
	if err != nil {
		t.Fatal(err)
	}
	return times
}
