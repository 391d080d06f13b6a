package record

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bakeoff/harness/load"
)

func sample(step int, due, sent, done time.Duration, err error) load.Sample {
	return load.Sample{Step: step, Due: due, Sent: sent, Done: done, Err: err}
}

// closed is a sample of the closed loop that took d.
func closed(d time.Duration) load.Sample { return sample(0, 0, 0, d, nil) }

// find is the entry of sum for a step, outcome and kind of time.
func find(t *testing.T, sum Summary, step, outcome, kind string) Times {
	t.Helper()
	for _, k := range sum.Times {
		if k.Step == step && k.Outcome == outcome && k.Time == kind {
			return k
		}
	}
	t.Fatalf("no %s times of step %s, %s", kind, step, outcome)
	return Times{}
}

// TestQuantilesAgainstAnExactSort holds on distributions with long tails, as latencies have them, over all of the range.
func TestQuantilesAgainstAnExactSort(t *testing.T) {
	shapes := map[string]func(r *rand.Rand) float64{
		"lognormal around 80 us":             func(r *rand.Rand) float64 { return 80e3 * math.Exp(r.NormFloat64()) },
		"exponential, mean 2 ms":             func(r *rand.Rand) float64 { return 2e6 * r.ExpFloat64() },
		"pareto from 30 us, infinite spread": func(r *rand.Rand) float64 { return min(30e3/math.Pow(1-r.Float64(), 1/1.1), 119e9) },
		"one of a hundred is frozen a second": func(r *rand.Rand) float64 {
			return 50e3*(1+r.Float64()) + float64(r.IntN(100)/99)*1e9*r.Float64()
		},
		"a few nanoseconds": func(r *rand.Rand) float64 { return 100 * r.Float64() },
		"all of the range":  func(r *rand.Rand) float64 { return math.Exp(r.Float64() * math.Log(120e9)) },
	}
	for name, shape := range shapes {
		for seed := range uint64(5) {
			r := rand.New(rand.NewPCG(seed, 7))
			s := New([]string{"call"}, false)
			recorders := []*Recorder{s.Recorder(), s.Recorder(), s.Recorder()}
			exact := make([]int64, 1+r.IntN(30_000))
			for i := range exact {
				exact[i] = int64(shape(r))
				recorders[r.IntN(3)].Record(closed(time.Duration(exact[i])))
			}
			slices.Sort(exact)
			k := find(t, s.Summary(), "call", OK, Response)
			if k.Hist.TotalCount() != int64(len(exact)) {
				t.Fatalf("%s, seed %d: %d of %d calls", name, seed, k.Hist.TotalCount(), len(exact))
			}
			if k.Min != exact[0] || k.Max != exact[len(exact)-1] || k.Mean < float64(k.Min) || k.Mean > float64(k.Max) {
				t.Errorf("%s, seed %d: min %d, mean %f, max %d; exactly %d and %d", name, seed, k.Min, k.Mean, k.Max, exact[0], exact[len(exact)-1])
			}
			var sum float64
			for _, v := range exact {
				sum += float64(v)
			}
			if mean := sum / float64(len(exact)); math.Abs(k.Mean-mean) > 1e-9*mean {
				t.Errorf("%s, seed %d: mean %f, exactly %f", name, seed, k.Mean, mean)
			}
			for _, q := range []float64{1, 10, 50, 90, 99, 99.9, 100} {
				// The library rounds q*n to a rank, others take the next one above; asked for a rank's own share, it gives that.
				rank := max(1, math.Ceil(q/100*float64(len(exact))))
				want, got := exact[int(rank)-1], k.Hist.ValueAtPercentile(100*rank/float64(len(exact)))
				if off := math.Abs(float64(got - want)); off > 0.001*float64(want) {
					t.Errorf("%s, seed %d: p%v of %d is %d, exactly %d: off by %.3f %%", name, seed, q, len(exact), got, want, 100*off/float64(want))
				}
			}
		}
	}
}

func TestOneTimeIsItsOwnMinMeanAndMax(t *testing.T) {
	s := New([]string{"call"}, false)
	r := s.Recorder()
	const ns = 1<<53/1000 + 1 // 1001 of them add up to more than a float64 holds exactly
	for range 1001 {
		r.Record(closed(ns))
	}
	k := find(t, s.Summary(), "call", OK, Response)
	if k.Min != ns || k.Max != ns || k.Mean != ns {
		t.Errorf("min %d, mean %f, max %d, want %d", k.Min, k.Mean, k.Max, int64(ns))
	}
}

func TestTimesBeyondTheRangeAreCountedAtItsEnd(t *testing.T) {
	s := New([]string{"call"}, false)
	r := s.Recorder()
	for _, d := range []time.Duration{time.Second, 120 * time.Second, 10 * time.Minute} {
		r.Record(closed(d))
	}
	k := find(t, s.Summary(), "call", OK, Response)
	if k.Clamped != 1 || k.Hist.TotalCount() != 3 || k.Max != int64(10*time.Minute) ||
		k.Mean != float64(721*time.Second)/3 { // 1 + 120 + 600
		t.Errorf("clamped %d of %d, max %d, mean %f", k.Clamped, k.Hist.TotalCount(), k.Max, k.Mean)
	}
	if top := k.Hist.ValueAtPercentile(100); top < Max || float64(top) > 1.001*float64(Max) {
		t.Errorf("p100 of the histogram is %d, want %d", top, Max)
	}
}

func TestOutcomesAreKeptApart(t *testing.T) {
	s := New([]string{"login", "buy"}, true)
	a, b := s.Recorder(), s.Recorder()
	ms := time.Millisecond
	a.Record(sample(0, 0, 2*ms, 10*ms, nil))
	a.Record(sample(1, 10*ms, 10*ms, 15*ms, errors.New("no such item 1")))
	b.Record(sample(0, 0, 0, 20*ms, nil))
	b.Record(sample(1, 20*ms, 20*ms, 21*ms, nil))
	b.Record(sample(1, 30*ms, 30*ms, 90*ms, fmt.Errorf("deaf: %w", errClass("timeout"))))
	sum := s.Summary()
	var got []string
	for _, k := range sum.Times {
		got = append(got, fmt.Sprintf("%s %s %s: %d, %d..%d ms", k.Step, k.Outcome, k.Time,
			k.Hist.TotalCount(), k.Min/int64(ms), k.Max/int64(ms)))
	}
	want := []string{
		"login ok response: 2, 10..20 ms", "login ok service: 2, 8..20 ms",
		"buy ok response: 1, 1..1 ms", "buy ok service: 1, 1..1 ms",
		"buy other response: 1, 5..5 ms", "buy other service: 1, 5..5 ms",
		"buy timeout response: 1, 60..60 ms", "buy timeout service: 1, 60..60 ms",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if sum.OK != 3 || fmt.Sprint(sum.Failed) != "map[other:1 timeout:1]" {
		t.Errorf("ok %d, failed %v", sum.OK, sum.Failed)
	}
}

func TestNothingRecordedIsNotAZero(t *testing.T) {
	s := New([]string{"call"}, false)
	s.Recorder()
	if sum := s.Summary(); sum.OK != 0 || sum.Failed != nil || sum.Times != nil || sum.Examples != nil {
		t.Errorf("%+v", sum)
	}
}

// TestNoCallIsLost has workers that share recorders succeed and fail at the same time; -race watches.
func TestNoCallIsLost(t *testing.T) {
	const workers, each = 16, 10_001
	s := New([]string{"call"}, false)
	var all sync.WaitGroup
	for range workers {
		r := s.Recorder()
		all.Go(func() {
			for i := range each {
				call := closed(time.Duration(i) * time.Microsecond)
				if i%10 == 0 {
					call.Err = errClass("reset")
				}
				r.Record(call)
			}
		})
	}
	all.Wait()
	sum := s.Summary()
	if sum.OK != 16*9000 || sum.Failed["reset"] != 16*1001 {
		t.Errorf("ok %d, failed %v", sum.OK, sum.Failed)
	}
	k := find(t, sum, "call", OK, Response)
	if n := find(t, s.Summary(), "call", OK, Response).Hist.TotalCount(); n != k.Hist.TotalCount() || n != 16*9000 {
		t.Errorf("%d calls in the histogram, %d when asked again", k.Hist.TotalCount(), n)
	}
}

func TestASuccessAllocatesNothing(t *testing.T) {
	for _, paced := range []bool{false, true} {
		r := New([]string{"call"}, paced).Recorder()
		i := 0
		if n := testing.AllocsPerRun(10_000, func() { i++; r.Record(closed(time.Duration(i) * time.Microsecond)) }); n != 0 {
			t.Errorf("paced %v: %v allocations a call", paced, n)
		}
	}
}

// heap is what is alive on it.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestMemoryDoesNotGrowWithTheCalls(t *testing.T) {
	before := heap()
	s := New([]string{"call"}, false)
	recorders := make([]*Recorder, 800)
	for i := range recorders {
		recorders[i] = s.Recorder()
	}
	const most = 3 << 20 // at most 8 tallies' histograms of 230 kB, a failure's, and half a kilobyte a worker
	empty := heap() - before
	calls, failures := 0, 0
	record := func(n int) int64 {
		for range n {
			call := closed(time.Duration(calls * 7919 % 1e9))
			if calls++; calls%1000 == 0 {
				failures++
				call.Err = fmt.Errorf("port %d: %w", calls, errClass("reset"))
			}
			recorders[calls%800].Record(call)
		}
		return heap() - before
	}
	first, last := record(1_000_000), record(4_000_000)
	if last > first+first/10 || last > most {
		t.Errorf("heap: %d bytes empty, %d after a million calls, %d after five (at most %d)", empty, first, last, most)
	}
	if sum := s.Summary(); sum.OK+sum.Failed["reset"] != 5_000_000 {
		t.Errorf("%d ok, %v", sum.OK, sum.Failed)
	}
}

// BenchmarkRecord is one worker alone; the parallel one is all of them over one Set.
func BenchmarkRecord(b *testing.B) {
	b.Run("alone", func(b *testing.B) {
		r := New([]string{"call"}, false).Recorder()
		b.ReportAllocs()
		for i := range b.N {
			r.Record(closed(time.Duration(50_000 + i%100_000)))
		}
	})
	b.Run("parallel", func(b *testing.B) {
		s := New([]string{"call"}, false)
		var mu sync.Mutex
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			mu.Lock()
			r := s.Recorder()
			mu.Unlock()
			for i := 0; pb.Next(); i++ {
				r.Record(closed(time.Duration(50_000 + i%100_000)))
			}
		})
	})
}
