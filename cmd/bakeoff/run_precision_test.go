package main

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

func TestPlainly(t *testing.T) {
	for percent, want := range map[float64]string{0.123: "0.12", 1.56: "1.6", 9.96: "10", 130.4: "130"} {
		if got := plainly(percent); got != want {
			t.Errorf("%g: %s, want %s", percent, got, want)
		}
	}
}

func TestFurtherRounds(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, rounds int
		took, budget  time.Duration
		want          int
	}{
		{"the first doubling", 10, 10, 30 * time.Second, 10 * time.Minute, 10},                                // 3 s a round
		{"the second", 10, 20, 60 * time.Second, 10 * time.Minute, 20},                                        //
		{"what fits of it, if more than half", 10, 20, 60 * time.Second, 60*time.Second + 36*time.Second, 12}, // 36 s / 3 s = 12 of 20
		{"half", 10, 20, 60 * time.Second, 90 * time.Second, 10},                                              // 30 s / 3 s
		{"less than half", 10, 20, 60 * time.Second, 89 * time.Second, 0},                                     // 29 s / 3 s = 9
		{"nothing after what did not fit", 10, 32, 96 * time.Second, 10 * time.Minute, 0},
		{"the time is over", 10, 10, time.Hour, time.Minute, 0},
		{"rounds that took no time", 10, 10, 0, time.Minute, 10}, // +Inf fit
	} {
		if got := furtherRounds(c.first, c.rounds, c.took, c.budget); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestParseShare(t *testing.T) {
	for text, want := range map[string]float64{"2%": 0.02, " 0.5 %": 0.005, "99.9%": 0.999} {
		if got, err := parseShare(text); err != nil || math.Abs(got-want) > 1e-15 {
			t.Errorf("%q: %g, %v, want %g", text, got, err, want)
		}
	}
	for _, text := range []string{"", "2", "0.02", "0%", "-1%", "100%", "NaN%", "two%", "%"} {
		if got, err := parseShare(text); err == nil {
			t.Errorf("%q: %g", text, got)
		}
	}
}

// TestPrecision runs until the budget is spent, and then until it is precise enough: the file has whole blocks, is one plan, and its
// report is the run's.
func TestPrecision(t *testing.T) {
	for _, c := range []struct {
		name, within, budget string
		code, least          int
		say                  []string
	}{
		{"at once", "99%", "1m", exitOK, 8, []string{"server_rss is known within", "after 8 rounds, as asked for"}},
		{"never", "0.0001%", "1ns", exitIncomplete, 8, []string{"the precision of 0.0001% was not reached: server_rss is known within", "after 8 rounds", "a budget of 1ns"}},
	} {
		results := filepath.Join(t.TempDir(), "r.jsonl")
		r := bakeoff(t, "run", "--subjects", "http,http-tuned", "--rounds", "8", "--duration", "20ms", "--warmup", "5ms", "--concurrency", "4", "--seed", "7", "--store", "memory",
			"--results", results, "--precision", c.within, "--precision-of", "server_rss", "--budget", c.budget)
		if r.code != c.code {
			t.Fatalf("%s: exit code %d, want %d:\n%s", c.name, r.code, c.code, r.err)
		}
		wantAll(t, r.err, c.say...)
		wantAll(t, strings.Join(strings.Fields(r.out), " "), "97.5% interval", "with 97.5% intervals", "This is look 1")
		f, err := result.ReadFile(results)
		if err != nil {
			t.Fatal(err)
		}
		if p := f.Header.Precision; p == nil || p.Figure != "server_rss" || p.First != 8 || len(f.Trials) != 2*c.least {
			t.Errorf("%s: %+v, %d trials", c.name, p, len(f.Trials))
		}
		again := bakeoff(t, "report", results)
		if again.code != exitOK || again.out != r.out {
			t.Errorf("%s: report gives another document (exit code %d):\n%s", c.name, again.code, again.out)
		}
	}
}

// TestPrecisionAddsBlocks is interrupted within the blocks that were added: they are those of a plan of as many rounds.
func TestPrecisionAddsBlocks(t *testing.T) {
	results := filepath.Join(t.TempDir(), "r.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	r := bakeoffUntil(t, ctx, func(line string) {
		if strings.HasPrefix(line, "block 11 of 16") {
			cancel()
		}
	}, "run", "--subjects", "http,http-tuned", "--duration", "10ms", "--warmup", "5ms", "--concurrency", "2", "--seed", "7", "--store", "memory",
		"--rounds", "8", "--results", results, "--precision", "0.001%", "--budget", "10h")
	if r.code != exitInterrupted {
		t.Fatalf("exit code %d, want %d:\n%s", r.code, exitInterrupted, r.err)
	}
	wantAll(t, r.err, "0.001% is asked for: 8 more rounds", "block 8 of 8", "block 9 of 16")
	wantAll(t, strings.Join(strings.Fields(r.out), " "), "98.75% interval", "This is look 2")
	f, err := result.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Trials) != 20 {
		t.Fatalf("%d trials, want those of 10 rounds", len(f.Trials))
	}
	want := plan.Blocks(plan.Settings{Subjects: []string{"http", "http-tuned"}, Workloads: []string{"datatype"}, Concurrency: []int{2}, Rounds: 16, Seed: 7})
	for i, got := range f.Trials {
		if w := want[i]; got.Subject != w.Subject || got.Round != w.Round || got.Order != w.Order || got.Seed != w.Seed {
			t.Errorf("trial %d is %s, round %d, order %d, seed %d; in a plan of 16 rounds it is %s, %d, %d, %d",
				i+1, got.Subject, got.Round, got.Order, got.Seed, w.Subject, w.Round, w.Order, w.Seed)
		}
	}
}
