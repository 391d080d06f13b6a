package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A window drifts when a trend over its slices is more than chance and more than a trifle. The p-value is for each of the
// two figures that are looked at, so that a steady window is called a drifting one in 1 of 100 cases at most; the trifle
// keeps a long run's perfectly certain drift of half a percent from being called one.
const (
	driftP      = 0.005
	driftChange = 0.05 // of the first slice's value, to the last
)

// Drift says in words how the calls' rate or their mean time changed over the window, or "" where it did not.
// Throughput is looked at in the closed loop only: in the open loop it is given.
func Drift(parts []Slice, closed bool) string {
	var rates, times []float64
	for _, p := range parts {
		if p.OK == 0 {
			return "" // nothing to take a mean of: other flags speak of that
		}
		rates = append(rates, float64(p.OK))
		times = append(times, float64(p.Time)/float64(p.OK))
	}
	for _, f := range []struct {
		name   string
		values []float64
		looked bool
	}{{"throughput", rates, closed}, {"the mean latency", times, true}} {
		if !f.looked {
			continue
		}
		p, change := trend(f.values)
		if p < driftP && math.Abs(change) >= driftChange {
			way := "rose"
			if change < 0 {
				way = "fell"
			}
			return fmt.Sprintf("over the window %s %s by %.0f %% (Mann-Kendall over %d slices, p = %.2g)", f.name, way, 100*math.Abs(change), len(f.values), p)
		}
	}
	return ""
}

// trend is the two-sided p-value of the Mann-Kendall test for "there is no trend" (H. B. Mann, Nonparametric tests against
// trend, Econometrica 13, 1945), and how much values above zero change from the first to the last as a share of the first, by
// the median of the slopes of all pairs (Theil and Sen), on a logarithmic scale, so that nothing falls by more than there is. The test asks only in how many pairs the later value is the larger
// one, so that one odd slice does not make a trend. Its distribution is counted, not approximated. Of equal
// values neither is the larger, which makes the test a little cautious.
func trend(values []float64) (p, change float64) {
	n := len(values)
	if n < 3 || slices.Min(values) <= 0 {
		return 1, 0
	}
	s := 0
	var slopes []float64
	for i, a := range values {
		for j := i + 1; j < n; j++ {
			s += cmp.Compare(values[j], a)
			slopes = append(slopes, math.Log(values[j]/a)/float64(j-i))
		}
	}
	return kendall(n, s), math.Expm1(median(slopes) * float64(n-1))
}

// kendall is the share of the n! orders in which the pairs in order and those out of it differ by |s| or more.
func kendall(n, s int) float64 {
	// share[k] is the share of orders with k pairs out of order; one more value adds 0 to i of them, all alike.
	share := []float64{1}
	for i := 1; i < n; i++ {
		next := make([]float64, len(share)+i)
		for k, x := range share {
			for more := range i + 1 {
				next[k+more] += x / float64(i+1)
			}
		}
		share = next
	}
	pairs, p := n*(n-1)/2, 0.0
	for out, x := range share {
		if d := pairs - 2*out; max(d, -d) >= max(s, -s) {
			p += x
		}
	}
	return min(p, 1)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
