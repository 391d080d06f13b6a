package main

import (
	"strings"
	"testing"
	"time"

	"bakeoff/harness/plan"
	harness "bakeoff/harness/run"
)

// TestProgressOfATrial has a trial tell ten times a second what it has come to: a plain line says so every five seconds, and a page hears it once a second.
func TestProgressOfATrial(t *testing.T) {
	var said strings.Builder
	now := time.Unix(0, 0)
	p := &progress{w: &said, rounds: 2, perBlock: 1, name: func(t plan.Trial) string { return t.Subject }, clock: func() time.Time { return now }}
	var page teller
	at := harness.Progress{Phase: harness.Starting, Trial: plan.Trial{Round: 1, Subject: "grpc\x1b"}, Remaining: 90 * time.Second}
	p.trial(at)
	heard := 0
	if page.due(at, now) {
		heard++
	}
	for i := range 120 { // 12 s
		at.Phase, at.Now = harness.Measuring, &harness.Now{Rate: float64(1000 + i), OK: uint64(100 * (i + 1)), Failed: uint64(i)}
		if i == 0 {
			at.Now = nil // nothing is known yet
		}
		now = now.Add(100 * time.Millisecond)
		p.trial(at)
		if page.due(at, now) {
			heard++
		}
	}
	lines := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
	want := []string{
		"block 1 of 2: 1 trial, about 1m30s left",
		"block 1 of 2, grpc\ufffd: 1049 calls/s now, 49 of 5049 calls failed so far, about 1m30s left", // the 50th time, after 5 s
		"block 1 of 2, grpc\ufffd: 1099 calls/s now, 99 of 10099 calls failed so far, about 1m30s left",
	}
	if strings.Join(lines, "|") != strings.Join(want, "|") {
		t.Errorf("%q\nwant %q", lines, want)
	}
	if heard != 1+12 { // the start, the first of the window, and one each second after it
		t.Errorf("the page was told %d times in 12 s", heard)
	}
	at.Phase, at.Now = harness.Reporting, nil
	if !page.due(at, now) {
		t.Error("the page is not told of another phase")
	}
	if told := toldOf(at, 2); told.Now != "" {
		t.Errorf("it is told of what is not known: %+v", told)
	}
}
