package share

import "testing"

func TestOf(t *testing.T) {
	for _, c := range []struct {
		part, whole uint64
		want        string
	}{
		{0, 0, "0 %"}, {0, 7, "0 %"}, {7, 7, "100 %"}, {1, 8, "12.5 %"}, {1, 3, "33.3 %"}, {999, 1000, "99.9 %"},
		{199905, 200000, "99.95 %"}, {99949, 100000, "99.9 %"}, {99999, 100000, "99.999 %"}, {9, 10000, "0.09 %"}, {1, 1 << 40, "under 0.001 %"}, {3, 2, "150 %"},
	} {
		if got := Of(c.part, c.whole); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.part, c.whole, got, c.want)
		}
	}
}
