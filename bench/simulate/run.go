package main

import (
	"math"
	"math/rand/v2"
	"time"

	"bakeoff/harness/plan"
	"bakeoff/harness/stats"
)

// design is a way to run: how long, and what stops it.
type design struct {
	name string
	// precise is half the width of the intervals at which a run stops; 0 for a run of a fixed number of rounds.
	precise float64
	// first is the number of rounds, or of those at the first look; most is when the budget is spent.
	first, most int
	// plain looks after every round from the first look on, each time at the full level: what --precision does not do.
	plain bool
}

// subjects of a run. The last is the one that differs, if any does.
var subjects = []string{"base", "second", "third"}

// outcome is what one simulated run claimed.
type outcome struct {
	rounds  int
	covered [2]bool // the interval of this subject's ratio holds the true one
	found   [2]bool // detected, after Holm's correction
	reached bool
}

// simulate makes a run with the real plan and the real statistics; only the figures are made up. The last subject's true ratio to
// the base is effect.
func simulate(d design, m machine, effect float64, seed uint64) outcome {
	trials := plan.Blocks(plan.Settings{Subjects: subjects, Workloads: []string{"w"}, Concurrency: []int{50}, Rounds: d.most, Seed: seed, Duration: time.Second})
	off := m.start(rand.New(rand.NewPCG(seed, 1<<40)))
	figures := map[string][]float64{}
	done := 0
	measure := func(rounds int) {
		for ; done < len(trials) && trials[done].Round <= rounds; done++ {
			t := trials[done]
			f := math.Exp(off())
			if t.Subject == subjects[2] {
				f *= effect
			}
			figures[t.Subject] = append(figures[t.Subject], f)
		}
	}
	rounds, look := d.first, 0
	if d.precise > 0 && !d.plain {
		look = 1
	}
	for {
		measure(rounds)
		var o outcome
		o.rounds, o.reached = rounds, true
		var cs [2]stats.Comparison
		ps := make([]float64, 2)
		for i, s := range subjects[1:] {
			cs[i], _ = stats.CompareAt(figures[subjects[0]], figures[s], look)
			ps[i] = cs[i].P
			width, ok := cs[i].HalfWidth()
			o.reached = o.reached && ok && width <= d.precise
		}
		for i, holm := range stats.Holm(ps) {
			truth := []float64{1, effect}[i]
			o.covered[i] = cs[i].Low <= truth && truth <= cs[i].High
			o.found[i] = cs[i].Detected(holm)
		}
		if d.precise == 0 || o.reached || rounds >= d.most {
			return o
		}
		if d.plain {
			rounds++
			continue
		}
		look++
		rounds = min(d.most, stats.LookRounds(d.first, look))
	}
}

// tally is what many runs claimed.
type tally struct {
	runs, reached, rounds  int
	alarms, covered, found int // runs with a false alarm; intervals that hold the truth, of two a run; runs that found the effect
}

// many makes runs with the seeds from first on.
func many(d design, m machine, effect float64, runs int, first uint64) tally {
	var t tally
	for i := range uint64(runs) {
		o := simulate(d, m, effect, first+i)
		t.runs++
		t.rounds += o.rounds
		alarm := o.found[0] || effect == 1 && o.found[1]
		for _, b := range []struct {
			is bool
			n  *int
		}{{o.reached, &t.reached}, {alarm, &t.alarms}, {o.covered[0], &t.covered}, {o.covered[1], &t.covered}, {o.found[1], &t.found}} {
			if b.is {
				*b.n++
			}
		}
	}
	return t
}

func (t tally) alarmShare() float64 { return float64(t.alarms) / float64(t.runs) }
func (t tally) coverage() float64   { return float64(t.covered) / float64(2*t.runs) }
func (t tally) power() float64      { return float64(t.found) / float64(t.runs) }
func (t tally) meanRounds() float64 { return float64(t.rounds) / float64(t.runs) }
