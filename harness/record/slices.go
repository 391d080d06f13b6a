package record

import "time"

// Slices is into how many equal parts a window is cut to see whether it was steady. Ten hold enough calls each to be figures
// of their own, are long beside what ties neighbours together (a collection of garbage, a turn of the scheduler), and are
// enough for a trend to be told from chance.
const Slices = 10

// Slice is the calls that succeeded and ended within one part of the window.
type Slice struct {
	OK   uint64
	Time int64 // their response times, added up, ns
}

// Watch has the recorders, which are to be made from now on, note the parts of a window, too. Calls that end after it are in no part.
func (s *Set) Watch(window time.Duration) { s.window, s.turn = window, window }

// Turn says that the window is measured in so many turns, and that the samples from now on are of one of them, the first being 0: their
// times count from its start. No worker may be recording.
func (s *Set) Turn(n, turns int) {
	s.bring()
	s.turn = s.window / time.Duration(turns)
	s.begun = time.Duration(n) * s.turn
}

// parts are the slices of some workers. Their calls end one after another, or nearly, so that it needs no division to
// find the part.
type parts struct {
	at    int
	until time.Duration // the end of part at
	each  time.Duration
	all   [Slices]Slice
}

func newParts(window time.Duration) parts {
	each := (window + Slices - 1) / Slices
	return parts{each: each, until: each}
}

func (p *parts) add(done, took time.Duration) {
	for done > p.until {
		if p.at == Slices-1 {
			return // after the window
		}
		p.at++
		p.until += p.each
	}
	for done <= p.until-p.each && p.at > 0 {
		p.at--
		p.until -= p.each
	}
	p.all[p.at].OK++
	p.all[p.at].Time += int64(took)
}

// slices adds the tallies' up; nil where nothing was watched.
func (s *Set) slices() []Slice {
	if s.window == 0 {
		return nil
	}
	sum := make([]Slice, Slices)
	for _, t := range s.tallies {
		for i, p := range t.parts.all {
			sum[i].OK += p.OK
			sum[i].Time += p.Time
		}
	}
	return sum
}
