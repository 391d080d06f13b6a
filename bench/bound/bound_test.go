package bound

import "testing"

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		low, high, coverage, limit float64
		most, least                Verdict
	}{
		{9, 11, 0.95, 12, Holds, Missed},
		{9, 12, 0.95, 12, Holds, Undecided},
		{11, 13, 0.95, 12, Undecided, Undecided},
		{12, 13, 0.95, 12, Undecided, Holds},
		{13, 14, 0.95, 12, Missed, Holds},
		{9, 11, 0.94, 12, Undecided, Undecided},
		{13, 14, 0, 12, Undecided, Undecided},
	} {
		if got := AtMost(c.low, c.high, c.coverage, c.limit); got != c.most {
			t.Errorf("[%v, %v] at %v is at most %v: %s, want %s", c.low, c.high, c.coverage, c.limit, got, c.most)
		}
		if got := AtLeast(c.low, c.high, c.coverage, c.limit); got != c.least {
			t.Errorf("[%v, %v] at %v is at least %v: %s, want %s", c.low, c.high, c.coverage, c.limit, got, c.least)
		}
	}
}
