package stats

import (
	"math"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
)

var nan, inf = math.NaN(), math.Inf(1)

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

func upTo(n int) []float64 {
	var xs []float64
	for i := range n {
		xs = append(xs, float64(i+1))
	}
	return xs
}

func TestMedian(t *testing.T) {
	for _, row := range []struct {
		name string
		in   []float64
		want Summary
	}{
		{"one says nothing about the next", []float64{7}, Summary{7, 7, 7, 1, 0, Alpha}},
		{"two", []float64{4, 2}, Summary{3, 2, 4, 2, 0.5, Alpha}},                  // 1 - 2/4
		{"three", []float64{9, 1, 2}, Summary{2, 1, 9, 3, 0.75, Alpha}},            // 1 - 2/8
		{"five", []float64{5, 4, 3, 2, 1}, Summary{3, 1, 5, 5, 0.9375, Alpha}},     // 1 - 2/32
		{"six: the first at 95 %", upTo(6), Summary{3.5, 1, 6, 6, 0.96875, Alpha}}, // 1 - 2/64
		{"eight: symmetric", upTo(8), Summary{4.5, 1, 8, 8, 0.9921875, Alpha}},     // 1 - 2/256
		{"ten: 2nd and 9th", upTo(10), Summary{5.5, 2, 9, 10, 0.978515625, Alpha}}, // 1 - 2(1+10)/1024
		{"equal", []float64{3, 3, 3, 3, 3, 3, 3}, Summary{3, 3, 3, 7, 0.984375, Alpha}},
		{"negative and zero", []float64{-1, 0, -3}, Summary{-1, -3, 0, 3, 0.75, Alpha}},
		{"no overflow", []float64{math.MaxFloat64, math.MaxFloat64}, Summary{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64, 2, 0.5, Alpha}},
	} {
		in := slices.Clone(row.in)
		got, ok := Median(in)
		if !ok || got.Median != row.want.Median || got.Low != row.want.Low || got.High != row.want.High || got.N != row.want.N ||
			!near(got.Coverage, row.want.Coverage, 1e-12) {
			t.Errorf("%s: %+v, %v, want %+v", row.name, got, ok, row.want)
		}
		if got.TooFew() != (len(row.in) < 6) {
			t.Errorf("%s: too few is %v", row.name, got.TooFew())
		}
		if !slices.Equal(in, row.in) {
			t.Errorf("%s: the input was changed to %v", row.name, in)
		}
	}
	for _, in := range [][]float64{nil, {1, nan}, {inf, 1}, {-inf}} {
		if s, ok := Median(in); ok {
			t.Errorf("median of %v: %+v", in, s)
		}
	}
}

// The orders and their confidence as the tables of confidence limits for the median print them.
func TestMedianOrderAgainstTables(t *testing.T) {
	for _, row := range []struct {
		n, k     int
		coverage float64
	}{
		{6, 1, 0.969}, {7, 1, 0.984}, {8, 1, 0.992}, {9, 2, 0.961}, {10, 2, 0.979}, {11, 2, 0.988}, {12, 3, 0.961}, {15, 4, 0.965},
		{20, 6, 0.959}, {25, 8, 0.957}, {30, 10, 0.957}, {40, 14, 0.962}, {50, 18, 0.967}, {100, 40, 0.965},
	} {
		if k, c := medianOrder(row.n, Confidence); k != row.k || !near(c, row.coverage, 0.0006) {
			t.Errorf("n = %d: order %d, %.4f, want %d, %.3f", row.n, k, c, row.k, row.coverage)
		}
	}
	for _, n := range []int{1075, 20_000} { // 2^-n is no float64 here; k is near n/2 - 0.98 sqrt(n)
		k, c := medianOrder(n, Confidence)
		if want := float64(n)/2 - 0.98*math.Sqrt(float64(n)); !near(float64(k), want, 1) || c < 0.95 || c > 0.96 {
			t.Errorf("n = %d: order %d, %.4f, want about %.0f", n, k, c, want)
		}
	}
}

func TestMedianAgreesWithBenchmath(t *testing.T) {
	for n := 6; n <= 30; n++ { // from 31 on benchmath approximates
		xs := upTo(n)
		ours, _ := Median(xs)
		theirs := benchmath.AssumeNothing.Summary(benchmath.NewSample(xs, &benchmath.DefaultThresholds), Confidence)
		if ours.Median != theirs.Center || ours.Low > theirs.Lo || ours.High < theirs.Hi {
			t.Errorf("n = %d: %+v, benchmath %+v", n, ours, theirs)
		}
		symmetric := theirs.Lo-1 == float64(n)-theirs.Hi
		if symmetric && (ours.Low != theirs.Lo || ours.High != theirs.Hi || !near(ours.Coverage, theirs.Confidence, 1e-9)) {
			t.Errorf("n = %d: benchmath is symmetric with %+v, ours is %+v", n, theirs, ours)
		}
	}
}

func TestSignedRank(t *testing.T) {
	// Hollander and Wolfe (1973), page 29: Hamilton depression scale before and after; R's wilcox.test gives V = 40,
	// p = 0.01953 one-sided with these (?wilcox.test, first example), so 0.0390625 = 20/512 two-sided.
	before := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	var depression []float64
	for i := range before {
		depression = append(depression, before[i]-after[i])
	}
	for _, row := range []struct {
		name string
		in   []float64
		want float64
	}{
		{"Hollander and Wolfe", depression, 20.0 / 512},
		{"none", nil, 1},
		{"only zeros", []float64{0, 0, 0}, 1},
		{"one", []float64{3}, 1}, // 2/2
		{"five of one sign can't reach 5 %", []float64{1, 2, 3, 4, 5}, 0.0625}, // 2/32
		{"six of one sign", []float64{-1, -2, -3, -4, -5, -6}, 0.03125},        // 2/64
		{"six ties of one sign", []float64{1, 1, 1, 1, 1, 1}, 0.03125},         // 2/64, as without ties
		{"tied within rounding", []float64{0.1 + 0.2, 0.3, -0.3}, 1},           // ranks 2 2 2: sums 0 2 2 2 4 4 4 6, plus 4: all 8 of 8
		{"ties", []float64{1, 2, 2, -1}, 0.375},                                // ranks 1.5 1.5 3.5 3.5, minus 1.5: {0, 1.5, 1.5} below, 6/16
		{"in the middle", []float64{1, 1, -2}, 1},                              // ranks 1.5 1.5 3: plus 3 of 6
		// ranks 2 to 8, minus 5: {} {2} {3} {4} {5} {2,3} are that low, 2*6/128
		{"zeros are ranked, then left out", []float64{0, 1, 2, 3, -4, 5, 6, 7}, 0.09375},
		{"ten of one sign", upTo(10), 0.001953125}, // 2/1024
	} {
		if got := SignedRank(row.in); !near(got, row.want, 1e-12) {
			t.Errorf("%s: p = %.9g, want %.9g", row.name, got, row.want)
		}
		var turned []float64
		for _, d := range row.in {
			turned = append(turned, -d)
		}
		if a, b := SignedRank(row.in), SignedRank(turned); !near(a, b, 1e-12) {
			t.Errorf("%s: p = %g, with all signs turned %g", row.name, a, b)
		}
	}
}

// Where the approximation takes over it must agree with the exact value.
func TestSignedRankApproximation(t *testing.T) {
	for _, negatives := range []int{0, 10, 15, 20, 25, 30} {
		xs := upTo(exactUpTo + 1)
		for i := range negatives {
			xs[i*2] = -xs[i*2]
		}
		ranks, plus := signedRanks(xs)
		if exact, got := exactP(ranks, plus), SignedRank(xs); !near(exact, got, 0.002) || math.Abs(got-exact) > 0.1*exact && exact > 1e-4 {
			t.Errorf("%d negatives: approximated %.5f, exact %.5f", negatives, got, exact)
		}
	}
	// n = 100 without ties: mean 100*101/4 = 2525, sd = sqrt(100*101*201/24) = 290.84; ranks 1 to 63 negative: plus = 5050-2016 = 3034;
	// z = (3034-2525-0.5)/290.84 = 1.74839, p = 0.08040
	xs := upTo(100)
	for i := range 63 {
		xs[i] = -xs[i]
	}
	if p := SignedRank(xs); !near(p, 0.08040, 2e-5) {
		t.Errorf("n = 100: p = %.5f, want 0.08040", p)
	}
}

func TestHolm(t *testing.T) {
	for _, row := range []struct {
		name     string
		in, want []float64
	}{
		{"none", nil, []float64{}},
		{"one", []float64{0.03}, []float64{0.03}},
		// 0.005*4 = 0.02, 0.01*3 = 0.03, 0.03*2 = 0.06, 0.04*1 = 0.04 but not below the one before
		{"the textbook's four", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"at most 1", []float64{0.9, 0.8}, []float64{1, 1}},
		{"unknown does not count", []float64{nan, 0.02, 0.03}, []float64{nan, 0.04, 0.04}}, // 0.02*2, max(0.04, 0.03)
		{"equal", []float64{0.02, 0.02}, []float64{0.04, 0.04}},
	} {
		got := Holm(row.in)
		same := slices.EqualFunc(got, row.want, func(a, b float64) bool { return math.IsNaN(a) && math.IsNaN(b) || near(a, b, 1e-15) })
		if !same {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestCompare(t *testing.T) {
	// A machine that slows down by half over eight blocks; other is 10 % to 17 % above base in each.
	base := []float64{100, 95, 90, 80, 70, 65, 60, 50}
	factor := []float64{1.10, 1.17, 1.12, 1.13, 1.14, 1.15, 1.16, 1.11}
	var other []float64
	for i := range base {
		other = append(other, base[i]*factor[i])
	}
	c, ok := Compare(base, other)
	// the middle of 36 means of pairs is near sqrt(1.13*1.14) = 1.135, a little lower as the logarithm bends; all eight positive: p = 2/256. Sums of ranks up to
	// 3 are 1+1+1+2 = 5 patterns, 10/256 = 0.039, up to 4 are 7, 14/256 = 0.055: the interval is from the 4th smallest of the means of pairs
	// (1.10, sqrt(1.10*1.11), sqrt(1.10*1.12), 1.11) to the 4th largest (1.17, sqrt(1.17*1.16), 1.16, sqrt(1.17*1.15))
	if !ok || !near(c.Ratio, 1.1348, 1e-4) || !near(c.Low, 1.11, 1e-12) || !near(c.High, math.Sqrt(1.17*1.15), 1e-12) ||
		!near(c.Coverage, 1-10.0/256, 1e-12) || c.N != 8 || c.Skipped != 0 || !near(c.P, 2.0/256, 1e-12) {
		t.Errorf("%+v, %v", c, ok)
	}
	for _, row := range []struct {
		family int
		want   float64
		ok     bool
	}{
		// ln(1.15996/1.11)/2 = 0.02202 times (1.960+0.842)/1.960 = 1.4294 is 0.03147, or 3.2 %
		{0, 0.03196, true}, {1, 0.03196, true},
		// 1-0.05/6 = 0.9917 is needed: the whole range, with 1-2/256 = 0.9922; ln(1.17/1.10)/2 = 0.03085 times (2.638+0.842)/2.638 = 1.3190
		{6, 0.04153, true},
		{7, 0, false}, // 1-0.05/7 = 0.9929: not to be had from eight blocks, whose p-value is 2/256 * 7 = 0.055 at best
	} {
		if effect, ok := c.SmallestEffect(row.family); ok != row.ok || !near(effect, row.want, 1e-5) {
			t.Errorf("smallest effect in a family of %d: %g, %v, want %g, %v", row.family, effect, ok, row.want, row.ok)
		}
	}
	for n := 1; n <= 12; n++ { // what can't be shown is what the p-value of n blocks of one sign can't reach
		one := slices.Repeat([]float64{1}, n)
		for family := 1; family <= 50; family++ {
			c, _ := Compare(one, upTo(n))
			c2, _ := Compare(one, slices.Repeat([]float64{2}, n))
			if _, ok := c.SmallestEffect(family); ok != (c2.P*float64(family) <= Alpha) {
				t.Errorf("%d blocks in a family of %d: could show something: %v, smallest p-value %g", n, family, ok, c2.P*float64(family))
			}
		}
	}
	for _, row := range []struct {
		name  string
		holmP float64
		want  bool
	}{{"alone", c.P, true}, {"in a large family", 0.06, false}, {"at the level", 0.05, false}, {"unknown", nan, false}} {
		if c.Detected(row.holmP) != row.want {
			t.Errorf("%s: detected with p = %g: %v", row.name, row.holmP, !row.want)
		}
	}
	if (Comparison{N: 5, Coverage: 0.9375, Low: 1.1, High: 1.2, alpha: Alpha}).Detected(0.01) {
		t.Error("five blocks are enough")
	}
	if (Comparison{N: 8, Coverage: 0.99, Low: 0.9, High: 1.2, alpha: Alpha}).Detected(0.01) {
		t.Error("detected although the interval holds 1")
	}

	turned, _ := Compare(other, base)
	if !near(turned.Low, 1/c.High, 1e-12) || !near(turned.High, 1/c.Low, 1e-12) || !near(turned.P, c.P, 1e-12) {
		t.Errorf("the other way round: %+v", turned)
	}
}

func TestCompareUnknown(t *testing.T) {
	for _, row := range []struct {
		name        string
		base, other []float64
		n, skipped  int
		ok          bool
	}{
		{"holes", []float64{1, nan, 2, 0, 4, inf, 1}, []float64{2, 2, nan, 3, 8, 1, -1}, 2, 5, true},
		{"all unknown", []float64{0, nan}, []float64{1, 1}, 0, 2, false},
		{"zero against zero", []float64{0}, []float64{0}, 0, 1, false},
		{"a ratio beyond a float", []float64{1e-300}, []float64{1e300}, 0, 1, false},
		{"nothing", nil, nil, 0, 0, false},
		{"no pairs", []float64{1, 2}, []float64{1}, 0, 0, false},
	} {
		c, ok := Compare(row.base, row.other)
		if ok != row.ok || c.N != row.n || c.Skipped != row.skipped {
			t.Errorf("%s: %+v, %v, want %d blocks and %d skipped, %v", row.name, c, ok, row.n, row.skipped, row.ok)
		}
	}
}
