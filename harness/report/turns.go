package report

import (
	"cmp"
	"encoding/json"
	"fmt"

	"bakeoff/harness/result"
	"bakeoff/internal/plural"
)

// mostTurns is in how many parts a window is measured where its run names no other number; see plan.MostTurns.
const mostTurns = 10

// inTurns says in how many turns the windows of rows were measured, or "" where all are one piece.
func inTurns(rows []Row) string {
	if len(rows) == 0 {
		return ""
	}
	low, high := rows[0].Turns, rows[0].Turns
	for _, r := range rows {
		low, high = min(low, r.Turns), max(high, r.Turns)
	}
	switch {
	case high == 0:
		return ""
	case low == high:
		return fmt.Sprintf("measured in %d turns", high)
	}
	return fmt.Sprintf("measured in %d to %d turns", max(1, low), high)
}

// turnsAsked is in how many turns a run was to measure the windows of its closed loops: 1 also where that is unknown, and where windows are to be one
// piece, as those of a number of iterations.
func turnsAsked(settings json.RawMessage) int {
	var s struct {
		Turns      *int
		Iterations []int
	}
	if json.Unmarshal(settings, &s) != nil || s.Turns == nil || len(s.Iterations) > 0 {
		return 1
	}
	return cmp.Or(*s.Turns, mostTurns)
}

// turns is in how many the windows were measured: the least of the rounds, of which none is known to be fewer than 1.
func (g *group) turns() int {
	n := 0
	for _, t := range g.ok {
		if made := max(1, t.Turns); n == 0 || made < n {
			n = made
		}
	}
	return n
}

// fewerTurns doubts a row of a closed loop whose windows were cut into fewer turns than was asked for, "" where they were not: the longer a turn is, the
// more of what comes and goes on the machine falls on one of the subjects that are compared.
func (g *group) fewerTurns(asked int) string {
	made := g.turns()
	if made == 0 || made >= asked || g.rate != "" {
		return ""
	}
	how := fmt.Sprintf("in %d of %d turns", made, asked)
	if made == 1 {
		how = fmt.Sprintf("in one piece, and not in %d turns", asked)
	}
	return fmt.Sprintf("measured %s: the window is too short for more with %d calls in flight; what the machine does meanwhile falls on the subjects less evenly; a longer --duration makes more",
		how, g.concurrency)
}

// cutShort are the trials in which fewer turns were made than were planned, as far as that is known.
func cutShort(trials []*result.Trial) []*result.Trial {
	var cut []*result.Trial
	for _, t := range trials {
		if t.TurnsMade != nil && *t.TurnsMade < max(1, t.Turns) {
			cut = append(cut, t)
		}
	}
	return cut
}

// turnsMade is how many turns trials made, and how many were planned, of those in which it is known.
func turnsMade(trials []*result.Trial) (made, planned int) {
	for _, t := range trials {
		if t.TurnsMade != nil {
			made, planned = made+*t.TurnsMade, planned+max(1, t.Turns)
		}
	}
	return made, planned
}

// lostWords says how far trials came that have no figures; "" where nothing of it is known, or nothing was measured.
func lostWords(failed []*result.Trial) string {
	made, planned := turnsMade(failed)
	lost := outcomesOf(failed)
	if lost.Started == 0 {
		return ""
	}
	text := "; not in any figure: " + plural.Of(int(lost.Started), "call") + " that had been made"
	if planned > len(failed) {
		text += fmt.Sprintf(", in %d of %d turns", made, planned)
	}
	if lost.Failed > 0 {
		text += fmt.Sprintf(", of which %d failed: %s%s", lost.Failed, classes(lost.FailedByClass), lost.example())
	}
	return text
}
