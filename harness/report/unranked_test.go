package report

import (
	"fmt"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// TestUnranked has b doubt its figures in some of six rounds, and looks whether it keeps its place.
func TestUnranked(t *testing.T) {
	for _, row := range []struct {
		name    string
		rounds  int // with the warning
		warning string
		dropped uint64 // in each round, of 1000 that were due
		unranks bool
	}{
		{"no doubt", 0, "", 0, false},
		{"one of 1000 dropped: 0.1 %", 0, "", 1, false},
		{"two of 1000 dropped", 0, "", 2, true},
		{"the rate missed in half of the rounds", 3, result.WarnRateMissed, 0, false},
		{"the rate missed in most rounds", 4, result.WarnRateMissed, 0, true},
		{"Little's law broken in most rounds", 4, result.WarnLittle, 0, true},
		{"the server counted other calls, once", 1, result.WarnServerCount, 0, true},
		{"the store counted other operations, once", 1, result.WarnStoreCount, 0, true},
		{"drift in half of the rounds", 3, result.WarnDrift, 0, false},
		{"drift in most rounds", 4, result.WarnDrift, 0, true},
		{"the CPU quota ran out in half of the rounds", 3, result.WarnThrottled, 0, false},
		{"the CPU quota ran out in most rounds", 4, result.WarnThrottled, 0, true},
		{"packets were dropped in half of the rounds", 3, result.WarnPacketsDropped, 0, false},
		{"packets were dropped in most rounds", 4, result.WarnPacketsDropped, 0, true},
		{"connections were dialled in half of the rounds", 3, result.WarnRedialled, 0, false},
		{"connections were dialled in most rounds", 4, result.WarnRedialled, 0, true},
		{"the driver was the limit in all rounds", 6, result.WarnDriverLimited, 0, false},
		{"CPUs were shared in all rounds", 6, "shared_cpu", 0, false},
		{"CPU was stolen in all rounds", 6, "stolen", 0, false},
	} {
		var trials []result.Trial
		for round := 1; round <= 6; round++ {
			for _, subject := range []string{"a", "b"} {
				tr := small(subject, round, 100, 1e-6, 1e-6)
				tr.Mode, tr.Rate, tr.Arrivals = result.ModeOpen, "500", "constant"
				tr.Outcomes = result.Outcomes{Started: 1000, OK: 1000}
				if subject == "b" {
					tr.Outcomes = result.Outcomes{Started: 1000 - row.dropped, OK: 1000 - row.dropped, Dropped: row.dropped}
					if round <= row.rounds {
						tr.Warnings = []result.Warning{{Kind: row.warning, Text: "the evidence"}}
					}
				}
				trials = append(trials, tr)
			}
		}
		f := fileOf([]string{"a", "b"}, trials...)
		for _, asked := range []bool{false, true} {
			tables, err := Build(f, Options{RankFlagged: asked})
			if err != nil {
				t.Fatal(err)
			}
			b := tables.Rows[1]
			if want := !row.unranks || asked; b.Ranked != want || (len(tables.Comparisons) > 0) != want {
				t.Errorf("%s, rank flagged %v: ranked %v with %d comparisons", row.name, asked, b.Ranked, len(tables.Comparisons))
			}
			if got := len(tables.Invalid()) > 0; got != row.unranks {
				t.Errorf("%s, rank flagged %v: invalid rows %v", row.name, asked, tables.Invalid())
			}
			words := strings.Join(tables.Words, "\n")
			if said := strings.Contains(words, "not what was to be measured: b @ 10, 500/s ("); said != row.unranks {
				t.Errorf("%s, rank flagged %v: the words are %s", row.name, asked, words)
			}
			text := render(t, Text, tables)
			if said := strings.Contains(text, "not ranked, see the notes"); said != (row.unranks && !asked) {
				t.Errorf("%s, rank flagged %v:\n%s", row.name, asked, text)
			}
		}
	}
}

// TestDriftOfOneRound leaves a run of one round its place: one in a hundred steady windows is taken for a drifting one.
func TestDriftOfOneRound(t *testing.T) {
	for _, rounds := range []int{1, 2} {
		var trials []result.Trial
		for round := 1; round <= rounds; round++ {
			tr := small("a", round, 1, 1, 1)
			tr.Warnings = []result.Warning{{Kind: result.WarnDrift, Text: "the evidence"}}
			trials = append(trials, tr)
		}
		tables, err := Build(fileOf([]string{"a"}, trials...), Options{})
		if err != nil || tables.Rows[0].Ranked != (rounds == 1) {
			t.Errorf("drift in %d of %d rounds: %+v, %v", rounds, rounds, tables.Rows, err)
		}
	}
}

// TestABaselineThatIsNotRanked is compared with nothing.
func TestABaselineThatIsNotRanked(t *testing.T) {
	a, b := small("a", 1, 1, 1, 1), small("b", 1, 1, 1, 1)
	a.Outcomes.Dropped = 2
	tables, err := Build(fileOf([]string{"a", "b"}, a, b), Options{Baseline: "a"})
	if err != nil || len(tables.Comparisons) > 0 || tables.Rows[0].Ranked || !tables.Rows[1].Ranked {
		t.Errorf("%d comparisons, rows %+v, %v", len(tables.Comparisons), tables.Rows, err)
	}
}

// TestRatesAreLevels keeps rows of another rate or other arrivals apart, in the order of the rates.
func TestRatesAreLevels(t *testing.T) {
	var trials []result.Trial
	for _, rate := range []string{"2000", "500", "1000..3000", "500/900"} {
		for _, subject := range []string{"a", "b"} {
			tr := small(subject, 1, 100, 1e-6, 1e-6)
			tr.Mode, tr.Rate, tr.Arrivals = result.ModeOpen, rate, "constant"
			trials = append(trials, tr)
		}
	}
	other := trials[0]
	other.Subject, other.Arrivals = "b", "poisson"
	tables := build(t, fileOf([]string{"a", "b"}, append(trials, other)...), "")
	var got []string
	for _, r := range tables.Rows {
		got = append(got, fmt.Sprintf("%s %s %s", r.Subject, r.Rate, r.Arrivals))
	}
	want := "a 500 constant|b 500 constant|a 500/900 constant|b 500/900 constant|a 1000..3000 constant|b 1000..3000 constant|" +
		"a 2000 constant|b 2000 constant|b 2000 poisson"
	if strings.Join(got, "|") != want {
		t.Errorf("rows %v\nwant %v", strings.Join(got, "|"), want)
	}
	for _, c := range tables.Comparisons {
		if c.Arrivals == "poisson" {
			t.Errorf("poisson is compared with constant: %+v", c)
		}
		if c.Metric == "throughput" {
			t.Errorf("a throughput is compared that was given: %+v", c)
		}
	}
}
