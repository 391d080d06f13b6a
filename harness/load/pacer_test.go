package load

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

func pacer(t testing.TB, profile, arrivals string, window time.Duration, seed uint64) Pacer {
	t.Helper()
	p, err := ParseProfile(profile)
	if err != nil {
		t.Fatal(err)
	}
	a, err := FindArrivals(arrivals)
	if err != nil {
		t.Fatal(err)
	}
	return a.Pacer(p, window, seed)
}

func TestDueTimes(t *testing.T) {
	for _, row := range []struct {
		profile string
		window  time.Duration
		n       uint64
		want    time.Duration
	}{
		{"1", time.Second, 0, 0},
		{"1", time.Second, 3, 3 * time.Second},
		{"3", time.Second, 1, 333_333_333},                     // floor(10^9/3)
		{"3", time.Second, 2, 666_666_666},                     // not twice 333,333,333 + drift: floor(2*10^9/3)
		{"3", time.Second, 3_000_000, 1_000_000 * time.Second}, // exact after eleven days
		{"100000", time.Second, 1, 10_000},
		{"999983", time.Second, 999_983 * 3600, time.Hour},     // a prime, after an hour
		{"100..300", 10 * time.Second, 2000, 10 * time.Second}, // (100+300)/2 * 10
		{"100..300", 10 * time.Second, 750, 5 * time.Second},   // 100*5 + 20*25/2 = 750
		{"300..100", 10 * time.Second, 1250, 5 * time.Second},  // 300*5 - 20*25/2
		{"500..500", 10 * time.Second, 2500, 5 * time.Second},
		{"100/300", 10 * time.Second, 500, 5 * time.Second},  // 100*5
		{"100/300", 10 * time.Second, 1400, 8 * time.Second}, // 500 + 300*3
		{"100/300", 10 * time.Second, 2000, 10 * time.Second},
		{"7/1000/7", 3 * time.Second, 1007, 2 * time.Second},
	} {
		due, ok := pacer(t, row.profile, "constant", row.window, 0).At(row.n)
		if off := due - row.want; !ok || off < -1 || off > 1 { // 1 ns for the roots
			t.Errorf("%s over %v: call %d is due at %v (%v), want %v", row.profile, row.window, row.n, due, ok, row.want)
		}
	}
	for _, row := range []struct {
		profile string
		n       uint64
	}{{"1", math.MaxUint64}, {"1", 1 << 34}, {"300..100", 1 << 60}} { // 2^34 s are 545 years; a falling ramp comes to its last call
		if due, ok := pacer(t, row.profile, "constant", time.Second, 0).At(row.n); ok {
			t.Errorf("%s: call %d is due at %v", row.profile, row.n, due)
		}
	}
}

// TestConstantRateDoesNotDrift holds the due times to whole-number arithmetic of any size.
func TestConstantRateDoesNotDrift(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		rate, n := 1+r.Uint64N(MaxRate), r.Uint64N(1<<40)
		due, ok := constant(rate).nth(n, 0)
		want := new(big.Int).Div(new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(1e9)), new(big.Int).SetUint64(rate))
		if fits := want.IsInt64(); ok != fits || fits && int64(due) != want.Int64() {
			t.Fatalf("call %d at %d/s: %d ns (%v), want %s", n, rate, due, ok, want)
		}
	}
}

// TestDueTimesDoNotFall holds for every profile, and the calls of a window are as many as its mean rate says.
func TestDueTimesDoNotFall(t *testing.T) {
	const window = time.Second
	for _, profile := range []string{"1", "7", "500", "33333", "100000", "1..1000", "1000..1", "20000..30000", "1/50000/1", "3/7/11/13"} {
		for _, arrivals := range AllArrivals {
			p := pacer(t, profile, arrivals.Name, window, 5)
			var n uint64
			for last := time.Duration(0); ; n++ {
				due, ok := p.At(n)
				if !ok || due >= window {
					break
				}
				if due < last {
					t.Fatalf("%s %s: call %d is due %v before the one before it", profile, arrivals.Name, n, last-due)
				}
				last = due
			}
			parsed, err := ParseProfile(profile)
			if err != nil {
				t.Fatal(err)
			}
			want := parsed.Mean() * window.Seconds()
			room := 1.0 // the call at the very end
			if arrivals.Name == "poisson" {
				room = 4 * math.Sqrt(want) // four standard deviations
			}
			if off := math.Abs(float64(n) - want); off > room {
				t.Errorf("%s %s: %d calls in %v, want %.0f", profile, arrivals.Name, n, window, want)
			}
		}
	}
}

// TestPoisson looks at the distances of 200,000 arrivals: exponential with the rate's mean, and not correlated.
func TestPoisson(t *testing.T) {
	const n, rate = 200_000, 20_000.0
	p := pacer(t, "20000", "poisson", time.Second, 42)
	var distances []float64
	last := 0.0
	for i := range uint64(n) {
		due, _ := p.At(i)
		distances = append(distances, due.Seconds()-last)
		last = due.Seconds()
	}
	mean := last / n
	var squares, product float64
	over := map[float64]int{0.5: 0, 1: 0, 3: 0} // shares of distances over so many means: exp(-x)
	for i, d := range distances {
		squares += (d - mean) * (d - mean)
		if i > 0 {
			product += (d - mean) * (distances[i-1] - mean)
		}
		for x := range over {
			if d > x*mean {
				over[x]++
			}
		}
	}
	near := func(what string, got, want, room float64) {
		t.Helper()
		if math.Abs(got-want) > room {
			t.Errorf("%s is %v, want %v +- %v", what, got, want, room)
		}
	}
	near("the mean distance", mean*rate, 1, 4/math.Sqrt(n))
	near("the deviation over the mean", math.Sqrt(squares/n)/mean, 1, 0.02)
	near("the correlation of neighbours", product/squares, 0, 4/math.Sqrt(n))
	for x, count := range over {
		near("a share of long distances", float64(count)/n, math.Exp(-x), 0.005)
	}
}

func TestPoissonIsAFunctionOfNumberAndSeed(t *testing.T) {
	const n = 20 * blockSize
	in := pacer(t, "1000..3000", "poisson", 10*time.Second, 7)
	want := make([]time.Duration, n)
	for i := range want {
		want[i], _ = in.At(uint64(i))
	}
	jumping := pacer(t, "1000..3000", "poisson", 10*time.Second, 7)
	var all sync.WaitGroup
	for w := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(w, 0))
			for range 2000 {
				if i := r.IntN(n); true {
					if got, _ := jumping.At(uint64(i)); got != want[i] {
						t.Errorf("call %d is due at %v, in order it was %v", i, got, want[i])
					}
				}
			}
		})
	}
	all.Wait()
	if other, _ := pacer(t, "1000..3000", "poisson", 10*time.Second, 8).At(5); other == want[5] {
		t.Error("another seed has the same arrivals")
	}
}

func TestProfilesAreDocumented(t *testing.T) {
	for _, s := range Shapes {
		example := s.Doc[strings.LastIndex(s.Doc, " ")+1:]
		if p, err := ParseProfile(example); err != nil || p.String() != example || p.IsZero() {
			t.Errorf("%s: its example %q: %v", s.Name, example, err)
		}
	}
	if !(Profile{}).IsZero() || (Profile{}).Mean() != 0 {
		t.Error("the zero profile is not the closed loop")
	}
}

func TestParseProfileRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":          `rate "": must be RATE (constant), FROM..TO (ramp), RATE/RATE/... (steps), in calls a second`,
		"0":         `rate "0": "0" is not a whole number of calls a second from 1 to 1000000`,
		"1000001":   `rate "1000001": "1000001" is not a whole`,
		"1.5":       `rate "1.5": must be RATE`,
		"-3":        `"-3" is not a whole number`,
		"5..":       `rate "5..": "" is not a whole number`,
		"5..x":      `"x" is not`,
		"5/":        `"" is not`,
		"5/6..7":    `"5/6" is not`,
		"1/2/hello": `"hello" is not`,
	} {
		if _, err := ParseProfile(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := FindArrivals("bursty"); err == nil || err.Error() != `unknown arrivals "bursty": must be constant or poisson` {
		t.Error(err)
	}
}

func FuzzParseProfile(f *testing.F) {
	for _, seed := range []string{"500", "1..2", "3/4/5", "..", "/", "1..2/3", "99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseProfile(text)
		if err != nil {
			return
		}
		if m := p.Mean(); !(m >= MinRate && m <= MaxRate) {
			t.Errorf("%q has a mean of %v", text, m)
		}
		again, err := ParseProfile(p.String())
		if err != nil || again.Mean() != p.Mean() {
			t.Errorf("%q reads back as %v, %v", p.String(), again, err)
		}
	})
}

func BenchmarkAt(b *testing.B) {
	for _, profile := range []string{"500", "500..2000", "500/1000/2000"} {
		for _, a := range AllArrivals {
			p := pacer(b, profile, a.Name, 10*time.Second, 1)
			b.Run(profile+"/"+a.Name, func(b *testing.B) {
				b.ReportAllocs()
				for n := uint64(0); b.Loop(); n++ {
					p.At(n % 1_000_000)
				}
			})
		}
	}
}
