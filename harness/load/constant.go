package load

import (
	"math"
	"math/bits"
	"strings"
	"time"
)

// Constant has the same rate all the time.
var Constant = Shape{
	Name: "constant", Syntax: "RATE", Doc: "the same rate all the time: 500",
	parse: func(text string) (curve, bool, error) {
		if text == "" || strings.ContainsAny(text, "./") {
			return nil, false, nil
		}
		r, err := parseRate(text)
		return constant(r), true, err
	},
}

// constant is calls a second.
type constant uint64

// nth is floor(n * 10^9 / rate) ns, in 128 bits: a rate that does not divide a second evenly does not drift, however
// long the load is, as adding up a rounded distance would.
func (c constant) nth(n uint64, _ time.Duration) (time.Duration, bool) {
	hi, lo := bits.Mul64(n, uint64(time.Second))
	if hi >= uint64(c) { // beyond 2^64 ns
		return 0, false
	}
	ns, _ := bits.Div64(hi, lo, uint64(c))
	return time.Duration(ns), ns <= math.MaxInt64
}

func (c constant) at(x float64, _ time.Duration) (time.Duration, bool) {
	return seconds(x / float64(c))
}

func (c constant) mean() float64 { return float64(c) }
