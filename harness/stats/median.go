// Package stats says what a handful of rounds can tell: medians with distribution-free intervals, and comparisons of
// rounds that were measured side by side. It works on plain numbers and knows nothing of what they measure or of how
// they are shown. All functions are pure.
package stats

import (
	"math"
	"slices"
)

// Confidence is the level of every interval here, unless a run is looked at more than once (see LookAlpha).
const Confidence = 0.95

// Summary is the median of N observations and an interval for the median of what they were drawn from.
type Summary struct {
	Median, Low, High float64
	N                 int
	// Coverage is the true confidence of [Low, High], for any continuous distribution: at least Confidence from six
	// observations on. Below that the interval is the whole range, and this is what the range is worth: 0 for one
	// observation, 1-2/2^N for N.
	Coverage float64

	alpha float64 // the level of the interval
}

// TooFew says that there were too few observations for an interval at the confidence asked for.
func (s Summary) TooFew() bool { return s.Coverage < 1-s.alpha }

// HalfWidth is half the width of the interval as a share of the median: 0.02 is "within 2 % of it". ok is false where there
// were too few observations, and for a median that is not above zero.
func (s Summary) HalfWidth() (share float64, ok bool) {
	return (s.High - s.Low) / 2 / s.Median, s.N > 0 && !s.TooFew() && s.Median > 0
}

// Median summarises xs, which stay as they are. Order does not matter. ok is false when there is nothing to
// summarise, or when a value is NaN or infinite: a median that left them out would be one of other rounds.
//
// The bounds are the k-th smallest and the k-th largest observation, with the largest k that keeps the confidence
// (Hollander, Wolfe, Chicken, "Nonparametric Statistical Methods", 3rd ed., section 3.6; k-1 is the 2.5 % point of the
// binomial distribution with p = 1/2). golang.org/x/perf/benchmath takes the narrowest pair instead, and the left one
// of two that are equal: for 8 observations the 1st and the 7th. With such bounds A against B and B against A can
// disagree, so ours are symmetric, and equal to its where its are.
func Median(xs []float64) (s Summary, ok bool) { return MedianAt(xs, 0) }

// MedianAt is Median at a look, see LookAlpha: the interval has the look's level.
func MedianAt(xs []float64, look int) (s Summary, ok bool) {
	if len(xs) == 0 {
		return Summary{}, false
	}
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return Summary{}, false
		}
	}
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	n := len(sorted)
	alpha := LookAlpha(look)
	k, coverage := medianOrder(n, 1-alpha)
	return Summary{Median: middle(sorted), Low: sorted[k-1], High: sorted[n-k], N: n, Coverage: coverage, alpha: alpha}, true
}

// middle is the median of sorted numbers; the halves are added so that it can't overflow.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1]/2 + sorted[n/2]/2
}

// medianOrder gives the largest k, at least 1, for which the k-th smallest and k-th largest of n observations hold the
// median with at least the confidence asked for, and the confidence that they do. The median lies outside when fewer than k of n
// fair coins fall on one side: twice the lower tail of the binomial distribution.
func medianOrder(n int, asked float64) (k int, coverage float64) {
	lgN, _ := math.Lgamma(float64(n + 1))
	pmf := func(i int) float64 { // by logarithms, since 2^-n is 0 in a float64 from n = 1075 on
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		return math.Exp(lgN - a - b - float64(n)*math.Ln2)
	}
	tail := pmf(0)
	k = 1
	for k < n/2 {
		next := tail + pmf(k)
		if 1-2*next < asked {
			break
		}
		tail, k = next, k+1
	}
	return k, max(0, 1-2*tail)
}
