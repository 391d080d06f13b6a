package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The order of trials that are measured in turns is as much a promise of the seed as that of the others: see TestGoldenOrder.
func TestGoldenGroups(t *testing.T) {
	s := settings()
	s.Rounds = 2
	s.Concurrency = []int{5, 80, 800}
	trials := Blocks(s)
	var got []string
	for len(trials) > 0 {
		n := Group(trials)
		text := fmt.Sprintf("round %d, %d turns at %d:", trials[0].Round, trials[0].Turns, trials[0].Concurrency)
		for i, tr := range trials[:n] {
			text += " " + tr.Subject
			if tr.Turns != trials[0].Turns || tr.Concurrency != trials[0].Concurrency || tr.Round != trials[0].Round {
				t.Errorf("%d of the group %s is %+v", i, text, tr)
			}
		}
		got = append(got, text)
		trials = trials[n:]
	}
	want := []string{
		"round 1, 10 turns at 80: c b a",
		"round 1, 10 turns at 5: c b a",
		"round 1, 2 turns at 800: b a c",
		"round 2, 10 turns at 5: c a b",
		"round 2, 2 turns at 800: c b a",
		"round 2, 10 turns at 80: b a c",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTurns(t *testing.T) {
	for _, row := range []struct {
		level, most int
		duration    time.Duration
		want        int
	}{
		{50, 0, 2 * time.Second, 10},
		{50, 10, time.Second, 10},
		{50, 0, 999 * time.Millisecond, 5}, // a tenth is too short
		{50, 5, 2 * time.Second, 5},
		{50, 2, 2 * time.Second, 2},
		{50, 1, 2 * time.Second, 1},
		{50, 0, 199 * time.Millisecond, 1},
		{200, 0, 2 * time.Second, 5}, // 250 ms each
		{800, 0, 2 * time.Second, 2},
		{801, 0, 2 * time.Second, 1},
		{800, 0, 20 * time.Second, 10},
	} {
		s := settings()
		s.Turns, s.Duration = row.most, row.duration
		if got := s.turns(row.level); got != row.want {
			t.Errorf("%d in flight, %v, at most %d: %d turns, want %d", row.level, row.duration, row.most, got, row.want)
		}
	}
}

// What is to be one piece is one, and is by itself.
func TestWithoutTurns(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"open loop":  func(s *Settings) { s.Rates = []string{"500"} },
		"iterations": func(s *Settings) { s.Iterations = []int{10, 10} },
		"as asked":   func(s *Settings) { s.Turns = 1 },
	} {
		s := settings()
		change(&s)
		for trials := Blocks(s); len(trials) > 0; trials = trials[1:] {
			if trials[0].Turns != 1 || Group(trials) != 1 {
				t.Fatalf("%s: %d turns in a group of %d", name, trials[0].Turns, Group(trials))
			}
		}
	}
	if Group(nil) != 0 {
		t.Error("no trials are a group")
	}
}

// Trials that a resumed run lacks are groups of those that are left.
func TestGroupsOfWhatIsLeft(t *testing.T) {
	s := settings()
	s.Concurrency = []int{5}
	all := Blocks(s)
	left := append([]Trial{all[1]}, all[3:]...)
	if n := Group(left); n != 1 {
		t.Errorf("%d of one round and the next are a group", n)
	}
	if n := Group(left[1:]); n != 3 {
		t.Errorf("a group of %d, want 3", n)
	}
}
