package stats

import (
	"math"
	"slices"
	"sort"
)

// exactUpTo is the number of differences up to which p-values and intervals are exact. The sums that are counted grow with the
// square of it, and beyond it the normal approximation is right to three digits even for the small levels of later looks.
const exactUpTo = 60

// SignedRank is Wilcoxon's signed-rank test, two-sided: the p-value of "the differences are symmetric about zero". The
// differences must be finite.
//
// Ties share the mean of their ranks, and the exact p-value is the permutation one, which counts all 2^n signs over the ranks as they are
// (Hollander, Wolfe, Chicken, section 3.1, comments on ties). Zeros take part in the ranking and are then left out (J. W. Pratt,
// "Remarks on zeros and ties in the Wilcoxon signed rank procedures", JASA 54, 1959): Wilcoxon's way, which leaves them
// out first, can find more significance when evidence for "no difference" is added. Beyond 60 differences the
// normal approximation is taken, with the variance of the ranks that are there and a continuity correction.
// With no differences, or only zeros, the answer is 1.
func SignedRank(diffs []float64) float64 {
	ranks, plus := signedRanks(diffs)
	if len(ranks) == 0 {
		return 1
	}
	return signedRankP(ranks, plus)
}

// signedRankP is the two-sided p-value of doubled ranks of which those with a plus add up to plus.
func signedRankP(ranks []int, plus int) float64 {
	if len(ranks) <= exactUpTo {
		return exactP(ranks, plus)
	}
	// The sum of the ranks that got a plus has mean sum/2 and variance (sum of squares)/4; ours are doubled.
	sum, squares := 0.0, 0.0
	for _, r := range ranks {
		sum += float64(r)
		squares += float64(r) * float64(r)
	}
	const step = 2 // doubled ranks without ties move in steps of two; half of it is the correction
	z := max(0, math.Abs(float64(plus)-sum/2)-step/2) / math.Sqrt(squares/4)
	return math.Erfc(z / math.Sqrt2)
}

// signedRanks gives twice the rank of each difference that is not zero (mid-ranks end in .5), and the sum of those
// whose difference is positive.
func signedRanks(diffs []float64) (ranks []int, plus int) {
	order := slices.Clone(diffs)
	slices.SortFunc(order, func(a, b float64) int {
		switch a, b := math.Abs(a), math.Abs(b); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && equal(math.Abs(order[j]), math.Abs(order[i])) {
			j++
		}
		rank2 := i + 1 + j // places i+1 to j: twice their mean
		for _, d := range order[i:j] {
			if d == 0 {
				continue
			}
			ranks = append(ranks, rank2)
			if d > 0 {
				plus += rank2
			}
		}
		i = j
	}
	return ranks, plus
}

// equal takes for a tie what differs only by rounding: the logarithms of 2/4 and 4/2, or of 1.1/1 and 2.2/2.
func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(a, b) }

// sums gives for each s the probability that the ranks, each with a plus or not by a fair coin, add up to s.
func sums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	p := make([]float64, total+1) // of the ranks seen so far
	p[0] = 1
	seen := 0
	for _, r := range ranks {
		seen += r
		for s := seen; s >= 0; s-- {
			p[s] /= 2
			if s >= r {
				p[s] += p[s-r] / 2
			}
		}
	}
	return p
}

// lowerTails are the probabilities of a sum of at most s.
func lowerTails(ranks []int) []float64 {
	p := sums(ranks)
	for s := 1; s < len(p); s++ {
		p[s] += p[s-1]
	}
	return p
}

// exactP adds up the sign patterns whose sum is at least as far from the middle as plus.
func exactP(ranks []int, plus int) float64 {
	p := sums(ranks)
	total := len(p) - 1
	far := abs(2*plus - total)
	sum := 0.0
	for s, ps := range p {
		if abs(2*s-total) >= far {
			sum += ps
		}
	}
	return min(1, sum)
}

func abs(i int) int { return max(i, -i) }

// signedRankOrder gives the largest c, at least 1, for which the c-th smallest and the c-th largest of the n(n+1)/2 means of pairs
// (see locate) hold the centre with at least the confidence asked for, and the confidence that they do: the test
// finds a centre outside when its sum of ranks is below c. This is SignedRank for differences without ties, turned round.
func signedRankOrder(n int, asked float64) (c int, coverage float64) {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = 2 * (i + 1)
	}
	pairs := n * (n + 1) / 2
	p := func(c int) float64 { return signedRankP(ranks, 2*(c-1)) } // of a sum of c-1
	if n <= exactUpTo {
		tails := lowerTails(ranks)
		p = func(c int) float64 { return 2 * tails[2*(c-1)] }
	}
	c = 1 + sort.Search(max(0, pairs/2-1), func(i int) bool { return 1-p(i+2) < asked })
	return c, max(0, 1-p(c))
}
