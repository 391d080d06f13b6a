package stats

import (
	"math"
	"math/rand/v2"
)

// Noise is what one machine does to a comparison: the logarithms of the ratios of blocks in which nothing differed.
type Noise []float64

// NoiseOf takes the noise of blocks in which one subject stood under two names. Blocks in which one of them is unknown are left out.
func NoiseOf(a, b []float64) Noise {
	var n Noise
	for i := range min(len(a), len(b)) {
		if l := math.Log(b[i] / a[i]); !math.IsNaN(l) && !math.IsInf(l, 0) {
			n = append(n, l)
		}
	}
	return n
}

// Typical is the median size of the noise as a share: half of the blocks show two equal subjects further apart than this. It
// is NaN without blocks.
func (n Noise) Typical() float64 {
	sizes := make([]float64, len(n))
	for i, l := range n {
		sizes[i] = math.Abs(l)
	}
	s, ok := Median(sizes)
	if !ok {
		return math.NaN()
	}
	return math.Expm1(s.Median)
}

// Power is the share of runs of so many blocks in which an effect (0.05 is +5 %) is detected, in a family of so many comparisons of
// which it is the first in Holm's order. The runs draw their blocks from the noise, each with a random sign, for two
// equal subjects could as well have changed their names. It is a simulation; the same seed gives the same answer. With
// an effect of 0 it is the share of false alarms.
func (n Noise) Power(effect float64, blocks, family, runs int, seed uint64) float64 {
	if len(n) == 0 || runs < 1 {
		return math.NaN()
	}
	r := rand.New(rand.NewPCG(seed, uint64(blocks)))
	shift := math.Log1p(effect)
	found := 0
	logs := make([]float64, blocks)
	for range runs {
		for i := range logs {
			l := n[r.IntN(len(n))]
			if r.IntN(2) == 0 {
				l = -l
			}
			logs[i] = shift + l
		}
		if SignedRank(logs)*float64(max(family, 1)) < Alpha {
			found++
		}
	}
	return float64(found) / float64(runs)
}

// Detectable is the smallest effect that at least the given share of such runs detects, within a hundredth of itself. ok is
// false where none up to a factor of 100 is: there are too few blocks for the family, or no noise is known.
func (n Noise) Detectable(share float64, blocks, family, runs int, seed uint64) (effect float64, ok bool) {
	found := func(log float64) bool { return n.Power(math.Expm1(log), blocks, family, runs, seed) >= share }
	low, high := 1e-6, math.Log(100) // logarithms of the ratio
	if !found(high) {
		return 0, false
	}
	if found(low) {
		return math.Expm1(low), true
	}
	for high/low > 1.01 {
		middle := math.Sqrt(low * high)
		if found(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Expm1(high), true
}
