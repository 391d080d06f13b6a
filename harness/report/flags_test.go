package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

func TestFlags(t *testing.T) {
	clean := func(round int) result.Trial {
		tr := small("a", round, 1, 1e-6, 1e-6)
		tr.Outcomes = result.Outcomes{Started: 1, OK: 1}
		return tr
	}
	for _, row := range []struct {
		name   string
		change func([]result.Trial) []result.Trial
		want   string // kinds
		text   string // in one of them
	}{
		{"nothing", func(ts []result.Trial) []result.Trial { return ts }, "", ""},
		{"five rounds", func(ts []result.Trial) []result.Trial { return ts[:5] }, "too_few_rounds", "5 rounds: an interval of 95% needs 6; the whole range holds the median with 93.8%"},
		{"failures", func(ts []result.Trial) []result.Trial {
			ts[2].Outcomes = result.Outcomes{Started: 4, OK: 1, Failed: map[string]uint64{"b": 2, "a": 1}}
			ts[2].Examples = []result.Example{{Class: "a", Message: "x", Count: 1}, {Class: "b", Message: "why\nmore", Count: 2}}
			return ts
		}, "failures", "3 of 9 calls failed: a 1, b 2 (b: why)"}, // 5*1 + 4
		{"dropped", func(ts []result.Trial) []result.Trial { ts[0].Outcomes.Dropped = 3; return ts }, "dropped", "due and never started: 3 calls"},
		{"one dropped", func(ts []result.Trial) []result.Trial { ts[0].Outcomes.Dropped = 1; return ts }, "dropped", "due and never started: 1 call"},
		{"one round", func(ts []result.Trial) []result.Trial {
			ts[0].Outcomes = result.Outcomes{Started: 1, Failed: map[string]uint64{"b": 1}}
			ts[0].Warnings = []result.Warning{{Kind: "steal", Text: "2 %"}}
			return ts[:1]
		}, "too_few_rounds failures steal", "steal in 1 of 1 round: 2 %"},
		{"counts", func(ts []result.Trial) []result.Trial { ts[0].Outcomes.Started = 3; return ts }, "counts_differ", ""},
		{"options", func(ts []result.Trial) []result.Trial { ts[5].Options = json.RawMessage(`{"x":1}`); return ts }, "options_differ", ""},
		{"clamped", func(ts []result.Trial) []result.Trial {
			for i := range ts {
				ts[i].Histograms = []result.Histogram{times(t, "s", result.OutcomeOK, result.TimeResponse, 20_000, 11)} // the longest takes 12 * 11 = 132 s
			}
			return ts
		}, "clamped", "percentiles that reach there are too low"},
		{"clamped, as the trial says itself", func(ts []result.Trial) []result.Trial {
			ts[0].Histograms = []result.Histogram{times(t, "s", result.OutcomeOK, result.TimeResponse, 20_000, 11)}
			ts[0].Warnings = []result.Warning{{Kind: "clamped", Text: "20 calls took over 2m0s"}}
			for i := range ts[1:] {
				ts[i+1].Histograms = []result.Histogram{times(t, "s", result.OutcomeOK, result.TimeResponse, 20_000, 1)}
			}
			return ts
		}, "clamped", "clamped in 1 of 6 rounds: 20 calls took over 2m0s"},
		{"unknown in one round", func(ts []result.Trial) []result.Trial { delete(ts[1].Values, result.ServerRSS); return ts }, "incomplete", "server_rss is known in 5 of 6 rounds only: not measured"},
		{"a negative figure is no figure", func(ts []result.Trial) []result.Trial { ts[1].Values[result.Throughput] = -1; return ts }, "incomplete", "throughput is known in 5 of 6"},
		{"a failed trial", func(ts []result.Trial) []result.Trial {
			return append(ts, result.Trial{Subject: "a", Workload: "w", Concurrency: 10, Round: 7, Error: "died\nlast words"}) // before it knew its mode
		}, "missing_rounds", "no figures in 1 of 7 rounds; round 7: died"},
		{"a failed trial that knows its store by address", func(ts []result.Trial) []result.Trial {
			for i := range ts {
				ts[i].Store = "aerospike 8.1.2.0 at h:3000"
			}
			return append(ts, result.Trial{Subject: "a", Workload: "w", Concurrency: 10, Round: 7, Store: "aerospike://h:3000/test", Error: "died"})
		}, "missing_rounds", "no figures in 1 of 7 rounds; round 7: died"},
		{"failed trials that had come some way", func(ts []result.Trial) []result.Trial {
			for round, made := range map[int]int{7: 4, 8: 0} {
				tr := result.Trial{Subject: "a", Workload: "w", Concurrency: 10, Round: round, Turns: 10, TurnsMade: &made, Error: "died"}
				if made > 0 {
					tr.Outcomes = result.Outcomes{Started: 1300, OK: 1240, Failed: map[string]uint64{"unavailable": 60}}
					tr.Examples = []result.Example{{Class: "unavailable", Message: "gone", Count: 60}}
				}
				ts = append(ts, tr)
			}
			return ts
		}, "missing_rounds", "no figures in 2 of 8 rounds; round 7: died; not in any figure: 1300 calls that had been made, in 4 of 20 turns, of which 60 failed: unavailable 60 (unavailable: gone)"},
		{"a failed trial of one piece", func(ts []result.Trial) []result.Trial {
			return append(ts, result.Trial{Subject: "a", Workload: "w", Concurrency: 10, Round: 7, Turns: 1, TurnsMade: new(0), Outcomes: result.Outcomes{Started: 1, CutOff: 1}, Error: "died"})
		}, "missing_rounds", "round 7: died; not in any figure: 1 call that had been made"},
		{"turns that were not made", func(ts []result.Trial) []result.Trial {
			for i := range ts {
				ts[i].Turns, ts[i].TurnsMade = 10, new(10)
			}
			ts[2].TurnsMade = new(4)
			return ts
		}, "turns_missing", "not all turns were made in 1 of 6 rounds; round 3: 4 of 10"},
		{"a trial that was tried again", func(ts []result.Trial) []result.Trial {
			return append([]result.Trial{{Subject: "a", Workload: "w", Concurrency: 10, Round: 3, Error: "died"}}, ts...)
		}, "", ""},
		{"a round twice", func(ts []result.Trial) []result.Trial { return append(ts, clean(3)) }, "repeated_rounds", "round 3 was measured more than once; the first counts"},
		{"warnings of one kind", func(ts []result.Trial) []result.Trial {
			for _, i := range []int{1, 3} {
				ts[i].Warnings = []result.Warning{{Kind: "drift", Text: fmt.Sprintf("round %d", i)}, {Kind: "drift", Text: "again"}}
			}
			return ts
		}, "drift", "drift in 2 of 6 rounds: round 1"},
		{"the driver in half of the rounds", func(ts []result.Trial) []result.Trial { return limit(ts, 3) }, "driver_limited", "driver limited in 3 of 6 rounds: t"},
		{"the driver in most rounds", func(ts []result.Trial) []result.Trial { return limit(ts, 4) }, "driver_limited", "driver limited in 4 of 6 rounds: t; the throughput is a lower bound"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var trials []result.Trial
			for round := 1; round <= 6; round++ {
				trials = append(trials, clean(round))
			}
			tables := build(t, fileOf([]string{"a"}, row.change(trials)...), "")
			if len(tables.Rows) != 1 {
				t.Fatalf("%d rows: %+v", len(tables.Rows), tables.Rows)
			}
			r := tables.Rows[0]
			if kinds(r) != row.want {
				t.Errorf("flags %q, want %q", kinds(r), row.want)
			}
			if row.text != "" && !slices.ContainsFunc(r.Flags, func(f Flag) bool { return strings.Contains(f.Text, row.text) }) {
				t.Errorf("flags %+v, want %q", r.Flags, row.text)
			}
			if got, want := r.DriverLimited(), row.name == "the driver in most rounds"; got != want {
				t.Errorf("driver limited is %v", got)
			}
		})
	}
}

func limit(ts []result.Trial, n int) []result.Trial {
	for i := range n {
		ts[i].Warnings = []result.Warning{{Kind: FlagDriverLimited, Text: "t"}}
	}
	return ts
}

func TestASubjectWithoutAVerdictIsFlagged(t *testing.T) {
	r := build(t, fileOf(nil, small("a", 1, 1, 1, 1)), "").Rows[0]
	if !r.Ranked || !strings.HasPrefix(kinds(r), FlagNotChecked) {
		t.Errorf("ranked %v, flags %q", r.Ranked, kinds(r))
	}
}
