package stats

import "testing"

func TestLooks(t *testing.T) {
	sum := 0.0
	for look := 1; look <= 40; look++ {
		sum += LookAlpha(look)
	}
	if LookAlpha(0) != Alpha || LookAlpha(1) != Alpha/2 || LookAlpha(3) != Alpha/8 || sum > Alpha || sum < Alpha*0.999 {
		t.Errorf("levels %g %g %g, all together %g", LookAlpha(0), LookAlpha(1), LookAlpha(3), sum)
	}
	for _, row := range []struct{ look, rounds int }{{1, 10}, {2, 20}, {3, 40}, {5, 160}, {100, 10 << 26}} {
		if got := LookRounds(10, row.look); got != row.rounds {
			t.Errorf("look %d of 10: %d rounds, want %d", row.look, got, row.rounds)
		}
	}
	for _, row := range []struct{ rounds, look int }{{0, 1}, {1, 1}, {10, 1}, {11, 2}, {20, 2}, {21, 3}, {40, 3}, {41, 4}, {1 << 40, 60}} {
		if got := LookOf(10, row.rounds); got != row.look {
			t.Errorf("%d rounds after 10: look %d, want %d", row.rounds, got, row.look)
		}
	}
}

// Two-sided, n rounds that all say the same have p = 2/2^n: 0.03 of six, which is too much for two comparisons.
func TestLeastRounds(t *testing.T) {
	for family, want := range map[int]int{1: 6, 2: 7} {
		if got := LeastRounds(family, 0); got != want {
			t.Errorf("%d for %d comparisons, want %d", got, family, want)
		}
	}
}
