package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The tests run in synctest's bubbles, in which time passes only while all wait: they are exact and take no time.

const ms = time.Millisecond

// kept is a Recorder that keeps all.
type kept struct{ samples []Sample }

func (k *kept) Record(s Sample) { k.samples = append(k.samples, s) }

// take is a call of a given length that honours its context.
func take(d time.Duration) Call {
	return func(ctx context.Context, _ uint64) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// counts are the figures that the tables compare; Busy and Iterations have tests of their own.
func counts(s Stats) Stats { s.Busy, s.Iterations, s.Next = 0, 0, 0; return s }

// workers are n workers that make the same calls, and what they record.
func workers(n int, calls ...Call) ([]Worker, []*kept) {
	ws, recs := make([]Worker, n), make([]*kept, n)
	for i := range ws {
		recs[i] = &kept{}
		ws[i] = Worker{Calls: calls, Recorder: recs[i]}
	}
	return ws, recs
}

func TestClosedLoop(t *testing.T) {
	for _, row := range []struct {
		name    string
		call    time.Duration
		options Options
		want    Stats
	}{
		{"calls that divide the window: 2 x 1000/10", 10 * ms, Options{Duration: time.Second, Grace: ms},
			Stats{Started: 200, OK: 200, OKInWindow: 200, Window: time.Second, Elapsed: time.Second}},
		{"the fourth call of each is drained: 900 + 300 <= 1000 + 200", 300 * ms, Options{Duration: time.Second, Grace: 200 * ms},
			Stats{Started: 8, OK: 8, OKInWindow: 6, Window: time.Second, Elapsed: 1200 * ms}},
		{"the fourth call of each is cut off: 900 + 300 > 1000 + 100", 300 * ms, Options{Duration: time.Second, Grace: 100 * ms},
			Stats{Started: 8, OK: 6, OKInWindow: 6, CutOff: 2, Window: time.Second, Elapsed: 1100 * ms}},
		{"no grace: what is in flight at the end is cut off there", 300 * ms, Options{Duration: time.Second},
			Stats{Started: 8, OK: 6, OKInWindow: 6, CutOff: 2, Window: time.Second, Elapsed: time.Second}},
		{"every call runs into its timeout, and an era's millisecond later ends: 2 x ceil(1000/51), the last at 20 x 51", time.Hour,
			Options{Duration: time.Second, Grace: 20 * ms, CallTimeout: 50 * ms},
			Stats{Started: 40, Failed: 40, Window: time.Second, Elapsed: 1020 * ms}},
		{"a timeout in the drain is a failure, not a cut: eras of 10 ms, 650, 1300", time.Hour,
			Options{Duration: time.Second, Grace: time.Second, CallTimeout: 640 * ms},
			Stats{Started: 4, Failed: 4, Window: time.Second, Elapsed: 1300 * ms}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ws, recs := workers(2, take(row.call))
				row.options.Workers = ws
				got, err := Run(t.Context(), row.options)
				if err != nil || counts(got) != row.want {
					t.Fatalf("got  %+v, %v\nwant %+v", got, err, row.want)
				}
				for w, rec := range recs {
					var now time.Duration
					for i, s := range rec.samples {
						if s.Due != now || s.Sent != now || s.Done < s.Sent || s.N != uint64(i*2+w) {
							t.Fatalf("worker %d, sample %d: %+v: it must start where the last ended, %v", w, i, s, now)
						}
						now = s.Done
					}
				}
			})
		})
	}
}

func TestATimeoutHasItsClassAndSparesTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		ws, recs := workers(1, func(ctx context.Context, _ uint64) error {
			n++
			if n%2 == 1 {
				<-ctx.Done()
				return fmt.Errorf("call: %w", ctx.Err())
			}
			return take(5*ms)(ctx, 0)
		})
		s, err := Run(t.Context(), Options{Workers: ws, Duration: 112 * ms, CallTimeout: 50 * ms}) // 51 + 5 + 51 + 5
		if err != nil || s.OK != 2 || s.Failed != 2 {
			t.Fatalf("%+v, %v", s, err)
		}
		failed := recs[0].samples[0]
		var class interface{ Class() string }
		if !errors.As(failed.Err, &class) || class.Class() != "timeout" || !errors.Is(failed.Err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", failed.Err)
		}
		if want := "no answer within 50ms: call: context canceled"; failed.Err.Error() != want {
			t.Errorf("the error is %q, want %q", failed.Err, want)
		}
		if took := failed.Done - failed.Sent; took != 51*ms { // the era is a millisecond
			t.Errorf("it took %v", took)
		}
	})
}

func TestADeadlineIsKeptToAnEraWhateverTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws, recs := workers(20, func(ctx context.Context, n uint64) error {
			if n < 20 { // a first call of another length for each worker, so that the second ones start apart
				return take(time.Duration(n)*137*time.Microsecond)(ctx, n)
			}
			return take(time.Hour)(ctx, n)
		})
		if _, err := Run(t.Context(), Options{Workers: ws, Duration: 40 * ms, Grace: time.Second, CallTimeout: 50 * ms}); err != nil {
			t.Fatal(err)
		}
		for w, rec := range recs {
			if took := rec.samples[1].Done - rec.samples[1].Sent; took < 50*ms || took > 52*ms { // to the end of an era, and to the tick that sees its end past
				t.Errorf("worker %d: a call with 50ms to live took %v", w, took)
			}
		}
	})
}

func TestAFailedStepEndsItsIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		second := func(_ context.Context, n uint64) error {
			if n%2 == 1 {
				return broken
			}
			return nil
		}
		ws, recs := workers(1, take(10*ms), second, take(20*ms))
		s, err := Run(t.Context(), Options{Workers: ws, Duration: 75 * ms, Grace: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range recs[0].samples {
			got = append(got, fmt.Sprintf("%d.%d@%d %v", s.N, s.Step, s.Done/ms, s.Err))
		}
		// The last iteration's third step begins at 80 ms, when the window is over, so that there is none.
		want := "0.0@10 <nil>, 0.1@10 <nil>, 0.2@30 <nil>, 1.0@40 <nil>, 1.1@40 broken, " +
			"2.0@50 <nil>, 2.1@50 <nil>, 2.2@70 <nil>, 3.0@80 <nil>"
		if strings.Join(got, ", ") != want {
			t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
		}
		if s.Started != 9 || s.OK != 8 || s.Failed != 1 || s.OKInWindow != 7 {
			t.Errorf("%+v", s)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(250*ms, func() { cancel(why) })
		ws, recs := workers(3, take(100*ms))
		got, err := Run(ctx, Options{Workers: ws, Duration: time.Second, Grace: time.Second})
		want := Stats{Started: 9, OK: 6, OKInWindow: 6, CutOff: 3, Window: 250 * ms, Elapsed: 250 * ms} // 3 x (100, 200, cut at 250)
		if !errors.Is(err, why) || counts(got) != want {
			t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
		}
		for _, r := range recs {
			if len(r.samples) != 2 {
				t.Errorf("%d samples: cut-off calls have none", len(r.samples))
			}
		}
	})
}

func TestACallThatNeverReturnsDoesNotHoldRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		ws, recs := workers(3, take(100*ms))
		ws[1].Calls = []Call{func(context.Context, uint64) error { <-release; return nil }}
		got, err := Run(t.Context(), Options{Workers: ws, Duration: time.Second, Grace: time.Second, Patience: 3 * time.Second})
		want := Stats{Started: 21, OK: 20, OKInWindow: 20, CutOff: 1, Stuck: 1, Window: time.Second, Elapsed: 5 * time.Second}
		if counts(got) != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if err == nil || err.Error() != "load: calls have not returned 3s after their contexts had ended: worker 1" {
			t.Errorf("error %v", err)
		}
		close(release)
		synctest.Wait()
		if len(recs[1].samples) != 0 {
			t.Error("the call that was given up has recorded itself")
		}
	})
}

// every is a Pacer of equal distances.
type every time.Duration

func (e every) At(n uint64) (time.Duration, bool) { return time.Duration(n) * time.Duration(e), true }

// first is a Pacer of n iterations, all due at the start.
type first uint64

func (f first) At(n uint64) (time.Duration, bool) { return 0, n < uint64(f) }

func TestPacer(t *testing.T) {
	for _, row := range []struct {
		name    string
		workers int
		call    time.Duration
		pacer   Pacer
		want    Stats
		last    Sample // of worker 0
	}{
		{"on time: 10 due in 100 ms, the last at 90", 2, 5 * ms, every(10 * ms),
			Stats{Started: 10, OK: 10, OKInWindow: 10, Window: 100 * ms, Elapsed: 95 * ms}, Sample{}},
		{"one worker for calls that are longer than their distance: sent at 0, 25, 50, 75; 6 of 10 never", 1, 25 * ms, every(10 * ms),
			Stats{Started: 4, OK: 4, OKInWindow: 4, Dropped: 6, Window: 100 * ms, Elapsed: 100 * ms},
			Sample{N: 3, Due: 30 * ms, Sent: 75 * ms, Done: 100 * ms}},
		{"no more iterations end the load", 1, 5 * ms, first(3),
			Stats{Started: 3, OK: 3, OKInWindow: 3, Window: 100 * ms, Elapsed: 15 * ms}, Sample{N: 2, Sent: 10 * ms, Done: 15 * ms}},
		{"all due at once, more than there is time for: 100/30 is 4 starts", 1, 30 * ms, first(9),
			Stats{Started: 4, OK: 4, OKInWindow: 3, Dropped: 5, Window: 100 * ms, Elapsed: 120 * ms},
			Sample{N: 3, Sent: 90 * ms, Done: 120 * ms}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ws, recs := workers(row.workers, take(row.call))
				got, err := Run(t.Context(), Options{Workers: ws, Pacer: row.pacer, Duration: 100 * ms, Grace: 100 * ms})
				if err != nil || counts(got) != row.want {
					t.Fatalf("got  %+v, %v\nwant %+v", got, err, row.want)
				}
				all := recs[0].samples
				if last := all[len(all)-1]; row.last != (Sample{}) && last != row.last {
					t.Errorf("last sample %+v, want %+v", last, row.last)
				}
			})
		})
	}
}

func TestAPacedLoadEndsWithItsContextWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(35*ms, cancel)
		ws, _ := workers(2, take(ms))
		got, err := Run(ctx, Options{Workers: ws, Pacer: every(10 * ms), Duration: time.Second})
		want := Stats{Started: 4, OK: 4, OKInWindow: 4, Window: 35 * ms, Elapsed: 35 * ms} // at 0, 10, 20, 30
		if !errors.Is(err, context.Canceled) || counts(got) != want {
			t.Fatalf("got  %+v, %v\nwant %+v", got, err, want)
		}
	})
}

// TestOutcomesPartitionWhatWasStarted makes loads of random calls: quick, slow, failing, hanging, deaf to their
// contexts for a while, under random limits, and interrupted at random.
func TestOutcomesPartitionWhatWasStarted(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }
			o := Options{Duration: 1 + upTo(200*ms), Grace: upTo(50 * ms)}
			if r.IntN(2) == 0 {
				o.CallTimeout = 1 + upTo(20*ms)
			}
			if r.IntN(3) == 0 {
				o.Pacer = every(1 + upTo(5*ms))
			}
			var starts atomic.Uint64
			call := func(kind int, d time.Duration) Call {
				return func(ctx context.Context, n uint64) error {
					starts.Add(1)
					switch kind {
					case 0:
						return errors.Join(take(d)(ctx, n), errors.New("refused"))
					case 1:
						<-ctx.Done()
						return ctx.Err()
					case 2:
						return take(d)(context.Background(), n)
					}
					return take(d)(ctx, n)
				}
			}
			var recs []*kept
			for range 1 + r.IntN(6) {
				rec := &kept{}
				recs = append(recs, rec)
				w := Worker{Recorder: rec}
				for range 1 + r.IntN(3) {
					w.Calls = append(w.Calls, call(r.IntN(8), 1+upTo(30*ms)))
				}
				o.Workers = append(o.Workers, w)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if r.IntN(3) == 0 {
				time.AfterFunc(upTo(250*ms), cancel)
			}
			s, err := Run(ctx, o)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			var samples, ok, first uint64
			var busy time.Duration
			for _, rec := range recs {
				for _, s := range rec.samples {
					samples++
					if s.Err == nil {
						ok++
					}
					if s.Step == 0 {
						first++
					}
					busy += s.Done - s.Sent
					if s.Due > s.Sent || s.Sent > s.Done || s.Sent >= o.Duration {
						t.Fatalf("seed %d: %+v in a window of %v", seed, s, o.Duration)
					}
				}
			}
			if s.Started != s.OK+s.Failed+s.CutOff || s.Started != starts.Load() || samples != s.OK+s.Failed ||
				ok != s.OK || s.OKInWindow > s.OK || s.Stuck != 0 {
				t.Fatalf("seed %d: %+v with %d calls seen, %d samples, %d of them ok", seed, s, starts.Load(), samples, ok)
			}
			if s.Iterations < first || s.Iterations > first+s.CutOff {
				t.Fatalf("seed %d: %+v with %d first steps", seed, s, first)
			}
			if s.Busy < busy || s.CutOff == 0 && s.Busy != busy || s.Busy > time.Duration(len(o.Workers))*s.Elapsed {
				t.Fatalf("seed %d: %+v, but the samples took %v", seed, s, busy)
			}
			if o.Pacer != nil {
				var due uint64
				for d, _ := o.Pacer.At(0); d < s.Window; d, _ = o.Pacer.At(due) {
					due++
				}
				if due != s.Iterations+s.Dropped {
					t.Fatalf("seed %d: %d due in %v, but %+v", seed, due, s.Window, s)
				}
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	ws, _ := workers(1, take(0))
	for _, row := range []struct {
		options Options
		want    string
	}{
		{Options{Duration: 1}, "load: no workers"},
		{Options{Workers: ws}, "load: duration 0s: it must be above zero"},
		{Options{Workers: ws, Duration: 1, Grace: -1}, "load: grace -1ns, call timeout 0s, patience 0s: none may be below zero"},
		{Options{Workers: ws, Duration: 1, Iterations: 1, Earlier: Stats{OK: 1}}, "load: only a closed loop of a duration goes on after an earlier part"},
		{Options{Workers: []Worker{{Recorder: &kept{}}}, Duration: 1}, "load: worker 0 has 0 calls and recorder &{[]}: it needs both"},
	} {
		if _, err := Run(t.Context(), row.options); err == nil || err.Error() != row.want {
			t.Errorf("got %v, want %s", err, row.want)
		}
	}
}

// none is a Recorder that keeps nothing.
type none struct{}

func (none) Record(Sample) {}

func TestACallAllocatesNothing(t *testing.T) {
	l := &loop{Options: Options{Duration: time.Hour, Workers: make([]Worker, 1)}, base: time.Now()}
	w := newWorker(l, 0, Worker{Recorder: none{}})
	l.workers = []*worker{w}
	allocs := testing.AllocsPerRun(1000, func() {
		n, due, sent, _ := w.iteration(l.now())
		w.enter(sent)
		err, _ := w.leave(nil, sent, l.now())
		w.rec.Record(Sample{N: n, Due: due, Sent: sent, Err: err})
	})
	if allocs != 0 {
		t.Errorf("%v allocations a call", allocs)
	}
}

// BenchmarkCall is what the loop adds to a call that does nothing, one worker.
func BenchmarkCall(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	call := func(context.Context, uint64) error {
		if calls++; calls == b.N {
			cancel()
		}
		return nil
	}
	b.ReportAllocs()
	_, err := Run(ctx, Options{Workers: []Worker{{Calls: []Call{call}, Recorder: none{}}}, Duration: time.Hour, CallTimeout: time.Second})
	if !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
}

// TestAnAnswerAfterTheDeadlineIsNone has a call that does not notice that it was told to end, and succeeds too late.
func TestAnAnswerAfterTheDeadlineIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &kept{}
		s, err := Run(t.Context(), Options{Duration: 100 * ms, Grace: time.Second, CallTimeout: 50 * ms, Workers: []Worker{{
			Calls: []Call{func(_ context.Context, n uint64) error {
				if n == 1 {
					time.Sleep(60 * ms) // deaf to its context
				} else {
					time.Sleep(40 * ms)
				}
				return nil
			}}, Recorder: rec,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if s.Started != 2 || s.OK != 1 || s.Failed != 1 { // 0 to 40 ms, 40 to 100 ms
			t.Errorf("%+v", s)
		}
		if late := rec.samples[1].Err; !errors.Is(late, context.DeadlineExceeded) {
			t.Errorf("recorded %v", late)
		}
	})
}
