package report

import (
	"fmt"
	"strings"

	"bakeoff/harness/result"
)

// droppedLimit is the share of the calls that were due above which dropped ones make a row invalid.
const droppedLimit = 0.001

// unranks says whether a doubt takes its row out of the ranking: what was measured is then not what was asked for, or
// something did not happen as often as it was counted. All other doubts (a shared or stolen CPU, drift, a driver at its
// limit, which concerns the throughput alone) stay beside the figures: they make them noisier or of this machine only,
// and who compares two rows of one run has them on both.
func (f Flag) unranks(r Row) bool {
	switch f.Kind {
	case FlagDropped:
		due := float64(r.Outcomes.Started + r.Outcomes.Dropped) // more than were due where a call has several steps
		return float64(r.Outcomes.Dropped) > droppedLimit*due
	case result.WarnRateMissed, result.WarnLittle:
		return 2*f.Rounds > r.Rounds
	case FlagCounts, result.WarnServerCount, result.WarnStoreCount:
		return true
	}
	return false
}

// judge marks the doubts that take the row out of the ranking, and takes it out unless the reader wants it there.
func (r *Row) judge(rankFlagged bool) {
	for i := range r.Flags {
		f := &r.Flags[i]
		if f.Unranks = f.unranks(*r); f.Unranks && !rankFlagged {
			r.Ranked = false
		}
	}
}

// Invalid names the rows that a doubt takes out of the ranking, whether the reader ranks them or not.
func (t Tables) Invalid() []string {
	var names []string
	for _, r := range t.Rows {
		if kinds := r.unranking(); len(kinds) > 0 {
			names = append(names, strings.TrimSpace(rowName(nil, r))+" ("+strings.ReplaceAll(strings.Join(kinds, ", "), "_", " ")+")")
		}
	}
	return names
}

// unranking are the kinds of the doubts that take the row out of the ranking.
func (r Row) unranking() []string {
	var kinds []string
	for _, f := range r.Flags {
		if f.Unranks {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// invalidWords says which rows have no place for a doubt about them, or that they have one all the same.
func (t Tables) invalidWords() string {
	names := t.Invalid()
	switch {
	case len(names) == 0:
		return ""
	case t.RankFlagged:
		return fmt.Sprintf("Ranked as asked, though their figures are not what was to be measured: %s.", strings.Join(names, ", "))
	}
	return fmt.Sprintf("Not ranked, because their figures are not what was to be measured: %s; --rank-flagged ranks them.", strings.Join(names, ", "))
}
