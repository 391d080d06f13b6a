package stats

import (
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
)

// Shift says how the figures of one run stand to those of another, of which no round belongs to a round of the other. What
// the machine did between the two runs is in it: only within each run is there nothing to tell apart.
type Shift struct {
	// Ratio is the median of the ratios of every figure to every base figure: the estimate of J. L. Hodges and E. L. Lehmann
	// ("Estimates of location based on rank tests", Ann. Math. Statist. 34, 1963) of a shift, on logarithms. Low and High
	// are its interval, and Coverage is what that is worth: see Interval.
	Ratio, Low, High, Coverage float64
	// P is the two-sided p-value of Mann and Whitney's test of "both are drawn from one distribution", exact up to 50 figures a side
	// (25 where figures are equal), not corrected for other comparisons.
	P float64
	// Base and Other count the figures on each side that were compared, Skipped those that were not: NaN, infinite, zero or
	// negative.
	Base, Other, Skipped int

	sorted []float64 // the ratios
}

// CompareUnpaired compares figures of a kind that can't be zero or negative, in any order. ok is false when a side has none. It
// looks at every pair: a thousand figures a side are a million.
func CompareUnpaired(base, other []float64) (s Shift, ok bool) {
	base, other = slices.Clone(base), slices.Clone(other)
	s.Skipped = len(base) + len(other)
	unknown := func(x float64) bool { return !positive(x) }
	base, other = slices.DeleteFunc(base, unknown), slices.DeleteFunc(other, unknown)
	s.Base, s.Other = len(base), len(other)
	s.Skipped -= s.Base + s.Other
	if s.Base == 0 || s.Other == 0 {
		return s, false
	}
	s.sorted = make([]float64, 0, s.Base*s.Other)
	for _, b := range base {
		for _, o := range other {
			ratio := o / b
			if !positive(ratio) { // two figures three hundred powers of ten apart
				return Shift{Base: s.Base, Other: s.Other, Skipped: s.Skipped}, false
			}
			s.sorted = append(s.sorted, ratio)
		}
	}
	slices.Sort(s.sorted)
	s.Ratio = middle(s.sorted)
	s.Low, s.High, s.Coverage = s.Interval(Confidence)
	s.P = 1
	if t, err := moremath.MannWhitneyUTest(base, other, moremath.LocationDiffers); err == nil { // the error is that all figures are equal
		s.P = min(1, t.P)
	}
	return s, true
}

// Interval is that of the ratio with at least the confidence that is asked for: all shifts that Mann and Whitney's test does
// not reject at that level, so that the interval and the p-value can't disagree (Hollander, Wolfe, Chicken, "Nonparametric
// Statistical Methods", 3rd ed., section 4.3). Its bounds are the k-th smallest and the k-th largest of the ratios. Where the figures are
// too few for the confidence it is the whole range, and coverage says what that is worth; equal figures make it worth more than it says.
func (s Shift) Interval(confidence float64) (low, high, coverage float64) {
	pairs := len(s.sorted)
	if pairs == 0 {
		return math.NaN(), math.NaN(), 0
	}
	// The largest k whose tail leaves the confidence; the tail grows with k.
	worth := func(k int) float64 { return max(0, 1-2*s.tail(k-1)) }
	k, beyond := 1, pairs/2+1
	for beyond-k > 1 {
		if try := (k + beyond) / 2; worth(try) >= confidence {
			k = try
		} else {
			beyond = try
		}
	}
	return s.sorted[k-1], s.sorted[pairs-k], worth(k)
}

// tail is the probability that at most u of the pairs favour the base when there is no difference.
func (s Shift) tail(u int) float64 {
	if s.Base <= moremath.MannWhitneyExactLimit && s.Other <= moremath.MannWhitneyExactLimit {
		return moremath.UDist{N1: s.Base, N2: s.Other}.CDF(float64(u))
	}
	m, n := float64(s.Base), float64(s.Other)
	z := (float64(u) + 0.5 - m*n/2) / math.Sqrt(m*n*(m+n+1)/12) // the half is the correction for continuity
	return math.Erfc(-z/math.Sqrt2) / 2
}

// Detected says that the difference is real as far as can be told, as Comparison.Detected does.
func (s Shift) Detected(holmP float64) bool {
	return s.Coverage >= Confidence && (s.Low > 1 || s.High < 1) && holmP < Alpha
}

// SmallestEffect is about the smallest difference, as a share of the base, that four in five runs with the noise of these would
// have shown in a family of so many comparisons: see Comparison.SmallestEffect. ok is false where the figures are too few to
// show any difference, however large.
func (s Shift) SmallestEffect(family int) (share float64, ok bool) {
	alpha := Alpha / float64(max(family, 1))
	low, high, coverage := s.Interval(1 - alpha)
	if coverage < 1-alpha {
		return 0, false
	}
	return shown(math.Log(high/low)/2, alpha), true
}

// shown is the difference that four in five runs show, where every second one shows one as large as half an interval of the level
// alpha, in logarithms: the normal distribution's way from the one to the other is added.
func shown(half, alpha float64) float64 {
	z := math.Sqrt2 * math.Erfinv(1-alpha)
	const z80 = 0.8416 // of a normal distribution 80 % lie below it
	return math.Expm1(half * (z + z80) / z)
}

// Equal says that all figures of both sides are one.
func (s Shift) Equal() bool {
	return len(s.sorted) > 0 && s.sorted[0] == 1 && s.sorted[len(s.sorted)-1] == 1
}
