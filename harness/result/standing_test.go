package result

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStanding(t *testing.T) {
	trial := func(order, round int, failure string) Trial { return Trial{Order: order, Round: round, Error: failure} }
	for _, row := range []struct {
		name   string
		trials []Trial
		want   []int // of the rounds, which number the lines here
		again  int
	}{
		{"none", nil, nil, 0},
		{"none failed", []Trial{trial(1, 1, ""), trial(2, 2, "")}, []int{1, 2}, 0},
		{"one failed", []Trial{trial(1, 1, "died"), trial(2, 2, "")}, []int{1, 2}, 0},
		{"and was done again", []Trial{trial(1, 1, "died"), trial(2, 2, ""), trial(1, 3, "")}, []int{2, 3}, 1},
		{"and failed twice", []Trial{trial(1, 1, "died"), trial(1, 2, "died"), trial(2, 3, "")}, []int{2, 3}, 1},
		{"and was right at last", []Trial{trial(1, 1, "died"), trial(1, 2, "died"), trial(1, 3, "")}, []int{3}, 2},
		{"what was measured twice stays, to be told", []Trial{trial(1, 1, ""), trial(1, 2, ""), trial(1, 3, "died")}, []int{1, 2}, 1},
		{"without a place", []Trial{trial(0, 1, "died"), trial(0, 2, ""), trial(0, 3, "died")}, []int{1, 2, 3}, 0},
	} {
		standing, again := Standing(row.trials)
		var got []int
		for _, s := range standing {
			got = append(got, s.Round)
		}
		if fmt.Sprint(got) != fmt.Sprint(row.want) || again != row.again {
			t.Errorf("%s: %v, %d again: %s", row.name, got, again, cmp.Diff(row.want, got))
		}
	}
}
