package main

import (
	"math"
	"math/rand/v2"
)

// machine is a way in which a machine spoils figures: start gives a function that says, for one trial after another, the logarithm of
// the factor by which its figure is too large.
type machine struct {
	name, doc string
	start     func(r *rand.Rand) func() float64
}

var machines = []machine{
	{"calm", "each trial off by 2 %, normally distributed", func(r *rand.Rand) func() float64 {
		return func() float64 { return 0.02 * r.NormFloat64() }
	}},
	{"drifting", "speed wanders (AR(1), 0.95 from trial to trial, within about 25 %), jumps by a factor of two every 40 trials or so, and each trial is off by 2 %",
		func(r *rand.Rand) func() float64 {
			wander, jump := 0.25*r.NormFloat64(), 0.0
			return func() float64 {
				wander = 0.95*wander + 0.25*math.Sqrt(1-0.95*0.95)*r.NormFloat64()
				if r.IntN(40) == 0 {
					jump = math.Ln2 - jump
				}
				return wander + jump + 0.02*r.NormFloat64()
			}
		}},
	{"skewed", "never much faster than usual, now and then much slower: exponential, 5 %", func(r *rand.Rand) func() float64 {
		return func() float64 { return 0.05 * r.ExpFloat64() }
	}},
	{"disturbed", "2 %, and one trial in ten is off by a factor of up to three", func(r *rand.Rand) func() float64 {
		return func() float64 {
			x := 0.02 * r.NormFloat64()
			if r.IntN(10) == 0 {
				x += r.Float64() * math.Log(3)
			}
			return x
		}
	}},
	{"drifting, skewed and disturbed", "all of it", func(r *rand.Rand) func() float64 {
		wander := 0.25 * r.NormFloat64()
		return func() float64 {
			wander = 0.95*wander + 0.25*math.Sqrt(1-0.95*0.95)*r.NormFloat64()
			x := wander + 0.05*r.ExpFloat64()
			if r.IntN(10) == 0 {
				x += r.Float64() * math.Log(3)
			}
			return x
		}
	}},
}
