package report

import (
	"fmt"
	"slices"
	"strings"

	"bakeoff/harness/result"
)

// droppedLimit is the share of the calls that were due above which dropped ones make a row invalid.
const droppedLimit = 0.001

// unranks says whether a doubt takes its row out of the ranking: what was measured is then not what was asked for, or
// something did not happen as often as it was counted. What spoils the figures of a round does so in more than half of the rounds only: fewer can't
// move the median beyond what the others say. Of drift two rounds are the least, for one in a hundred steady windows is taken for a drifting one,
// and a run of one round would be decided by that.
//
// A driver at its limit concerns throughput and latency alone (see byDriver). A shared or stolen CPU and too few rounds stay beside the figures:
// they make them noisier or of this machine only, the intervals are as wide as that makes them, and who compares two rows of one run has
// them on both.
func (f Flag) unranks(r Row) bool {
	switch f.Kind {
	case FlagDropped:
		due := float64(r.Outcomes.Started + r.Outcomes.Dropped) // more than were due where a call has several steps
		return float64(r.Outcomes.Dropped) > droppedLimit*due
	case result.WarnRateMissed, result.WarnLittle:
		return 2*f.Rounds > r.Rounds
	case result.WarnThrottled, result.WarnRedialled, result.WarnPacketsDropped:
		return 2*f.Rounds > r.Rounds
	case result.WarnDrift:
		return f.Rounds > 1 && 2*f.Rounds > r.Rounds
	case FlagCounts, result.WarnServerCount, result.WarnStoreCount:
		return true
	}
	return false
}

// byDriver says that a figure is the driver's as much as the subject's, so that it does not say who is ahead: throughput and latency of a row whose
// driver was at its limit in most rounds. In the closed loop each is the other's inverse; in the open loop calls wait in the driver.
func byDriver(metric string, rows ...Row) bool {
	timed := metric == "throughput" || strings.HasPrefix(metric, "latency_") || strings.HasPrefix(metric, "service_")
	return timed && slices.ContainsFunc(rows, Row.DriverLimited)
}

// unrankedFigure says that the figure of the rows is byDriver's, and that the reader does not rank it all the same.
func (t Tables) unrankedFigure(metric string, rows ...Row) bool {
	return !t.RankFlagged && byDriver(metric, rows...)
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
