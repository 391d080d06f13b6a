package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// levelsRun is a short run of the experiment levels.
func levelsRun(results string, more ...string) []string {
	return append([]string{"run", "levels", "--subjects", "http", "--store", "memory", "--rounds", "1", "--concurrency", "2,8", "--iterations", "6,24", "--results", results}, more...)
}

// TestLevels is the published use: a service that gets slow under load shows it, step by step, and not after the fix.
func TestLevels(t *testing.T) {
	racing(t)
	dir := t.TempDir()
	slow, fixed, lines := filepath.Join(dir, "slow.jsonl"), filepath.Join(dir, "fixed.jsonl"), filepath.Join(dir, "lines.txt")
	r := bakeoff(t, levelsRun(slow, "--slow", "execution=pool(1,5ms)", "--lines", lines)...)
	measured(t, r)
	wantAll(t, r.out, "http @ 2 login", "http @ 2 verification", "http @ 8 execution", "the servers were slow on purpose (--slow execution=pool(1,5ms))")

	text, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, string(text), "# trial 1: http, scenario, ", "\n6:login ", "\n6:verification ", "\n24:execution ")
	if n := strings.Count(string(text), " 200\n"); n != 3*(6+24) {
		t.Errorf("%d steps with status 200 in:\n%s", n, text)
	}

	r = bakeoff(t, levelsRun(fixed)...)
	measured(t, r)
	if strings.Contains(r.out, "on purpose") {
		t.Error(r.out)
	}
	for _, tr := range append(trialsIn(t, slow).Trials, trialsIn(t, fixed).Trials...) {
		want := map[int]uint64{2: 6, 8: 24}[tr.Concurrency]
		if tr.Outcomes.OK != 3*want || len(tr.Firsts) != int(want) || tr.Window <= 0 || tr.Window > 30 {
			t.Errorf("%d at a time: %d calls, %d first iterations, window %v s; want %d iterations of three", tr.Concurrency, tr.Outcomes.OK, len(tr.Firsts), tr.Window, want)
		}
	}
	// One worker of 5 ms and eight sessions: none is done before, and who comes with others waits for them. Without the pool
	// the quickest of 24 is done sooner, on a busy machine too.
	before, after := execution(t, slow, 8), execution(t, fixed, 8)
	if before.Min < 5e6 || before.Max < 10e6 || after.Min >= 5e6 {
		t.Errorf("execution took %v to %v ns with the pool, and %v at least without", before.Min, before.Max, after.Min)
	}
	r = bakeoff(t, "report", slow, "-o", "iterations")
	wantAll(t, r.out, "Scenario, http, ms ('#' login, '=' verification, '.' execution)\n 1 http @ 2 ", "\n 1 http @ 8 ", "\n24 http @ 8 ")
}

// execution is how long execution took at a level.
func execution(t *testing.T, path string, concurrency int) result.Histogram {
	t.Helper()
	for _, tr := range trialsIn(t, path).Trials {
		for _, h := range tr.Histograms {
			if tr.Concurrency == concurrency && h.Step == "execution" && h.Outcome == result.OutcomeOK {
				return h
			}
		}
	}
	t.Fatalf("%s has no execution at %d", path, concurrency)
	return result.Histogram{}
}

func TestLevelsUsage(t *testing.T) {
	dir := t.TempDir()
	there, fresh := filepath.Join(dir, "there.txt"), filepath.Join(dir, "fresh.jsonl")
	if err := os.WriteFile(there, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "--lines", there}, "--lines: " + there + " exists and would be lost"},
		{[]string{"run", "--lines", fresh, "--results", fresh}, "--lines: " + fresh + " is the result file"},
		{[]string{"run", "--lines", fresh, "-o", "json=" + fresh}, fresh + " is that of --lines"},
		{[]string{"run", "levels", "--lines", fresh, "--print"}, "--lines with --print"},
		{[]string{"run", "--slow", "execution"}, `--slow "execution": must be STEP=pool(WORKERS,TIME)`},
		{[]string{"run", "--slow", "login=pool(1,1s)", "--slow", "login=pool(2,1s)"}, "login has a pool already"},
		{[]string{"serve", "http", "--slow", "logout=pool(1,1s)"}, "the step is one of login, verification, execution"},
		{[]string{"run", "--target", "http=127.0.0.1:1", "--slow", "login=pool(1,1s)"}, "--slow: the targets run already"},
		{[]string{"run", "levels", "--concurrency", "5"}, "iterations: 2 numbers for 1 level of concurrency"},
		{[]string{"run", "levels", "--rate", "100"}, "iterations: they end a closed loop, and there are rates"},
		{[]string{"run", "--workload", "payload-0,scenario"}, "--workload scenario has the servers check tokens: the workload payload-0 can't have it"},
	} {
		r := bakeoff(t, c.args...)
		if r.code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", c.args, r.code, exitUsage)
		}
		wantAll(t, r.err, c.want)
	}
	if text, err := os.ReadFile(there); err != nil || string(text) != "mine" {
		t.Errorf("the file that was there: %q, %v", text, err)
	}
	if r := bakeoff(t, "run", "levels", "--iterations", "0", "--concurrency", "5", "--print"); r.code != exitOK || strings.Contains(r.out, "iterations") {
		t.Errorf("without iterations: exit code %d\n%s%s", r.code, r.out, r.err)
	}
}
