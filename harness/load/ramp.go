package load

import (
	"math"
	"strings"
	"time"
)

// Ramp changes the rate evenly over the window.
var Ramp = Shape{
	Name: "ramp", Syntax: "FROM..TO", Doc: "from one rate to another, evenly over the window: 500..2000",
	parse: func(text string) (curve, bool, error) {
		from, to, ok := strings.Cut(text, "..")
		if !ok {
			return nil, false, nil
		}
		a, err := parseRate(from)
		if err != nil {
			return nil, true, err
		}
		b, err := parseRate(to)
		return ramp{float64(a), float64(b)}, true, err
	},
}

// ramp is the rates at the window's start and end, in calls a second.
type ramp struct{ from, to float64 }

func (r ramp) nth(n uint64, window time.Duration) (time.Duration, bool) {
	return r.at(float64(n), window)
}

// at solves from*t + (to-from)*t*t/(2*window) = x for t, in the form that does not subtract nearly equal numbers. A
// falling ramp, continued beyond the window, comes to its last call; x beyond it is never due.
func (r ramp) at(x float64, window time.Duration) (time.Duration, bool) {
	root := r.from*r.from + 2*(r.to-r.from)*x/window.Seconds()
	if root < 0 {
		return 0, false
	}
	return seconds(2 * x / (r.from + math.Sqrt(root)))
}

func (r ramp) mean() float64 { return (r.from + r.to) / 2 }
