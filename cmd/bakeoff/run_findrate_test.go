package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bakeoff/harness/plan"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
)

// searching is a command line for a search that is over in seconds.
func searching(results, objective string, more ...string) []string {
	return append([]string{"run", "--find-rate", objective, "--subjects", "http", "--store", "memory", "--rounds", "2", "--duration", "100ms", "--warmup", "20ms", "--concurrency", "8",
		"--seed", "7", "--results", results}, more...)
}

// TestFindRate finds the rate at which a subject begins to drop calls, and measures there.
func TestFindRate(t *testing.T) {
	dir := t.TempDir()
	raw, asJSON := filepath.Join(dir, "r.jsonl"), filepath.Join(dir, "r.json")
	r := bakeoff(t, searching(raw, "p50<500ms", "-o", "table", "-o", "json="+asJSON)...)
	if r.code != exitOK && r.code != exitIncomplete { // at the edge calls may well be dropped, which takes that row out of the ranking
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	wantAll(t, r.err, "search for the highest rate that holds p50<500ms", "search 1: http at 8, closed loop: ", "search 2: http at 8, ", "; found: ", "block 1 of 2: 4 trials")
	file, err := result.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	if h := file.Header; h.FindRate == nil || h.FindRate.Objective != "p50<500ms" || h.Planned != 8 || len(file.Trials) != 8 || len(file.Searches) < 3 {
		t.Fatalf("%+v: %d of %d trials, %d of the search", h.FindRate, len(file.Trials), h.Planned, len(file.Searches))
	}
	last := file.Searches[len(file.Searches)-1].Search
	if last.End == "" || last.HighestHeld == 0 || len(last.Rates) != 4 || last.Rates[3] != last.HighestHeld {
		t.Errorf("the search ended with %+v", last)
	}
	for i, tr := range file.Searches {
		if tr.Order != i+1 || tr.Search == nil || (tr.Mode == result.ModeClosed) != (i == 0) || i > 0 && tr.Search.Held == nil && tr.Error == "" {
			t.Errorf("trial %d of the search: order %d, %s loop, %+v", i+1, tr.Order, tr.Mode, tr.Search)
		}
	}
	rates := map[string]int{}
	for i, tr := range file.Trials {
		rates[tr.Rate]++
		if tr.Order != i+1 || tr.Mode != result.ModeOpen || tr.Search != nil {
			t.Errorf("trial %d: order %d, %s loop, %+v", i+1, tr.Order, tr.Mode, tr.Search)
		}
	}
	for _, rate := range last.Rates {
		if rates[strconv.FormatUint(rate, 10)] != 2 {
			t.Errorf("%d/s was measured in other than 2 rounds: %v", rate, rates)
		}
	}

	b, err := os.ReadFile(asJSON)
	if err != nil {
		t.Fatal(err)
	}
	var tables report.Tables
	if err := json.Unmarshal(b, &tables); err != nil {
		t.Fatal(err)
	}
	if len(tables.FindRate.Found) != 1 || len(tables.Rows) != 4 {
		t.Fatalf("%d found, %d rows", len(tables.FindRate.Found), len(tables.Rows))
	}
	f := tables.FindRate.Found[0]
	if f.Rate != last.HighestHeld || f.Missed != last.LowestMissed || f.Trials != len(file.Searches) || f.Closed <= 0 || len(f.Levels) != 4 {
		t.Errorf("%+v", f)
	}
	for _, l := range f.Levels {
		if l.Rounds != 2 {
			t.Errorf("%+v", l)
		}
	}
	wantAll(t, r.out, "highest rate that holds p50<500ms", "50%", "100%", fmt.Sprintf("http @ 8: %d/s", f.Rate))
	if again := bakeoff(t, "report", raw); again.code != exitOK || again.out != r.out {
		t.Errorf("report gives another document (exit code %d):\n%s\nthe run:\n%s", again.code, again.out, r.out)
	}
}

// TestFindRateFindsNone has an objective that nothing holds.
func TestFindRateFindsNone(t *testing.T) {
	raw := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoff(t, searching(raw, "max<1ns")...)
	if r.code != exitIncomplete {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	wantAll(t, r.err, "; no rate found", "no rate was found that holds max<1ns: http @ 8: the objective was missed at 379/s already") // (20+4*sqrt(20))/0.1 s
	wantAll(t, r.out, "the objective was missed at 379/s")
	if strings.Contains(r.out, "interrupted") {
		t.Error(r.out)
	}
	if f, err := result.ReadFile(raw); err != nil || len(f.Trials) != 0 || len(f.Searches) < 3 {
		t.Errorf("%d trials, %d of the search, %v", len(f.Trials), len(f.Searches), err)
	}
}

// TestFindRateInterrupted is interrupted in its search, and again when it measures: nothing is done twice.
func TestFindRateInterrupted(t *testing.T) {
	raw := filepath.Join(t.TempDir(), "r.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	r := bakeoffUntil(t, ctx, func(line string) {
		if strings.HasPrefix(line, "search 3") {
			cancel()
		}
	}, searching(raw, "p50<500ms")...)
	if r.code != exitInterrupted {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	wantAll(t, r.err, "interrupted; what had ended until then is kept", "run --resume")
	wantAll(t, r.out, "the search was interrupted after 2 looks", "0 of 8 trials")
	again := bakeoff(t, "report", raw)
	if again.code != exitOK || again.out != r.out {
		t.Errorf("report gives another document (exit code %d):\n%s", again.code, again.out)
	}

	file, err := result.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	made := len(file.Searches)

	// It goes on with the search, is interrupted when it measures, and does the rest.
	ctx, cancel = context.WithCancel(t.Context())
	r = bakeoffUntil(t, ctx, func(line string) {
		if strings.HasPrefix(line, "block 2 of 2") {
			cancel()
		}
	}, "run", "--resume", raw)
	if r.code != exitInterrupted {
		t.Fatalf("resumed: exit code %d: %s", r.code, r.err)
	}
	wantAll(t, r.err, fmt.Sprintf("search %d: http at 8", made+1), "; found: ", "block 1 of 2")
	if strings.Contains(r.err, "search 1: ") || strings.Contains(r.err, fmt.Sprintf("search %d: ", made)) {
		t.Errorf("what was searched was searched again:\n%s", r.err)
	}
	r = bakeoff(t, "run", "--resume", raw)
	if strings.Contains(r.err, "search ") || strings.Contains(r.err, "block 1 of 2") {
		t.Errorf("what was found was searched again:\n%s", r.err)
	}
	wantAll(t, r.err, "block 2 of 2")
	if file, err = result.ReadFile(raw); err != nil || len(file.Trials) != 8 {
		t.Fatalf("%d trials, %v\n%s", len(file.Trials), err, r.err)
	}
	for i, s := range file.Searches {
		if s.Order != i+1 || s.Round != i+1 || (s.Search.End != "") != (i == len(file.Searches)-1) || s.Resumed != map[bool]int{false: 0, true: 1}[i >= made] {
			t.Errorf("search %d: order %d, number %d, end %q, resumed %d", i+1, s.Order, s.Round, s.Search.End, s.Resumed)
		}
	}
	rates := file.Searches[len(file.Searches)-1].Search.Rates
	for i, tr := range file.Trials {
		if !slices.ContainsFunc(rates, func(rate uint64) bool { return fmt.Sprint(rate) == tr.Rate }) || tr.Order < 1 || tr.Order > 8 {
			t.Errorf("trial %d is at %s, order %d; found were %v", i+1, tr.Rate, tr.Order, rates)
		}
	}
	lines := strings.SplitAfter(string(readAll(t, raw)), "\n")
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"a search out of its order":     {slices.Concat(lines[:1], lines[2:4]), "line 2: trial 2 of the search of http at 8 is not the one that came next"},
		"a trial at a rate too early":   {slices.Concat(lines[:2], lines[len(file.Searches)+1:]), "a trial at a rate, and the search for the rates is not over"},
		"a search of something else":    {slices.Concat(lines[:1], []string{strings.Replace(lines[1], `"concurrency":8`, `"concurrency":9`, 1)}), "is of 0 searches of the plan"},
		"a trial at a rate of its own":  {slices.Concat(lines[:len(file.Searches)+1], []string{strings.Replace(lines[len(file.Searches)+1], `"rate":"`, `"rate":"9`, 1)}), "is not the one of the plan"},
		"a search with another request": {slices.Concat(lines[:1], []string{strings.Replace(lines[1], `"seed":`, `"seed":1`, 1)}), "is not the one that came next"},
	} {
		changed := filepath.Join(t.TempDir(), "changed.jsonl")
		if err := os.WriteFile(changed, []byte(strings.Join(c.lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := bakeoff(t, "run", "--resume", changed); r.code != exitUsage || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: exit code %d: %s, want %s", name, r.code, r.err, c.want)
		}
	}
	whole := bakeoff(t, "run", "--resume", raw)
	wantAll(t, whole.err, "nothing is missing")
	if whole.out != r.out || whole.code != r.code {
		t.Errorf("another report (exit codes %d and %d):\n%s\n%s", r.code, whole.code, r.out, whole.out)
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFindRateUsage(t *testing.T) {
	if _, err := (findRateFlags{"p99<5ms"}).apply(&plan.Settings{Rates: []string{"500"}}, func(flag string) bool { return flag == "find-rate" }); err == nil ||
		!strings.Contains(err.Error(), "rates of its own (500)") {
		t.Errorf("an experiment with rates: %v", err)
	}
	for _, c := range []struct{ args, want []string }{
		{[]string{"p99>5ms"}, []string{`--find-rate "p99>5ms": column 4: want < after p99`}},
		{[]string{" "}, []string{`--find-rate " ": column 2: want a percentile`}},
		{[]string{"p99<5ms", "--rate", "500"}, []string{"--rate with --find-rate"}},
		{[]string{"p99<5ms", "--precision", "2%"}, []string{"--precision with --find-rate"}},
		{[]string{"p99<5ms", "--budget", "5m"}, []string{"--budget", "--precision"}},
		{[]string{"p99<5ms", "--duration", "0s"}, []string{"duration 0s"}},
		{[]string{"p99.99<5ms", "--duration", "50ms"}, []string{`--find-rate "p99.99<5ms" needs 100000 calls`, "--duration 50ms", "1000000/s", "a longer one"}},
	} {
		r := bakeoff(t, append([]string{"run", "--find-rate"}, c.args...)...)
		if r.code != exitUsage || r.out != "" {
			t.Errorf("%v: exit code %d, stdout %q", c.args, r.code, r.out)
		}
		wantAll(t, r.err, c.want...)
	}
}

// TestSearchTakes goes through what may come of a trial.
func TestSearchTakes(t *testing.T) {
	o, err := report.ParseObjective("failed<50%")
	if err != nil {
		t.Fatal(err)
	}
	c := &search{name: "s at 5", template: plan.Trial{Subject: "s", Concurrency: 5, Duration: time.Minute}, RateSearch: plan.RateSearch{Floor: 100, Ceiling: 1_000_000}}
	take := func(tr result.Trial, want string) *result.Trial {
		t.Helper()
		tr.Subject, tr.Concurrency = "s", 5
		if err := c.take(&tr, o); err != nil {
			t.Fatal(err)
		}
		if got := c.tell(tr); got != want || tr.Kind != result.KindSearch {
			t.Errorf("%q, want %q; kind %s", got, want, tr.Kind)
		}
		return &tr
	}
	next := func(number int, rate string, d time.Duration) {
		t.Helper()
		if tr := c.trial(number, number, 42); tr.Rate != rate || tr.Duration != d || tr.Round != number || tr.Subject != "s" || tr.Concurrency != 5 {
			t.Errorf("trial %d: %+v, want rate %q, %v", number, tr, rate, d)
		}
	}
	next(1, "", closedLoop)
	take(result.Trial{Error: "the server died"}, "s at 5: FAILED: the server died")
	next(2, "", closedLoop) // again
	take(result.Trial{Values: map[string]float64{result.Throughput: 10_000}}, "s at 5, closed loop: 10000/s")
	next(3, "7500", time.Minute)
	take(result.Trial{Rate: "7500", Error: "40 of 100 calls failed", Outcomes: result.Outcomes{Started: 100, Failed: map[string]uint64{"timeout": 40}}},
		"s at 5, 7500/s: missed, 40 of 100 calls failed") // the load was stopped for it: that is an answer
	take(result.Trial{Rate: "7500", Error: "the server died", TurnsMade: new(0), Outcomes: result.Outcomes{Started: 100, Failed: map[string]uint64{"reset": 40}}},
		"s at 5: FAILED: the server died") // that its calls failed is none
	next(5, "7500", time.Minute)
	take(result.Trial{Rate: "7500", Outcomes: result.Outcomes{Started: 100, OK: 50, CutOff: 50}}, "s at 5, 7500/s: missed, failed 50.0%")
	next(6, "5300", time.Minute)
	tr := take(result.Trial{Rate: "5300", Outcomes: result.Outcomes{Started: 100, OK: 100}}, "s at 5, 5300/s: held, failed 0%")
	if s := tr.Search; s.HighestHeld != 5300 || s.LowestMissed != 7500 || s.End != "" || s.Rates != nil {
		t.Errorf("%+v", s)
	}
	for range giveUp - 1 {
		take(result.Trial{Rate: "6300", Error: "no figures"}, "s at 5: FAILED: no figures")
	}
	tr = take(result.Trial{Rate: "6300", Error: "no figures"}, "s at 5: FAILED: no figures; no rate found")
	if s := tr.Search; !c.over() || c.found() != 0 || s.End != result.EndFailed || s.HighestHeld != 5300 || s.Rates != nil {
		t.Errorf("%+v", s)
	}
}

// TestSearchEndsAreOne has the file's words be the plan's.
func TestSearchEndsAreOne(t *testing.T) {
	for a, b := range map[string]string{plan.EndFound: result.EndFound, plan.EndNone: result.EndNone, plan.EndAll: result.EndAll, plan.EndSpent: result.EndSpent} {
		if a != b {
			t.Errorf("%q is %q in the file", a, b)
		}
	}
}
