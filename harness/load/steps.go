package load

import (
	"strings"
	"time"
)

// Steps splits the window into equal parts, each with a rate of its own.
var Steps = Shape{
	Name: "steps", Syntax: "RATE/RATE/...", Doc: "equal parts of the window, each with its rate: 500/1000/2000",
	parse: func(text string) (curve, bool, error) {
		if !strings.Contains(text, "/") {
			return nil, false, nil
		}
		var s steps
		for part := range strings.SplitSeq(text, "/") {
			r, err := parseRate(part)
			if err != nil {
				return nil, true, err
			}
			s = append(s, float64(r))
		}
		return s, true, nil
	},
}

// steps are the rates of the parts, in calls a second.
type steps []float64

func (s steps) nth(n uint64, window time.Duration) (time.Duration, bool) {
	return s.at(float64(n), window)
}

// at goes through the parts; the last one's rate holds on beyond the window.
func (s steps) at(x float64, window time.Duration) (time.Duration, bool) {
	length := window.Seconds() / float64(len(s))
	begin := 0.0
	for _, rate := range s[:len(s)-1] {
		calls := rate * length
		if x < calls {
			return seconds(begin + x/rate)
		}
		x -= calls
		begin += length
	}
	return seconds(begin + x/s[len(s)-1])
}

func (s steps) mean() float64 {
	sum := 0.0
	for _, rate := range s {
		sum += rate
	}
	return sum / float64(len(s))
}
