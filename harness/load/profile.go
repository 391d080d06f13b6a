package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The limits of a rate, in calls a second. What a machine can drive ends earlier; beyond them is a slip of the pen.
const (
	MinRate = 1
	MaxRate = 1_000_000
)

// Profile says how many calls a second are due over the time of a load. It is the total over all workers and
// connections. The zero Profile is none: the closed loop.
type Profile struct {
	text string
	curve
}

// curve is the integral of a rate, turned round: it says when so many calls have been due.
type curve interface {
	// nth is when call n is due, if calls come evenly; ok is false for a moment that can't be told.
	nth(n uint64, window time.Duration) (due time.Duration, ok bool)
	// at is the same between two calls: when x calls have been due.
	at(x float64, window time.Duration) (time.Duration, bool)
	// mean is the rate over the whole window.
	mean() float64
}

// Shape is a documented form of a profile.
type Shape struct {
	Name, Syntax, Doc string
	// parse makes the curve of a text of this shape's syntax; fits is false for a text of another one.
	parse func(text string) (c curve, fits bool, err error)
}

// Shapes lists the forms of a profile. A text fits one of them at most.
var Shapes = []Shape{Constant, Ramp, Steps}

// ParseProfile reads a profile: "500", "500..2000", "500/1000/2000". It names what is wrong, and what would be right.
func ParseProfile(text string) (Profile, error) {
	text = strings.TrimSpace(text)
	for _, s := range Shapes {
		c, fits, err := s.parse(text)
		if err != nil {
			return Profile{}, fmt.Errorf("rate %q: %w", text, err)
		}
		if fits {
			return Profile{text, c}, nil
		}
	}
	var forms []string
	for _, s := range Shapes {
		forms = append(forms, fmt.Sprintf("%s (%s)", s.Syntax, s.Name))
	}
	return Profile{}, fmt.Errorf("rate %q: must be %s, in calls a second", text, strings.Join(forms, ", "))
}

// String is the profile as it is written.
func (p Profile) String() string { return p.text }

// IsZero says that there is no profile: the closed loop.
func (p Profile) IsZero() bool { return p.curve == nil }

// Mean is the rate over the whole window, in calls a second; 0 without a profile.
func (p Profile) Mean() float64 {
	if p.curve == nil {
		return 0
	}
	return p.mean()
}

// parseRate reads one rate.
func parseRate(text string) (uint64, error) {
	r, err := strconv.ParseUint(text, 10, 64)
	if err != nil || r < MinRate || r > MaxRate {
		return 0, fmt.Errorf("%q is not a whole number of calls a second from %d to %d", text, MinRate, MaxRate)
	}
	return r, nil
}

// seconds makes a moment of a float; ok is false where it is none that a Duration holds.
func seconds(s float64) (time.Duration, bool) {
	ns := s * 1e9
	if !(ns >= 0 && ns < 1<<62) { // also false for what is not a number
		return 0, false
	}
	return time.Duration(ns), true
}
