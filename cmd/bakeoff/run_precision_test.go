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
	"bakeoff/harness/result/resulttest"
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

	// It goes on to its second look, which costs the level of the third: its figures were seen in between.
	ctx, cancel = context.WithCancel(t.Context())
	r = bakeoffUntil(t, ctx, func(line string) {
		if strings.HasPrefix(line, "block 17 of 32") {
			cancel()
		}
	}, "run", "--resume", results)
	if r.code != exitInterrupted {
		t.Fatalf("resumed: exit code %d, want %d:\n%s", r.code, exitInterrupted, r.err)
	}
	wantAll(t, r.err, "block 11 of 16: 2 trials", "block 16 of 16: 2 trials", "after 16 rounds; 0.001% is asked for: 16 more rounds")
	for _, unwanted := range []string{"block 10 of", "after 11 rounds", "after 17 rounds"} {
		if strings.Contains(r.err, unwanted) {
			t.Errorf("resumed: %q is in\n%s", unwanted, r.err)
		}
	}
	wantAll(t, strings.Join(strings.Fields(r.out), " "), "This is look 3", "99.375% interval")
	if f, err = result.ReadFile(results); err != nil {
		t.Fatal(err)
	}
	for i, got := range f.Trials {
		if got.Order != i+1 || got.Resumed != map[bool]int{false: 0, true: 1}[i >= 20] {
			t.Errorf("trial %d has order %d and was resumed %d times", i+1, got.Order, got.Resumed)
		}
	}
}

// TestStepOfResumed: a run that is resumed goes on to its next look, as far as its budget has room, and not further by what it has seen.
func TestStepOfResumed(t *testing.T) {
	j := &job{precision: &result.Precision{Figure: result.ServerRSS, Target: 1e-9, First: 8}}
	h := result.Header{Precision: j.precision, Subjects: []result.Subject{{Name: "a", Conformant: true}, {Name: "b", Conformant: true}}}
	trials := func(rounds, resumed int) (all []result.Trial) {
		for round := 1; round <= rounds; round++ {
			for i, name := range []string{"a", "b"} {
				all = append(all, result.Trial{Subject: name, Workload: "w", Mode: result.ModeClosed, Concurrency: 1, Conns: 1, Round: round, Order: len(all) + 1, Resumed: resumed,
					Window: 1, Elapsed: 1, Started: time.Unix(int64(2*round+i), 0), Outcomes: result.Outcomes{Started: 1, OK: 1},
					Values:     map[string]float64{result.ServerRSS: float64(1000 + (7*round+13*i*round)%11)},
					Histograms: []result.Histogram{resulttest.Times(t, "w", result.OutcomeOK, 1, 1e6)}})
			}
		}
		return all
	}
	for _, c := range []struct {
		name         string
		rounds       int
		took, budget time.Duration
		resumed      bool
		more         int
	}{
		{"to the first look, of which none is missing", 8, 8 * time.Second, time.Hour, true, 8},
		{"to the second look", 11, 11 * time.Second, time.Hour, true, 5},
		{"as far as there is time, which is less than half", 11, 11 * time.Second, 13 * time.Second, true, 2},
		{"no time is left", 11, 11 * time.Second, 11 * time.Second, true, 0},
		{"time is over", 11, 11 * time.Second, time.Second, true, 0},
		{"not resumed: its budget ended it there", 11, 11 * time.Second, time.Hour, false, 0},
		{"at the second look", 16, 16 * time.Second, time.Hour, true, 16},
	} {
		j.flags.precision.budget = c.budget
		s, err := j.step(h, trials(c.rounds, 0), c.rounds, c.took, c.resumed, true)
		if err != nil || s.more != c.more || (s.missed == "") != (c.more > 0) {
			t.Errorf("%s: %+v, %v, want %d more rounds", c.name, s, err, c.more)
		}
	}
	j.precision.Target, j.flags.precision.budget = 0.5, time.Hour
	for _, c := range []struct {
		name   string
		rounds int
		budget time.Duration
		unseen bool
		more   int
	}{
		{"known well enough at a look", 16, time.Hour, true, 0},
		{"between two looks, when that was seen before", 11, time.Hour, false, 0},
		{"between two looks, by what is new", 11, time.Hour, true, 5},
		{"there, with no time to go on", 11, time.Second, true, 0},
	} {
		j.flags.precision.budget = c.budget
		if s, err := j.step(h, trials(c.rounds, 1), c.rounds, time.Minute, true, c.unseen); err != nil || s.more != c.more || s.missed != "" {
			t.Errorf("%s: %+v, %v, want %d more", c.name, s, err, c.more)
		}
	}
	p := &past{File: result.File{Trials: append(trials(8, 0), trials(3, 1)...)}}
	if got := p.spent(); got != 22*time.Second { // 8 rounds: from 2 s to 18 s; 3 more: from 2 s to 8 s
		t.Errorf("spent %v", got)
	}
}
