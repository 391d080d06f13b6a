package stats

import (
	"math"
	"slices"
)

// Alpha is the corrected p-value below which a difference counts as detected.
const Alpha = 1 - Confidence

// Comparison says how one subject stands to another over the blocks in which both were measured. Pairing within blocks is
// what makes small differences visible: a machine that slows down slows both.
type Comparison struct {
	// Ratio is the median of the ratios other/base within the blocks, with its interval, as in Summary.
	Ratio, Low, High, Coverage float64
	// P is the two-sided p-value of "there is no difference" (see SignedRank), not corrected for other comparisons.
	P float64
	// N counts the blocks that were compared, Skipped those where a side was unknown: NaN, infinite, zero or negative.
	N, Skipped int

	sorted []float64 // the ratios
}

// Compare compares base[i] with other[i], the figures of one block; a block in which one of them is missing is NaN. All figures are of a kind
// that can't be zero or negative. ok is false when no block can be compared or the slices differ in length.
func Compare(base, other []float64) (c Comparison, ok bool) {
	if len(base) != len(other) {
		return Comparison{}, false
	}
	var ratios, logs []float64
	for i := range base {
		ratio := other[i] / base[i]
		if !positive(base[i]) || !positive(other[i]) || !positive(ratio) {
			c.Skipped++
			continue
		}
		ratios = append(ratios, ratio)
		logs = append(logs, math.Log(ratio))
	}
	s, ok := Median(ratios)
	if !ok {
		return Comparison{Skipped: c.Skipped}, false
	}
	c.Ratio, c.Low, c.High, c.Coverage, c.N = s.Median, s.Low, s.High, s.Coverage, s.N
	c.P = SignedRank(logs)
	c.sorted = ratios
	slices.Sort(c.sorted)
	return c, true
}

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// Detected says that the difference is real as far as can be told: the interval has its confidence and excludes 1, and
// holmP, the p-value after Holm's correction, is below Alpha. Both are asked for, because the interval shows what is
// claimed and the correction keeps a table of twenty comparisons from showing one that is chance.
func (c Comparison) Detected(holmP float64) bool {
	return c.Coverage >= Confidence && (c.Low > 1 || c.High < 1) && holmP < Alpha
}

// SmallestEffect is about the smallest difference that these blocks could have shown in a family of so many comparisons, as a
// share of the base: half the width of the interval at the confidence that Holm's first step asks for, 1 - Alpha/family. A
// median that is further from 1 has this interval clear of 1. ok is false where the blocks are too few for such an interval:
// then no difference, however large, could have been detected. A family of less than one counts as one.
func (c Comparison) SmallestEffect(family int) (share float64, ok bool) {
	n := len(c.sorted)
	if n == 0 {
		return 0, false
	}
	asked := 1 - Alpha/float64(max(family, 1))
	k, coverage := medianOrder(n, asked)
	if coverage < asked {
		return 0, false
	}
	return (c.sorted[n-k] - c.sorted[k-1]) / 2, true
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
