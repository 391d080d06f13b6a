package plan

import (
	"math"
	"slices"
	"strconv"
)

// The measures of a search.
const (
	// RateResolution is how close together the two ends of a bracket come: the rate that missed is at most so much above the one that held.
	RateResolution = 0.05
	// MaxLooks bounds the trials at a rate that one search takes; one in the closed loop comes before them.
	MaxLooks = 24
	// SureLooks is how many looks must agree about an end of the bracket: two, of three at the most.
	SureLooks = 2
	// MinFoundRate is the lowest rate that is looked at, in calls a second: below it the shares of a rate would round to one another.
	MinFoundRate = 20
)

// RateSearch looks for the highest rate at which a subject holds an objective. It is a function of what was seen so far: it keeps
// nothing, so that it can be asked again about looks that were read from a file.
//
// It takes for granted that what is held at a rate is held at a lower one, and that a look may be wrong: the more often, the nearer it is to the
// edge. It begins near the throughput of a closed loop, goes up or down in growing steps until one rate has held and a higher one has
// not, and then halves what lies between on a logarithmic scale. An end of the last bracket counts when two looks of at most three
// agree about it; if they don't, it goes over to the other side and the search goes on. Before that one look is enough, since
// the end shows a wrong one, but for those on the way down: a machine that hiccups makes a trial miss and never makes one hold, and each of
// these steps is a long one.
type RateSearch struct {
	// Closed is the throughput of the closed loop with as many calls in flight as the open one may have, a second.
	Closed float64
	// Floor is the lowest rate at which the objective can be judged, Ceiling the highest that can be driven.
	Floor, Ceiling uint64
}

// Look is one trial of a search: whether the objective was held at a rate, in calls a second.
type Look struct {
	Rate uint64
	Held bool
}

// Standing is where a search stands.
type Standing struct {
	// Held is the highest rate that held the objective below Missed, the lowest that did not; 0 is none.
	Held, Missed uint64
	// Next is the rate to look at; 0 when the search is over, and End says why.
	Next uint64
	End  string
}

// The ends of a search.
const (
	EndFound = "found" // both ends of the bracket are sure, and as close as RateResolution
	EndNone  = "none"  // the objective was missed at the lowest rate
	EndAll   = "all"   // it was held at the highest
	EndSpent = "spent" // MaxLooks were not enough; the bracket is what it is
)

// The steps of a search: where it begins, as a share of Closed, the first step up and down (each further one is the square of the one
// before), and the highest rate in terms of Closed, which by itself may be a bad reading.
const (
	firstLook = 0.75
	stepUp    = 1.15
	stepDown  = math.Sqrt2
	highest   = 4
)

// votes are the looks at one rate.
type votes struct{ held, missed int }

func (v votes) sure() bool { return v.held >= SureLooks || v.missed >= SureLooks }

// After says where a search stands after these looks, in any order.
func (s RateSearch) After(looks []Look) Standing {
	seen := map[uint64]votes{}
	for _, l := range looks {
		v := seen[l.Rate]
		if l.Held {
			v.held++
		} else {
			v.missed++
		}
		seen[l.Rate] = v
	}
	var st Standing
	for rate, v := range seen {
		if v.missed > v.held && (st.Missed == 0 || rate < st.Missed) {
			st.Missed = rate
		}
	}
	for rate, v := range seen {
		if v.held > v.missed && rate > st.Held && st.below(rate) {
			st.Held = rate
		}
	}
	st.Next, st.End = s.next(st, seen)
	if st.Next != 0 && len(looks) >= MaxLooks {
		st.Next, st.End = 0, EndSpent
	}
	return st
}

// below says that a rate is not known to be missed.
func (st Standing) below(rate uint64) bool { return st.Missed == 0 || rate < st.Missed }

func (s RateSearch) next(st Standing, seen map[uint64]votes) (rate uint64, end string) {
	held, missed := 0, 0 // rates
	split := uint64(0)   // a rate within the bracket with one look each way
	for rate, v := range seen {
		switch {
		case v.held > v.missed:
			held++
		case v.held < v.missed:
			missed++
		case rate > st.Held && st.below(rate) && (split == 0 || rate < split):
			split = rate
		}
	}
	if split != 0 {
		return split, "" // a third look decides
	}
	floor, ceiling := s.limits()
	again := func(rate uint64, end string) (uint64, string) {
		if !seen[rate].sure() {
			return rate, ""
		}
		return 0, end
	}
	switch {
	case st.Held == 0 && st.Missed == 0:
		return within(firstLook*s.Closed, floor, ceiling), ""
	case st.Held == 0 && st.Missed <= floor:
		return again(st.Missed, EndNone)
	case st.Held == 0 && !seen[st.Missed].sure():
		return st.Missed, ""
	case st.Held == 0:
		return within(float64(st.Missed)/squared(stepDown, missed), floor, st.Missed-1), ""
	case st.Missed == 0 && st.Held >= ceiling:
		return again(st.Held, EndAll)
	case st.Missed == 0:
		return within(float64(st.Held)*squared(stepUp, held), st.Held+1, ceiling), ""
	case st.Missed-st.Held <= 1 || float64(st.Missed) <= (1+RateResolution)*float64(st.Held):
		if rate, _ := again(st.Held, ""); rate != 0 {
			return rate, ""
		}
		return again(st.Missed, EndFound)
	}
	return within(math.Sqrt(float64(st.Held)*float64(st.Missed)), st.Held+1, st.Missed-1), ""
}

// limits are the lowest and the highest rate that are looked at.
func (s RateSearch) limits() (floor, ceiling uint64) {
	floor = max(s.Floor, MinFoundRate)
	return floor, max(floor, uint64(min(float64(s.Ceiling), highest*max(0, s.Closed))))
}

// squared is a step that was squared n-1 times, as far as numbers go.
func squared(step float64, n int) float64 {
	return math.Pow(step, math.Exp2(float64(min(n, 8)-1)))
}

// within is a rate of three digits, which are more than the resolution needs, from low to high.
func within(rate float64, low, high uint64) uint64 {
	if unit := math.Pow(10, math.Floor(math.Log10(max(rate, 1)))-2); unit > 1 {
		if r := math.Round(rate/unit) * unit; r >= float64(low) && r <= float64(high) {
			rate = r
		}
	}
	return uint64(min(max(math.Round(rate), float64(low)), float64(high)))
}

// FoundShares are the shares of a found rate at which a subject is measured, as they stand in Settings.Rates before it is found.
var FoundShares = []string{"50%", "80%", "95%", "100%"}

// RateOf is a share of a rate, rounded down: what is held at the rate is held there.
func RateOf(share string, rate uint64) uint64 {
	i := slices.Index(FoundShares, share)
	if i < 0 {
		return 0
	}
	return rate * []uint64{50, 80, 95, 100}[i] / 100
}

// Cell is what has a rate of its own: a subject at a level.
type Cell struct {
	Subject, Workload  string
	Concurrency, Conns int
}

// Cell is the one that a trial belongs to.
func (t Trial) Cell() Cell { return Cell{t.Subject, t.Workload, t.Concurrency, t.Conns} }

// AtFound puts the rates that were found into trials whose rates are shares of them. Those of a subject for which none was found are left out, and
// the orders count anew.
func AtFound(trials []Trial, found map[Cell]uint64) []Trial {
	var at []Trial
	for _, t := range trials {
		rate := RateOf(t.Rate, found[t.Cell()])
		if rate == 0 {
			continue
		}
		t.Rate, t.Order = strconv.FormatUint(rate, 10), len(at)+1
		at = append(at, t)
	}
	return at
}
