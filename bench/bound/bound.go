// Package bound says what an interval means for a limit that we hold ourselves to.
package bound

import "bakeoff/harness/stats"

// Verdict is what an interval says about a limit.
type Verdict string

// The verdicts: all of the interval keeps the limit, none of it does, or it lies across. An interval of too few turns
// decides nothing.
const (
	Holds     Verdict = "holds"
	Missed    Verdict = "MISSED"
	Undecided Verdict = "not decided"
)

// AtMost judges what is not to be above limit.
func AtMost(low, high, coverage, limit float64) Verdict {
	switch {
	case coverage < stats.Confidence:
		return Undecided
	case high <= limit:
		return Holds
	case low > limit:
		return Missed
	}
	return Undecided
}

// AtLeast judges what is not to be below limit.
func AtLeast(low, high, coverage, limit float64) Verdict {
	return AtMost(-high, -low, coverage, -limit)
}
