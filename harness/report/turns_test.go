package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

func TestInTurns(t *testing.T) {
	for _, row := range []struct {
		turns []int
		want  string
	}{
		{nil, ""},
		{[]int{0, 0}, ""},
		{[]int{10, 10}, "measured in 10 turns"},
		{[]int{10, 2}, "measured in 2 to 10 turns"},
		{[]int{0, 5}, "measured in 1 to 5 turns"},
	} {
		var tables Tables
		for _, n := range row.turns {
			tables.Rows = append(tables.Rows, Row{Turns: n})
		}
		if got := inTurns(tables.Rows); got != row.want {
			t.Errorf("%v: %q, want %q", row.turns, got, row.want)
		}
	}
}

func TestFewerTurns(t *testing.T) {
	if mostTurns != plan.MostTurns {
		t.Errorf("the report takes %d turns for the most, and the plan %d", mostTurns, plan.MostTurns)
	}
	for _, row := range []struct {
		name, settings string
		change         func(*result.Trial)
		want           string // how the text begins; "" is no flag
	}{
		{"as many as make sense", `{"turns":0}`, func(tr *result.Trial) { tr.Turns = 2 }, "measured in 2 of 10 turns: the window is too short for more with 10 calls in flight; "},
		{"all", `{"turns":0}`, func(tr *result.Trial) { tr.Turns = 10 }, ""},
		{"none", `{"turns":5}`, func(tr *result.Trial) { tr.Turns = 1 }, "measured in one piece, and not in 5 turns: "},
		{"as many as were asked for", `{"turns":5}`, func(tr *result.Trial) { tr.Turns = 5 }, ""},
		{"one round with fewer", `{"turns":5}`, func(tr *result.Trial) { tr.Turns = min(5, 7-tr.Round) }, "measured in one piece, and not in 5 turns: "},
		{"one trial after another, as asked for", `{"turns":1}`, func(tr *result.Trial) { tr.Turns = 1 }, ""},
		{"an open loop", `{"turns":0}`, func(tr *result.Trial) { tr.Turns, tr.Mode, tr.Rate = 1, "open", "500" }, ""},
		{"iterations", `{"turns":0,"iterations":[7]}`, func(tr *result.Trial) { tr.Turns = 1 }, ""},
		{"before there were turns", `{}`, func(*result.Trial) {}, ""},
		{"settings of no bakeoff", `[]`, func(*result.Trial) {}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var trials []result.Trial
			for round := 1; round <= 6; round++ {
				tr := small("a", round, 1, 1e-6, 1e-6)
				row.change(&tr)
				trials = append(trials, tr)
			}
			file := fileOf([]string{"a"}, trials...)
			file.Header.Settings = json.RawMessage(row.settings)
			r := build(t, file, "").Rows[0]
			i := slices.IndexFunc(r.Flags, func(f Flag) bool { return f.Kind == FlagFewerTurns })
			switch {
			case (i >= 0) != (row.want != ""):
				t.Errorf("flags %+v, want %q", r.Flags, row.want)
			case i >= 0 && (!strings.HasPrefix(r.Flags[i].Text, row.want) || !r.Ranked):
				t.Errorf("ranked: %t, %q, want %q", r.Ranked, r.Flags[i].Text, row.want)
			}
		})
	}
}

// TestTimelinesOfTurns: a window that was measured in turns is not drawn as if it were one piece of time without saying so, to those who see the chart and
// to those who don't.
func TestTimelinesOfTurns(t *testing.T) {
	const apart = "The windows were measured in 10 turns: their parts lie apart"
	for _, turns := range []int{1, 10} {
		file, err := result.ReadFile("testdata/drifting.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for i := range file.Trials {
			file.Trials[i].Turns = turns
		}
		tables, err := Build(file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		body, err := HTMLBody(tables)
		if err != nil {
			t.Fatal(err)
		}
		charts := strings.Count(string(body), `data-chart="timeline-`)
		if charts == 0 {
			t.Fatal("no timeline is drawn")
		}
		want := 0
		if turns > 1 {
			want = 2 * charts // in the description and in the note
		}
		if got := strings.Count(string(body), apart); got != want {
			t.Errorf("%d turns, %d timelines: it is said %d times that the parts lie apart, want %d", turns, charts, got, want)
		}
	}
}

// TestLostOutcomes: the calls of a round without figures are told in the row, and are in no figure and no sum of it.
func TestLostOutcomes(t *testing.T) {
	trials := []result.Trial{small("a", 1, 1, 1e-6, 1e-6), {Subject: "a", Workload: "w", Concurrency: 10, Round: 2, TurnsMade: new(3), Turns: 10,
		Outcomes: result.Outcomes{Started: 90, OK: 70, Failed: map[string]uint64{"timeout": 15}, CutOff: 5}, Values: map[string]float64{result.Throughput: 35}, Error: "died"}}
	r := build(t, fileOf([]string{"a"}, trials...), "").Rows[0]
	if r.Outcomes.Started != 8 || r.Missing != 1 || r.Rounds != 1 || r.Metrics["throughput"].High != 1 {
		t.Errorf("%+v, %d rounds and %d without figures, %+v", r.Outcomes, r.Rounds, r.Missing, r.Metrics["throughput"])
	}
	if l := r.Lost; l == nil || l.Started != 90 || l.OK != 70 || l.Failed != 15 || l.FailedByClass["timeout"] != 15 || l.CutOff != 5 {
		t.Errorf("lost %+v", l)
	}
	trials[1].Outcomes = result.Outcomes{}
	if r := build(t, fileOf([]string{"a"}, trials...), "").Rows[0]; r.Lost != nil || strings.Contains(r.Flags[0].Text, "figure:") {
		t.Errorf("nothing was made: lost %+v, %+v", r.Lost, r.Flags)
	}
}
