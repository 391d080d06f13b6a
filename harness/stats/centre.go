package stats

import "slices"

// walsh are the means of all pairs of xs, each with itself too, in order: n(n+1)/2 of them, after J. E. Walsh.
func walsh(xs []float64) []float64 {
	means := make([]float64, 0, len(xs)*(len(xs)+1)/2)
	for i, x := range xs {
		for _, y := range xs[i:] {
			means = append(means, x/2+y/2)
		}
	}
	slices.Sort(means)
	return means
}

// centre is an estimate of the centre of a symmetric distribution, with its interval.
type centre struct{ mid, low, high, coverage float64 }

// locate gives the Hodges-Lehmann estimate of where finite xs (at least one) lie, the median of the means of their pairs, and
// the interval that belongs to the signed-rank test: the centres that the test would not reject (J. L. Hodges, E. L. Lehmann,
// "Estimates of location based on rank tests", Ann. Math. Statist. 34, 1963; the interval is Tukey's: Hollander, Wolfe, Chicken,
// sections 3.2 and 3.3). means are walsh(xs), n is how many xs there are.
func locate(means []float64, n int, asked float64) centre {
	c, coverage := signedRankOrder(n, asked)
	return centre{mid: middle(means), low: means[c-1], high: means[len(means)-c], coverage: coverage}
}
