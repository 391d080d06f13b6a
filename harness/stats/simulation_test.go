package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// noises are distributions of a round's figure with median 1.
var noises = []struct {
	name string
	draw func(*rand.Rand) float64
	// outliers: the noise of a few rounds says little about that of others
	outliers bool
}{
	{"log-normal, 3 %", func(r *rand.Rand) float64 { return math.Exp(0.03 * r.NormFloat64()) }, false},
	{"skewed: never under 0.8, long tail", func(r *rand.Rand) float64 { return 0.8 + 0.2*r.ExpFloat64()/math.Ln2 }, false},
	{"one in ten rounds disturbed threefold", func(r *rand.Rand) float64 {
		x := math.Exp(0.03 * r.NormFloat64())
		if r.IntN(20) == 0 {
			return x * 3
		}
		if r.IntN(19) == 0 {
			return x / 3
		}
		return x
	}, true},
}

// drift is what a machine does from block to block: up to a factor of two.
func drift(r *rand.Rand) float64 { return 1 + r.Float64() }

func TestIntervalCoversTheMedian(t *testing.T) {
	const runs = 4000 // the standard error of a share near 0.96 is 0.003
	for _, noise := range noises {
		for _, n := range []int{6, 10, 12, 31} {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			covered := 0
			xs := make([]float64, n)
			for range runs {
				for i := range xs {
					xs[i] = noise.draw(r)
				}
				if s, _ := Median(xs); s.Low <= 1 && 1 <= s.High {
					covered++
				}
			}
			_, promised := medianOrder(n, Confidence)
			if got := float64(covered) / runs; got < 0.95 || !near(got, promised, 0.012) { // 4 standard errors
				t.Errorf("%s, %d rounds: %.3f of the intervals hold the median, want at least 0.95 and about %.3f", noise.name, n, got, promised)
			}
		}
	}
}

// Runs in which nothing differs: one subject under four names, on a machine that drifts.
func TestFalseAlarms(t *testing.T) {
	const runs, rounds, subjects = 3000, 10, 3
	for _, noise := range noises {
		r := rand.New(rand.NewPCG(2, 3))
		alarms, uncorrected := 0, 0
		for range runs {
			var base [rounds]float64
			var others [subjects][rounds]float64
			for b := range rounds {
				d := drift(r)
				base[b] = d * noise.draw(r)
				for s := range others {
					others[s][b] = d * noise.draw(r)
				}
			}
			var cs [subjects]Comparison
			ps := make([]float64, subjects)
			for s := range others {
				cs[s], _ = Compare(base[:], others[s][:])
				ps[s] = cs[s].P
			}
			holm := Holm(ps)
			alarm, loose := false, false
			for s, c := range cs {
				alarm = alarm || c.Detected(holm[s])
				loose = loose || c.Detected(c.P)
			}
			if alarm {
				alarms++
			}
			if loose {
				uncorrected++
			}
		}
		share := float64(alarms) / runs
		if share > 0.05 {
			t.Errorf("%s: %.3f of the runs raise a false alarm, want at most 0.05", noise.name, share)
		}
		if alarms == 0 || alarms >= uncorrected {
			t.Errorf("%s: %d alarms with correction, %d without: the simulation shows nothing", noise.name, alarms, uncorrected)
		}
	}
}

// The interval of a ratio holds the true one, on a machine that drifts, whatever the noise that both subjects meet.
func TestRatioIntervalCoversTheRatio(t *testing.T) {
	const runs, truth = 4000, 1.07
	for _, noise := range noises {
		for _, n := range []int{6, 10, 31} {
			r := rand.New(rand.NewPCG(12, uint64(n)))
			base, other := make([]float64, n), make([]float64, n)
			covered := 0
			width, order := 0.0, 0.0
			for range runs {
				for i := range base {
					d := drift(r)
					base[i], other[i] = d*noise.draw(r), truth*d*noise.draw(r)
				}
				c, _ := Compare(base, other)
				if c.Low <= truth && truth <= c.High {
					covered++
				}
				for i := range other {
					other[i] /= base[i]
				}
				s, _ := Median(other)
				width, order = width+math.Log(c.High/c.Low), order+math.Log(s.High/s.Low)
			}
			if got := float64(covered) / runs; got < 0.95-0.01 { // 3 standard errors; what is promised is at least 0.95
				t.Errorf("%s, %d blocks: %.3f of the intervals hold the ratio", noise.name, n, got)
			}
			if n == 10 {
				t.Logf("%s: %.3f covered; the interval of ten blocks is %.2f as wide as that of the median of the ratios", noise.name, float64(covered)/runs, width/order)
				if !noise.outliers && width/order > 0.85 {
					t.Errorf("%s: the interval of ten blocks is %.2f as wide as that of the median of the ratios", noise.name, width/order)
				}
			}
		}
	}
}

// A planted difference of 5 %, with 2.8 % of noise in a block's ratio, is found although the machine drifts by 100 %,
// and only because of the pairing.
func TestPlantedDifferenceIsFound(t *testing.T) {
	const runs, rounds = 1000, 10
	r := rand.New(rand.NewPCG(4, 5))
	found, unpaired := 0, 0
	for range runs {
		var base, other, mixed [rounds]float64
		for b := range rounds {
			d := drift(r)
			base[b] = d * math.Exp(0.02*r.NormFloat64())
			other[b] = d * 1.05 * math.Exp(0.02*r.NormFloat64())
		}
		for i, j := range r.Perm(rounds) {
			mixed[i] = other[j]
		}
		if c, _ := Compare(base[:], other[:]); c.Detected(c.P) {
			found++
		}
		if c, _ := Compare(base[:], mixed[:]); c.Detected(c.P) {
			unpaired++
		}
	}
	if float64(found)/runs < 0.90 || float64(unpaired)/runs > 0.10 {
		t.Errorf("found in %d of %d runs, and in %d when the blocks are mixed up; want at least 900 and at most 100", found, runs, unpaired)
	}
}
