package result

import "fmt"

// KindSearch is the kind of the lines that are trials of a search and no part of what is compared. A bakeoff that does not know
// it skips them.
const KindSearch = "bakeoff-search"

// FindRate is what a run was told that looks for the highest rate of each subject before it measures.
type FindRate struct {
	Objective string   `json:"objective"`
	Shares    []string `json:"shares"` // of the rate that is found: where it is measured
	Rounds    int      `json:"rounds"`
}

// Search is what came of one trial of a search, and where the search of its subject and level stood after it.
type Search struct {
	// Held says whether the trial held the objective; it is absent in the closed loop, with which a search begins, and where the trial failed.
	Held *bool `json:"held,omitempty"`
	// Why has the figures that the verdict was made of.
	Why string `json:"why,omitempty"`
	// HighestHeld and LowestMissed are the bracket in calls a second; absent while there is none.
	HighestHeld  uint64 `json:"highest_held,omitempty"`
	LowestMissed uint64 `json:"lowest_missed,omitempty"`
	// End is why the search was over after this trial; empty while it was not.
	End string `json:"end,omitempty"`
	// Rates are those at which the subject is measured, in the order of FindRate.Shares; absent where none was found.
	Rates []uint64 `json:"rates,omitempty"`
}

// The values of Search.End; those of package plan are the same.
const (
	EndFound  = "found"  // both ends of the bracket are sure, and close to one another
	EndNone   = "none"   // the objective was missed at the lowest rate
	EndAll    = "all"    // it was held at the highest
	EndSpent  = "spent"  // the trials that a search may take were not enough
	EndFailed = "failed" // its trials failed one after another
)

// AppendSearch is Append for a trial of a search.
func (w *Writer) AppendSearch(t Trial) error {
	t.Kind = KindSearch
	return w.append(fmt.Sprintf("trial %d of the search of %s", t.Order, t.Subject), t)
}
