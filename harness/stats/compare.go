package stats

import (
	"math"
	"slices"
)

// Alpha is the corrected p-value below which a difference counts as detected, and what all looks at a run together may err by.
const Alpha = 1 - Confidence

// Comparison says how one subject stands to another over the blocks in which both were measured. Pairing within blocks is
// what makes small differences visible: a machine that slows down slows both.
//
// Ratio, interval and p-value are all of one kind, Wilcoxon's signed-rank test on the logarithms of the blocks' ratios: the interval holds the
// ratios that the test does not reject, the ratio is its middle (Hodges and Lehmann). What is assumed is that a block's ratio errs as
// often and as far to one side as to the other, in logarithms. Where nothing differs that is so whatever the noise: the order
// within a block is drawn anew each time, so the two could as well have changed their names. Against the median of the ratios with
// its interval, which needs not even that, ten blocks give one of 0.7 of the width; a little more where one round in ten is disturbed threefold.
type Comparison struct {
	// Ratio is other/base, with its interval and the interval's true confidence, as in Summary.
	Ratio, Low, High, Coverage float64
	// P is the two-sided p-value of "there is no difference" (see SignedRank), not corrected for other comparisons or other looks.
	P float64
	// N counts the blocks that were compared, Skipped those where a side was unknown: NaN, infinite, zero or negative.
	N, Skipped int

	alpha float64   // the level of the interval
	means []float64 // of pairs of the ratios' logarithms
}

// Compare compares base[i] with other[i], the figures of one block; a block in which one of them is missing is NaN. All figures are of a kind
// that can't be zero or negative. ok is false when no block can be compared or the slices differ in length.
func Compare(base, other []float64) (c Comparison, ok bool) { return CompareAt(base, other, 0) }

// CompareAt is Compare at a look, see LookAlpha: interval, Detected and SmallestEffect have the look's level.
func CompareAt(base, other []float64, look int) (c Comparison, ok bool) {
	if len(base) != len(other) {
		return Comparison{}, false
	}
	var logs []float64
	for i := range base {
		ratio := other[i] / base[i]
		if !positive(base[i]) || !positive(other[i]) || !positive(ratio) {
			c.Skipped++
			continue
		}
		logs = append(logs, math.Log(ratio))
	}
	if len(logs) == 0 {
		return c, false
	}
	c.alpha, c.means, c.N = LookAlpha(look), walsh(logs), len(logs)
	at := locate(c.means, c.N, 1-c.alpha)
	c.Ratio, c.Low, c.High, c.Coverage = math.Exp(at.mid), math.Exp(at.low), math.Exp(at.high), at.coverage
	c.P = SignedRank(logs)
	return c, true
}

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// Detected says that the difference is real as far as can be told: the interval has its confidence and excludes 1, and
// holmP, the p-value after Holm's correction, is below the level of the look. Both are asked for, because the interval shows what is
// claimed and the correction keeps a table of twenty comparisons from showing one that is chance.
func (c Comparison) Detected(holmP float64) bool {
	return c.Coverage >= 1-c.alpha && (c.Low > 1 || c.High < 1) && holmP < c.alpha
}

// HalfWidth is half the width of the interval as a share of the ratio: 0.02 is "within 2 % of it". ok is false where the
// blocks are too few for an interval of the look's confidence.
func (c Comparison) HalfWidth() (share float64, ok bool) {
	return math.Sqrt(c.High/c.Low) - 1, c.N > 0 && c.Coverage >= 1-c.alpha
}

// SmallestEffect is about the smallest difference, as a share of the base, that four in five runs with the noise of these blocks
// would have shown in a family of so many comparisons. One as large as half the width of the interval, at the confidence that Holm's
// first step asks for, is shown by every second run; what the normal distribution adds to make it four in five is added. ok is
// false where the blocks are too few for such an interval: then no difference, however large, could have been detected. A
// family of less than one counts as one.
func (c Comparison) SmallestEffect(family int) (share float64, ok bool) {
	if c.N == 0 {
		return 0, false
	}
	alpha := c.alpha / float64(max(family, 1))
	at := locate(c.means, c.N, 1-alpha)
	if at.coverage < 1-alpha {
		return 0, false
	}
	return shown((at.high-at.low)/2, alpha), true
}

// Holm corrects the p-values of one family of comparisons, so that the chance of any false alarm in the whole family
// stays below the level at which the results are read (S. Holm, "A simple sequentially rejective multiple test
// procedure", Scand. J. Statist. 6, 1979). The answer is in the order of ps. NaN is an unknown: it stays NaN and does not count.
func Holm(ps []float64) []float64 {
	order := make([]int, 0, len(ps))
	out := make([]float64, len(ps))
	for i, p := range ps {
		if math.IsNaN(p) {
			out[i] = p
			continue
		}
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case ps[a] < ps[b]:
			return -1
		case ps[a] > ps[b]:
			return 1
		}
		return 0
	})
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(order)-rank)*ps[i]))
		out[i] = highest
	}
	return out
}

// LeastRounds is how many rounds a run needs to find a difference, be it as large as it may, among so many comparisons of a figure at a look
// (see LookAlpha).
func LeastRounds(family, look int) int {
	var bases, others []float64
	for {
		bases, others = append(bases, 1), append(others, 2)
		if c, ok := CompareAt(bases, others, look); ok {
			if _, can := c.SmallestEffect(family); can {
				return len(bases)
			}
		}
	}
}
