package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The critical values of the signed-rank test as the textbooks print them, two-sided: the largest sum that is significant is c-1.
func TestSignedRankOrderAgainstTables(t *testing.T) {
	for _, row := range []struct {
		n       int
		asked   float64
		largest int
	}{
		// Wilcoxon and Wilcox (1964), table of T at 0.05, 0.02 and 0.01 two-sided
		{6, 0.95, 0}, {7, 0.95, 2}, {8, 0.95, 3}, {9, 0.95, 5}, {10, 0.95, 8}, {12, 0.95, 13}, {15, 0.95, 25}, {20, 0.95, 52}, {25, 0.95, 89},
		{10, 0.98, 5}, {20, 0.98, 43}, {10, 0.99, 3}, {20, 0.99, 37}, {25, 0.99, 68}, {50, 0.95, 434}, {50, 0.99, 373},
	} {
		if c, coverage := signedRankOrder(row.n, row.asked); c-1 != row.largest || coverage < row.asked {
			t.Errorf("n = %d at %g: sums up to %d, %.4f, the table has %d", row.n, row.asked, c-1, coverage, row.largest)
		}
	}
	for n := 1; n <= 5; n++ { // the whole range, and what it is worth
		if c, coverage := signedRankOrder(n, 0.95); c != 1 || !near(coverage, 1-2/math.Exp2(float64(n)), 1e-12) {
			t.Errorf("n = %d: order %d, %.4f", n, c, coverage)
		}
	}
}

// Hollander and Wolfe's depression data again: R's wilcox.test(x, y, paired = TRUE, conf.int = TRUE) gives the interval -0.786 to -0.010 for
// y - x at 95 %, estimate -0.46.
func TestLocate(t *testing.T) {
	diffs := []float64{0.952, -0.147, 1.022, 0.430, 0.620, 0.590, 0.490, -0.080, 0.010}
	at := locate(walsh(diffs), len(diffs), Confidence)
	if !near(at.mid, 0.46, 1e-9) || !near(at.low, 0.010, 1e-9) || !near(at.high, 0.786, 1e-9) {
		t.Errorf("%+v", at)
	}
}

// The interval excludes 1 exactly when the test rejects: at every number of blocks, exact and approximate, at every look.
func TestIntervalAgreesWithTest(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	rejected, kept := 0, 0
	for range 1500 {
		n, look := 5+r.IntN(80), r.IntN(4)
		base, other := make([]float64, n), make([]float64, n)
		shift := r.NormFloat64() * 0.03
		for i := range base {
			base[i], other[i] = 1, math.Exp(shift+0.1*r.NormFloat64())
		}
		c, _ := CompareAt(base, other, look)
		outside := c.Coverage >= 1-LookAlpha(look) && (c.Low > 1 || c.High < 1)
		if rejects := c.P <= LookAlpha(look); rejects != outside {
			t.Errorf("%d blocks at look %d: interval [%g, %g], p = %g", n, look, c.Low, c.High, c.P)
		}
		if c.Low > c.Ratio || c.Ratio > c.High {
			t.Errorf("%d blocks: the ratio %g is not in [%g, %g]", n, c.Ratio, c.Low, c.High)
		}
		if outside {
			rejected++
		} else {
			kept++
		}
	}
	if rejected < 200 || kept < 200 {
		t.Errorf("%d rejected, %d kept: this test shows only one side", rejected, kept)
	}
}

func TestHalfWidth(t *testing.T) {
	same := func(n int) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = 1
		}
		return xs
	}
	// ten: sums up to 8 have p = 50/1024: from the 9th of the means to the 9th from the end, here both 1
	c, _ := Compare(same(10), same(10))
	if w, ok := c.HalfWidth(); !ok || w != 0 {
		t.Errorf("equal: %g, %v", w, ok)
	}
	// six: the range. Logarithms from -0.1 to 0.1: sqrt(e^0.2) - 1
	six := []float64{math.Exp(-0.1), 1, 1, 1, 1, math.Exp(0.1)}
	c, _ = Compare(same(6), six)
	if w, ok := c.HalfWidth(); !ok || !near(w, math.Expm1(0.1), 1e-12) {
		t.Errorf("six: %g, %v", w, ok)
	}
	c, _ = CompareAt(same(6), six, 1) // 1-2/64 = 0.969 < 0.975
	if w, ok := c.HalfWidth(); ok {
		t.Errorf("six at the first look: %g", w)
	}
	s, _ := Median([]float64{98, 99, 100, 100, 101, 104})
	if w, ok := s.HalfWidth(); !ok || !near(w, 0.03, 1e-12) { // (104-98)/2/100
		t.Errorf("median: %g, %v", w, ok)
	}
	s, _ = MedianAt([]float64{98, 99, 100, 100, 101, 104}, 1)
	if w, ok := s.HalfWidth(); ok || !s.TooFew() {
		t.Errorf("median at the first look: %g", w)
	}
	s, _ = Median(make([]float64, 6))
	if w, ok := s.HalfWidth(); ok {
		t.Errorf("a median of zero: %g", w)
	}
}
