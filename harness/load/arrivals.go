package load

import (
	"fmt"
	"time"
)

// Arrivals is a documented way in which calls follow one another at a rate.
type Arrivals struct {
	Name, Doc string
	pacer     func(c curve, window time.Duration, seed uint64) Pacer
}

// AllArrivals lists them, the default first.
var AllArrivals = []Arrivals{Even, Poisson}

// FindArrivals returns those of that name; "" is the default.
func FindArrivals(name string) (Arrivals, error) {
	if name == "" {
		return AllArrivals[0], nil
	}
	for _, a := range AllArrivals {
		if a.Name == name {
			return a, nil
		}
	}
	return Arrivals{}, fmt.Errorf("unknown arrivals %q: must be %s or %s", name, Even.Name, Poisson.Name)
}

// Pacer makes the due times of a load of this profile: over a window, from a seed. The profile must not be zero.
func (a Arrivals) Pacer(p Profile, window time.Duration, seed uint64) Pacer {
	return a.pacer(p.curve, window, seed)
}

// Even has the calls follow one another at equal distances, as far as the rate stays the same.
var Even = Arrivals{
	Name: "constant", Doc: "equal distances: call n of a constant rate is due at floor(n/rate)",
	pacer: func(c curve, window time.Duration, _ uint64) Pacer { return even{c, window} },
}

type even struct {
	curve
	window time.Duration
}

func (e even) At(n uint64) (time.Duration, bool) { return e.nth(n, e.window) }
