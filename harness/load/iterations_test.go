package load

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestIterationsEndTheClosedLoop(t *testing.T) {
	for _, row := range []struct {
		name       string
		iterations uint64
		want       Stats // with Iterations
	}{
		// Two calls of 10 ms an iteration, three workers: 7 iterations are three turns, the last by one worker alone.
		{"as many as were asked for, by who is free", 7, Stats{Started: 14, OK: 14, OKInWindow: 14, Iterations: 7, Window: 60 * ms, Elapsed: 60 * ms}},
		{"fewer than there are workers", 2, Stats{Started: 4, OK: 4, OKInWindow: 4, Iterations: 2, Window: 20 * ms, Elapsed: 20 * ms}},
		{"the window ends before: 3 x 100/20", 1000, Stats{Started: 30, OK: 30, OKInWindow: 30, Iterations: 15, Window: 100 * ms, Elapsed: 100 * ms}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ws, recs := workers(3, take(10*ms), take(10*ms))
				got, err := Run(t.Context(), Options{Workers: ws, Duration: 100 * ms, Iterations: row.iterations})
				got.Busy = 0
				if err != nil || got != row.want {
					t.Fatalf("got  %+v, %v\nwant %+v", got, err, row.want)
				}
				var all []uint64
				for _, rec := range recs {
					for _, s := range rec.samples {
						if s.Step == 0 {
							all = append(all, s.N)
						}
					}
				}
				slices.Sort(all)
				for i, n := range all {
					if n != uint64(i) {
						t.Fatalf("the iterations are %v, want each once from 0", all)
					}
				}
			})
		})
	}
}

// A worker that is held up has fewer iterations, and not a share that the others wait for.
func TestIterationsGoToWhoIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, recs := workers(2, take(10*ms))
		ws[1].Calls = []Call{take(70 * ms)}
		s, err := Run(t.Context(), Options{Workers: ws, Duration: time.Second, Iterations: 8})
		if err != nil || len(recs[0].samples) != 7 || len(recs[1].samples) != 1 || s.Window != 70*ms {
			t.Errorf("%d and %d iterations in %v, %v", len(recs[0].samples), len(recs[1].samples), s.Window, err)
		}
	})
}

func TestIterationsAreNotForTheOpenLoop(t *testing.T) {
	ws, _ := workers(1, take(0))
	_, err := Run(t.Context(), Options{Workers: ws, Duration: ms, Iterations: 1, Pacer: Even.Pacer(Profile{}, ms, 0)})
	if err == nil || !strings.Contains(err.Error(), "closed loop alone") {
		t.Error(err)
	}
}
