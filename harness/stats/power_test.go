package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func normal(n int, sd float64, seed uint64) Noise {
	r := rand.New(rand.NewPCG(seed, 1))
	noise := make(Noise, n)
	for i := range noise {
		noise[i] = sd * r.NormFloat64()
	}
	return noise
}

func TestNoiseOf(t *testing.T) {
	n := NoiseOf([]float64{100, 100, nan, 0, 200}, []float64{110, 100, 1, 1, 100, 7})
	want := []float64{math.Log(1.1), 0, math.Log(0.5)}
	if len(n) != len(want) {
		t.Fatalf("%v, want %v", n, want)
	}
	for i := range want {
		if !near(n[i], want[i], 1e-12) {
			t.Errorf("%v, want %v", n, want)
		}
	}
	if got := n.Typical(); !near(got, 0.1, 1e-12) { // sizes 0, ln 1.1, ln 2
		t.Errorf("typical noise %g, want 0.1", got)
	}
	if got := (Noise)(nil).Typical(); !math.IsNaN(got) {
		t.Errorf("typical noise of none: %g", got)
	}
}

func TestPower(t *testing.T) {
	noise := normal(4000, 0.02, 8)
	const runs = 4000 // the standard error of a share near 0.05 is 0.0035, near 0.8 0.006
	for _, row := range []struct {
		name           string
		effect         float64
		blocks, family int
		low, high      float64
	}{
		// the test at ten blocks has the exact size 50/1024 = 0.0488
		{"nothing", 0, 10, 1, 0.039, 0.059},
		{"five blocks can't", 0.5, 5, 1, 0, 0},
		{"ten blocks in a family of 26 can't: 26*2/1024 = 0.051", 0.5, 10, 26, 0, 0},
		{"ten blocks in a family of 25 can: 25*2/1024 = 0.049", 0.5, 10, 25, 1, 1},
		// an effect of 1 sd of the block's ratio: the t-test with n = 10 has the power 0.803, the signed-rank test a little less
		{"one sd", math.Expm1(0.02), 10, 1, 0.75, 0.81},
		{"the other way", math.Expm1(-0.02), 10, 1, 0.75, 0.81},
	} {
		if got := noise.Power(row.effect, row.blocks, row.family, runs, 9); got < row.low || got > row.high {
			t.Errorf("%s: %.4f, want %g to %g", row.name, got, row.low, row.high)
		}
	}
	if got := (Noise)(nil).Power(1, 10, 1, 10, 1); !math.IsNaN(got) {
		t.Errorf("power without noise: %g", got)
	}
}

func TestDetectable(t *testing.T) {
	noise := normal(1000, 0.02, 8)
	effect, ok := noise.Detectable(0.8, 10, 1, 1000, 9)
	if !ok || effect < 0.0195 || effect > 0.0225 { // one sd has a power of nearly 0.8, see TestPower
		t.Errorf("one figure: %g, %v, want a little over 0.020", effect, ok)
	}
	if p := noise.Power(effect, 10, 1, 4000, 10); !near(p, 0.8, 0.03) {
		t.Errorf("the effect %g has the power %g, want 0.8", effect, p)
	}
	two, _ := noise.Detectable(0.8, 10, 2, 1000, 9)
	more, _ := noise.Detectable(0.8, 40, 1, 1000, 9)
	if !(more < effect*0.6 && effect < two) { // four times the blocks: half of it
		t.Errorf("40 blocks %g, 10 blocks %g, 10 blocks in a family of two %g", more, effect, two)
	}
	if e, ok := noise.Detectable(0.8, 5, 1, 200, 9); ok {
		t.Errorf("five blocks detect %g", e)
	}
	if e, ok := (Noise)(nil).Detectable(0.8, 10, 1, 200, 9); ok {
		t.Errorf("no noise detects %g", e)
	}
	if e, ok := (Noise{0, 0, 0}).Detectable(0.8, 10, 1, 200, 9); !ok || e > 1e-5 {
		t.Errorf("where nothing varies everything shows: %g, %v", e, ok)
	}
}

// What a comparison says that it would have shown is shown by about four in five runs with the same noise. Where one round in ten is
// off by a factor of three the noise of ten blocks can't tell: the runs differ in how many such rounds they met.
func TestSmallestEffectIsFoundInFourOfFive(t *testing.T) {
	const runs = 300
	for _, noise := range noises {
		for _, family := range []int{1, 4} {
			r := rand.New(rand.NewPCG(10, uint64(family)))
			logs := make(Noise, 5000)
			for i := range logs {
				logs[i] = math.Log(noise.draw(r) / noise.draw(r))
			}
			var effects []float64
			base, other := make([]float64, 10), make([]float64, 10)
			for range runs {
				for i := range base {
					base[i], other[i] = noise.draw(r), noise.draw(r)
				}
				c, _ := Compare(base, other)
				e, _ := c.SmallestEffect(family)
				effects = append(effects, e)
			}
			s, _ := Median(effects)
			got := logs.Power(s.Median, 10, family, 2000, 11)
			t.Logf("%s, family of %d: %.1f %% is found in %.3f of the runs", noise.name, family, 100*s.Median, got)
			low := 0.75
			if noise.outliers {
				low = 0.3
			}
			if got < low || got > 0.95 {
				t.Errorf("%s, family of %d: the smallest effect, %.3f, is found in %.3f of the runs, want about 0.8", noise.name, family, s.Median, got)
			}
		}
	}
}
