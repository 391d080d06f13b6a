package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A run that is extended, once or often, is the run that had been planned so long from the beginning.
func TestExtend(t *testing.T) {
	for _, e := range All() {
		s := settings()
		s.Rounds = 23
		want, err := e.Plan(s)
		if err != nil {
			t.Fatal(err)
		}
		var got []Trial
		done := 0
		for _, rounds := range []int{4, 5, 10, 20, 23} {
			s.Rounds = rounds
			more, err := e.Extend(s, done)
			if err != nil {
				t.Fatal(err)
			}
			got, done = append(got, more...), rounds
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: the extended plan is another (-want +got):\n%s", e.Name, d)
		}
		if more, err := e.Extend(s, 23); err != nil || len(more) != 0 {
			t.Errorf("%s: after the last round there are %d trials, %v", e.Name, len(more), err)
		}
		s.Rounds = MaxTrials
		if _, err := e.Extend(s, 23); err == nil {
			t.Errorf("%s: there is no end of trials", e.Name)
		}
	}
}
