package plural

import "testing"

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 rounds", 1: "1 round", 2: "2 rounds", -1: "-1 rounds"} {
		if got := Of(n, "round"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
