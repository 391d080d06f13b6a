package main

import (
	"fmt"
	"io"
	"math"
	"sync"
)

// table prints what is true beside what is ours. It may be used concurrently.
type table struct {
	w      io.Writer
	mu     sync.Mutex
	missed int
}

func (t *table) head() {
	fmt.Fprintf(t.w, "%-44s %12s %12s %12s %12s\n", "", "truth", "ours", "error", "at most")
}

// relative is a line whose error is a share of the truth.
func (t *table) relative(what string, truth, ours, most float64) {
	e := ours/truth - 1
	t.line(what, truth, ours, fmt.Sprintf("%+.3f %%", 100*e), fmt.Sprintf("%g %%", 100*most), math.Abs(e) <= most)
}

// absolute is a line whose error has the unit of the truth.
func (t *table) absolute(what string, truth, ours, most float64) {
	e := ours - truth
	t.line(what, truth, ours, fmt.Sprintf("%+.4g", e), fmt.Sprintf("%g", most), math.Abs(e) <= most)
}

// bound is a line that has a limit in the place of a truth.
func (t *table) bound(what string, ours, most float64) {
	t.line(what, 0, ours, fmt.Sprintf("%+.4g", ours), fmt.Sprintf("%g", most), ours <= most)
}

func (t *table) line(what string, truth, ours float64, err, most string, holds bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	verdict := ""
	if !holds {
		verdict = "  MISSED"
		t.missed++
	}
	fmt.Fprintf(t.w, "%-44s %12.6g %12.6g %12s %12s%s\n", what, truth, ours, err, most, verdict)
}
