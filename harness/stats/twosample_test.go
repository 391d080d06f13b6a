package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCompareUnpaired(t *testing.T) {
	for _, row := range []struct {
		name                       string
		base, other                []float64
		ratio, low, high, coverage float64
		p                          float64
		skipped                    int
	}{
		// 4 and 4 in 70 = 8!/(4!4!) orders; all of one side above all of the other in 2 of them.
		{"apart", []float64{1, 1, 1, 1}, []float64{2, 2, 2, 2}, 2, 2, 2, 1 - 2.0/70, 2.0 / 70, 0},
		{"apart, the other way", []float64{2, 2, 2, 2}, []float64{1, 1, 1, 1}, 0.5, 0.5, 0.5, 1 - 2.0/70, 2.0 / 70, 0},
		// Ratios 2, 4, 8 and 1, 2, 4: sorted 1 2 2 4 4 8, the middle (2+4)/2. 3 and 2 in 10 orders: the whole range is worth 1-2/10.
		{"few", []float64{1, 2}, []float64{2, 4, 8}, 3, 1, 8, 1 - 2.0/10, 4.0 / 10, 0},
		{"all equal", []float64{3, 3, 3, 3}, []float64{3, 3, 3, 3}, 1, 1, 1, 1 - 2.0/70, 1, 0},
		{"one each", []float64{4}, []float64{5}, 1.25, 1.25, 1.25, 0, 1, 0},
		{"what is unknown is counted", []float64{4, 0, math.NaN()}, []float64{5, math.Inf(1), -1}, 1.25, 1.25, 1.25, 0, 1, 4},
	} {
		s, ok := CompareUnpaired(row.base, row.other)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
		if !ok || !near(s.Ratio, row.ratio) || !near(s.Low, row.low) || !near(s.High, row.high) || !near(s.Coverage, row.coverage) ||
			!near(s.P, row.p) || s.Skipped != row.skipped {
			t.Errorf("%s: %+v, want %+v", row.name, s, row)
		}
	}
	for _, sides := range [][2][]float64{{nil, {1}}, {{1}, nil}, {{0}, {1}}, {{5e-324}, {1e308}}} {
		if s, ok := CompareUnpaired(sides[0], sides[1]); ok {
			t.Errorf("%v: %+v", sides, s)
		}
	}
}

// TestUnpairedPublished is example 4.1 of Hollander and Wolfe (transfer of water through placentas), as the help of R's wilcox.test
// has it: W = 35 and a one-sided p of 0.1272.
func TestUnpairedPublished(t *testing.T) {
	exp := func(xs ...float64) []float64 {
		for i := range xs {
			xs[i] = math.Exp(xs[i])
		}
		return xs
	}
	x := exp(0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46)
	y := exp(1.15, 0.88, 0.90, 0.74, 1.21)
	s, ok := CompareUnpaired(y, x)
	if !ok || math.Abs(s.P-2*0.1272) > 2e-4 || math.Abs(math.Log(s.Ratio)-0.305) > 1e-3 {
		t.Errorf("p %.4f, shift %.4f, want 0.2544 and 0.305", s.P, math.Log(s.Ratio))
	}
}

// TestUnpairedAgree: without equal figures the interval leaves out 1 exactly when the test rejects, and turning the sides turns
// everything.
func TestUnpairedAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rejected := 0
	for range 2000 {
		base, other := lognormals(rng, 4+rng.IntN(12), 0, 0.1), lognormals(rng, 4+rng.IntN(12), 0.2*rng.Float64(), 0.1)
		s, _ := CompareUnpaired(base, other)
		if out := s.Low > 1 || s.High < 1; out != (s.P < Alpha) {
			t.Fatalf("interval [%g, %g] (%g) and p %g do not agree", s.Low, s.High, s.Coverage, s.P)
		} else if out {
			rejected++
		}
		r, _ := CompareUnpaired(other, base)
		if math.Abs(r.Low*s.High-1) > 1e-12 || math.Abs(r.High*s.Low-1) > 1e-12 || r.Coverage != s.Coverage || math.Abs(r.P-s.P) > 1e-12 {
			t.Fatalf("turned: [%g, %g] %g, p %g; [%g, %g] %g, p %g", s.Low, s.High, s.Coverage, s.P, r.Low, r.High, r.Coverage, r.P)
		}
	}
	if rejected < 200 || rejected > 1800 {
		t.Errorf("%d of 2000 rejected: these cases show nothing", rejected)
	}
}

// TestUnpairedCoverage counts how often the interval holds the true ratio, for sizes whose coverage is exact and for one where it is
// approximated, and how often the test finds what is not there.
func TestUnpairedCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range []struct{ base, other, times int }{{4, 4, 4000}, {6, 9, 4000}, {10, 10, 4000}, {60, 55, 400}} {
		held, alarms := 0, 0
		var coverage float64
		for range size.times {
			base, other := lognormals(rng, size.base, 0, 0.1), lognormals(rng, size.other, math.Log(1.1), 0.1)
			s, _ := CompareUnpaired(base, other)
			coverage = s.Coverage
			if s.Low <= 1.1 && 1.1 <= s.High {
				held++
			}
			if same, _ := CompareUnpaired(base, lognormals(rng, size.other, 0, 0.1)); same.P < Alpha {
				alarms++
			}
		}
		n := float64(size.times)
		slack := 4 * math.Sqrt(0.05*0.95/n)
		if share := float64(held) / n; math.Abs(share-coverage) > slack || coverage < Confidence {
			t.Errorf("%d and %d: the interval held the ratio in %.3f of the cases, its coverage says %.3f", size.base, size.other, share, coverage)
		}
		if share := float64(alarms) / n; share > Alpha+slack {
			t.Errorf("%d and %d: false alarms in %.3f of the cases", size.base, size.other, share)
		}
	}
}

func TestUnpairedSmallestEffect(t *testing.T) {
	base, other := []float64{1, 1.01, 1.02, 1.03}, []float64{1, 1.01, 1.02, 1.03}
	s, _ := CompareUnpaired(base, other)
	// The largest p-value that 4 and 4 can't reach is 2/70 = 0.0286: one comparison needs 0.05, two need 0.025.
	// Half of the interval is log 1.03; 1.960 are 95 % of a normal distribution, and 0.8416 more make it four in five.
	if share, ok := s.SmallestEffect(1); !ok || math.Abs(share-(math.Pow(1.03, (1.960+0.8416)/1.960)-1)) > 1e-5 {
		t.Errorf("alone: %g, %v", share, ok)
	}
	if share, ok := s.SmallestEffect(2); ok {
		t.Errorf("of two: %g", share)
	}
}

func lognormals(rng *rand.Rand, n int, mean, sigma float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = math.Exp(mean + sigma*rng.NormFloat64())
	}
	return xs
}
