package main

import (
	"bakeoff/harness/plan"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bakeoff/harness/report"
	"bakeoff/harness/result"
)

// TestRunOpenLoop drives real trials at rates that a machine under test can keep, and one that none can.
func TestRunOpenLoop(t *testing.T) {
	racing(t)
	dir := t.TempDir()
	raw := filepath.Join(dir, "open.jsonl")
	r := bakeoff(t, "run", "--subjects", "grpc,http", "--store", "memory", "--rate", "200,50..150", "--arrivals", "poisson", "--rounds", "1",
		"--concurrency", "40", "--duration", "500ms", "--warmup", "50ms", "--results", raw, "-o", "wide")
	file, err := result.ReadFile(raw)
	if err != nil || len(file.Trials) != 4 {
		t.Fatalf("exit code %d, %d trials, %v: %s", r.code, len(file.Trials), err, r.err)
	}
	for _, tr := range file.Trials {
		v := tr.Values
		if tr.Mode != result.ModeOpen || tr.Arrivals != "poisson" || tr.Rate == "" || tr.Error != "" {
			t.Errorf("%s: %s loop, %q %s, error %q", tr.Subject, tr.Mode, tr.Rate, tr.Arrivals, tr.Error)
		}
		if v[result.AchievedRate] > v[result.TargetRate] || v[result.LatenessP50] > v[result.LatenessP99] || v[result.LatenessP99] > v[result.LatenessMax] {
			t.Errorf("%s %s: values %v", tr.Subject, tr.Rate, v)
		}
		if got := v[result.ServerCalls]; got != float64(tr.Outcomes.Started) {
			t.Errorf("%s %s: the server counted %v calls of %d", tr.Subject, tr.Rate, got, tr.Outcomes.Started)
		}
		var times []string
		for _, h := range tr.Histograms {
			times = append(times, h.Time)
		}
		if !slices.Contains(times, result.TimeResponse) || !slices.Contains(times, result.TimeService) {
			t.Errorf("%s %s: histograms of %v", tr.Subject, tr.Rate, times)
		}
	}
	wantAll(t, r.out, "open loop, poisson arrivals", "grpc @ 40, 200/s", "http @ 40, 50..150/s", "target req/s", "late p99", "Service time of the calls")
}

// TestRunDroppedCalls asks one worker for more than it can do: the row is invalid, and the run says so.
func TestRunDroppedCalls(t *testing.T) {
	raw, asJSON := filepath.Join(t.TempDir(), "dropped.jsonl"), filepath.Join(t.TempDir(), "dropped.json")
	args := []string{"run", "--subjects", "thrift,http", "--store", "memory", "--rate", "1000000", "--rounds", "1", "--concurrency", "1",
		"--duration", "200ms", "--warmup", "20ms", "--results", raw, "-o", "json=" + asJSON, "-o", "table"}
	r := bakeoff(t, args...)
	if r.code != exitIncomplete {
		t.Errorf("exit code %d, want %d", r.code, exitIncomplete)
	}
	wantAll(t, r.err, "not what was to be measured: thrift @ 1, 1000000/s (dropped, rate missed)")
	wantAll(t, strings.Join(strings.Fields(r.out), " "), "not ranked, see the notes", "of 200000 calls that were due (", "Not ranked, because")
	if again := bakeoff(t, "report", raw, "--rank-flagged"); again.code != exitOK {
		t.Errorf("report: exit code %d: %s", again.code, again.err)
	} else {
		wantAll(t, again.out, "Ranked as asked")
	}
	var tables report.Tables
	b, err := os.ReadFile(asJSON)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &tables); err != nil {
		t.Fatal(err)
	}
	for _, row := range tables.Rows {
		if row.Ranked || row.Outcomes.Dropped == 0 || !slices.ContainsFunc(row.Flags, func(f report.Flag) bool { return f.Kind == report.FlagDropped && f.Unranks }) {
			t.Errorf("%s: ranked %v, %d dropped, flags %+v", row.Subject, row.Ranked, row.Outcomes.Dropped, row.Flags)
		}
	}
}

func TestRateOfNextToNoCalls(t *testing.T) {
	got := (&rateFlags{}).warnings(plan.Settings{Rates: []string{"1", "500", "50%"}, Duration: 100 * time.Millisecond})
	if len(got) != 1 {
		t.Fatalf("%v", got)
	}
	wantAll(t, got[0].Text, "at 1/s about 0.1 calls are due in a window of 100ms")
}
