package plan

import (
	"cmp"
	"math/rand/v2"
	"time"
)

// A machine whose neighbours come and go is a third faster or slower from one ten seconds to the next. Trials that run one after
// another then differ by that, however equal their subjects are. So the trials of a group, which are those that a reader
// compares, run at the same time and measure in turns: each has its processes from the start of the group to its end,
// and the windows are cut into parts, of which one after another takes place while all others wait. What comes and goes more slowly than a few
// parts so falls on all of them alike.

// MostTurns is in how many parts a window is measured at most.
const MostTurns = 10

// A part must be long beside its edges, where calls start together and end one after another: no shorter than shortestTurn, and
// than perWorker for each call in flight, which is 20 calls of each where a subject makes 16,000 a second.
const (
	shortestTurn = 100 * time.Millisecond
	perWorker    = 1250 * time.Microsecond
)

// turnCounts are the numbers of turns that there are: each divides the largest, so that the parts that a window is looked at in
// for its trend (record.Slices, as many) are parts of turns.
var turnCounts = []int{MostTurns, 5, 2, 1}

// inTurns says that trials are grouped. A window that is to be one piece is not: that of an open loop, whose calls are due over the whole of it,
// and that of a number of iterations.
func (s Settings) inTurns() bool {
	return s.Turns != 1 && len(s.Rates) == 0 && len(s.Iterations) == 0
}

// turns is in how many parts a window with so many calls in flight is measured.
func (s Settings) turns(level int) int {
	if !s.inTurns() {
		return 1
	}
	least := max(shortestTurn, time.Duration(level)*perWorker)
	for _, n := range turnCounts {
		if n <= cmp.Or(s.Turns, MostTurns) && s.Duration/time.Duration(n) >= least {
			return n
		}
	}
	return 1
}

// shuffle puts the trials of a round into their order. Those of a group stay together.
func shuffle(block []Trial, order *rand.Rand, grouped bool) {
	if !grouped {
		order.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
		return
	}
	var groups [][]Trial
	for _, t := range block {
		if n := len(groups); n > 0 && groups[n-1][0].with(t) {
			groups[n-1] = append(groups[n-1], t)
			continue
		}
		groups = append(groups, []Trial{t})
	}
	order.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	block = block[:0]
	for _, g := range groups {
		order.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
		block = append(block, g...)
	}
}

// with says that two trials of a round differ in nothing but their subject.
func (t Trial) with(u Trial) bool {
	t.Subject, t.Order = u.Subject, u.Order
	return t == u
}

// Group is how many of the trials, from the first on, run at the same time and measure in turns: 1 is a trial by itself.
func Group(trials []Trial) int {
	n := min(1, len(trials))
	if n == 0 || trials[0].Turns <= 1 {
		return n
	}
	for n < len(trials) && trials[0].with(trials[n]) {
		n++
	}
	return n
}
