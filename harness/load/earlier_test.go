package load

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A load in parts is one load: no two of its iterations have one number, and their counts add up.
func TestALoadInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[uint64]bool{}
		var all Stats
		for part := range 3 {
			ws, recs := workers(3, take(10*ms))
			ws[1].Calls = []Call{take(25 * ms)} // the workers end with different numbers
			s, err := Run(t.Context(), Options{Workers: ws, Duration: 100 * ms, Grace: time.Second, Earlier: all})
			if err != nil {
				t.Fatal(err)
			}
			for w, rec := range recs {
				for i, sample := range rec.samples {
					if seen[sample.N] {
						t.Fatalf("part %d: two iterations are %d", part, sample.N)
					}
					if want := all.Next + uint64(w+3*i); sample.N != want {
						t.Fatalf("part %d, worker %d: iteration %d is %d, want %d", part, w, i, sample.N, want)
					}
					seen[sample.N] = true
				}
			}
			all = all.Add(s)
			time.Sleep(time.Minute) // between the parts is no part
		}
		want := Stats{Started: 72, OK: 72, OKInWindow: 72, Iterations: 72, Next: 90, Window: 300 * ms, Elapsed: 300 * ms, Busy: 900 * ms}
		if all != want {
			t.Errorf("got  %+v\nwant %+v", all, want)
		}
	})
}

// Failures of earlier parts count, and so do their successes.
func TestTheLimitOfFailuresIsThatOfAllParts(t *testing.T) {
	for _, row := range []struct {
		name    string
		earlier Stats
		over    bool
	}{
		{"a bad part after good ones", Stats{Started: 20_000, OK: 20_000}, false},
		{"a bad part at first", Stats{}, true},
		{"a bad part after a bad one", Stats{Started: 2000, OK: 1000, Failed: 1000}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			failing := func(context.Context, uint64) error { time.Sleep(ms); return errors.New("no") }
			ws, _ := workers(2, failing)
			s, err := Run(t.Context(), Options{Workers: ws, Duration: time.Second, MaxFailures: 0.1, Earlier: row.earlier})
			var limit *FailureLimit
			if over := errors.As(err, &limit); over != row.over {
				t.Fatalf("%s: %v", row.name, err)
			}
			if limit != nil && (limit.Failed != row.earlier.Failed+s.Failed || limit.Ended != row.earlier.OK+limit.Failed) {
				t.Errorf("%s: %+v after %+v and %+v", row.name, limit, row.earlier, s)
			}
		})
	}
}

func TestTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		sometimes := func(context.Context, uint64) error {
			time.Sleep(ms)
			if n++; n%100 == 0 {
				return errors.New("no")
			}
			return nil
		}
		ws, _ := workers(1, sometimes)
		var told [][2]uint64
		_, err := Run(t.Context(), Options{Workers: ws, Duration: time.Second, Earlier: Stats{OK: 1000, Failed: 5},
			TellEvery: 250*ms + 500*time.Microsecond, Tell: func(ok, failed uint64) { told = append(told, [2]uint64{ok, failed}) }})
		if err != nil {
			t.Fatal(err)
		}
		// Of 250, 501 and 751 calls each hundredth failed; told is told with every 64th success and every failure.
		want := [][2]uint64{{1000 + 198, 5 + 2}, {1000 + 495, 5 + 5}, {1000 + 704, 5 + 7}}
		if !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
	})
}
