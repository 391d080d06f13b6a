package main

import (
	"math"
	"testing"

	"bakeoff/harness/stats"
)

// within is what a share of n may lie above its limit by chance: three standard errors. The seeds are fixed, so it either does or not.
func within(limit float64, n int) float64 { return 3 * math.Sqrt(limit*(1-limit)/float64(n)) }

func TestFixedRounds(t *testing.T) {
	const runs = 300
	for _, m := range machines {
		d := design{first: 10, most: 10}
		got := many(d, m, 1, runs, 1)
		if got.meanRounds() != 10 || got.alarmShare() > stats.Alpha+within(stats.Alpha, runs) || got.coverage() < stats.Confidence-within(stats.Confidence, 2*runs) {
			t.Errorf("%s: %.3f false alarms, %.3f covered, %.1f rounds", m.name, got.alarmShare(), got.coverage(), got.meanRounds())
		}
		got = many(d, m, planted, runs, 1000)
		if got.alarmShare() > stats.Alpha+within(stats.Alpha, runs) || got.coverage() < stats.Confidence-within(stats.Confidence, 2*runs) {
			t.Errorf("%s, with a difference: %.3f false alarms, %.3f covered", m.name, got.alarmShare(), got.coverage())
		}
		if m.name == "calm" && got.power() < 0.9 {
			t.Errorf("%s: a difference of 5 %% is found in %.3f of the runs", m.name, got.power())
		}
	}
}

// A run that goes on until it is precise errs no more often than one of fixed length, wherever it stops.
func TestPrecision(t *testing.T) {
	const runs = 80
	for _, m := range machines {
		d := design{precise: 0.05, first: 10, most: 40}
		for _, effect := range []float64{1, planted} {
			got := many(d, m, effect, runs, 5000)
			if got.alarmShare() > stats.Alpha || got.coverage() < stats.Confidence {
				t.Errorf("%s, effect %g: %.3f false alarms, %.3f covered", m.name, effect, got.alarmShare(), got.coverage())
			}
			if r := got.meanRounds(); r < 10 || r > 40 || m.name != "calm" && r == 10 {
				t.Errorf("%s: %.1f rounds: nothing was added", m.name, r)
			}
		}
	}
}

func TestSameSeedSameRun(t *testing.T) {
	d := design{precise: 0.02, first: 10, most: 40}
	for _, m := range machines {
		if a, b := simulate(d, m, planted, 3), simulate(d, m, planted, 3); a != b {
			t.Errorf("%s: %+v and %+v", m.name, a, b)
		}
	}
}

// Rounds that end between two looks, because of the time, are judged at the next look's level.
func TestBudgetBetweenLooks(t *testing.T) {
	o := simulate(design{precise: 1e-9, first: 10, most: 27}, machines[0], 1, 1)
	if o.rounds != 27 || o.reached {
		t.Errorf("%+v, want 27 rounds, not reached", o)
	}
}
