package record

import (
	"cmp"
	"maps"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Summary is what a load came to.
type Summary struct {
	OK     uint64
	Failed map[string]uint64 // by class; nil without failures
	// Times are ordered by step, "ok" before the classes of failures, response before service. What nothing was
	// recorded of is not there. In the closed loop there are response times alone: service times are the same.
	Times []Times
	// Late is how late the iterations of a paced load were sent, from due to sent, however they ended; its Hist is nil in the closed loop.
	Late Times
	// Slices are the parts of the window that was watched; nil without Watch.
	Slices []Slice
	// Examples are ordered by class, the most frequent message first.
	Examples []Example
}

// Times are those of the calls of one step that ended in one way. Min <= Mean <= Max, all exact, in nanoseconds.
type Times struct {
	Step    string
	Outcome string // OK or a class
	Time    string // Response or Service
	Min     int64
	Mean    float64
	Max     int64
	// Clamped calls took longer than the histogram's range.
	Clamped uint64
	Hist    *hdrhistogram.Histogram
}

// Summary condenses what was recorded, once the workers have ended.
func (s *Set) Summary() Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bring()
	var sum Summary
	for i, step := range s.steps {
		ok := newOutcome(s.paced)
		for _, t := range s.tallies {
			ok.merge(t.ok[i])
		}
		sum.OK += uint64(ok.response.hist.TotalCount())
		sum.Times = ok.append(sum.Times, step, OK)
		for _, name := range slices.Sorted(maps.Keys(s.failed[i])) {
			sum.Times = s.failed[i][name].append(sum.Times, step, name)
		}
	}
	if s.paced {
		late := newTimes()
		late.merge(s.late)
		for _, t := range s.tallies {
			late.merge(t.late)
		}
		if late.hist.TotalCount() > 0 {
			sum.Late = late.summary("", "", "")
		}
	}
	sum.Slices = s.slices()
	for _, name := range slices.Sorted(maps.Keys(s.failures.classes)) {
		c := s.failures.classes[name]
		if sum.Failed == nil {
			sum.Failed = map[string]uint64{}
		}
		sum.Failed[name] = c.count
		examples := slices.Clone(c.examples)
		slices.SortStableFunc(examples, func(a, b Example) int { return cmp.Compare(b.Count, a.Count) })
		sum.Examples = append(sum.Examples, examples...)
	}
	return sum
}

func (o *outcome) append(all []Times, step, name string) []Times {
	for _, k := range []struct {
		time string
		*times
	}{{Response, o.response}, {Service, o.service}} {
		if k.times == nil || k.hist.TotalCount() == 0 {
			continue
		}
		all = append(all, k.summary(step, name, k.time))
	}
	return all
}

// summary needs at least one time.
func (t *times) summary(step, name, kind string) Times {
	// Rounding may lead the quotient of two large numbers past what it lies between.
	mean := float64(t.sum) / float64(t.hist.TotalCount())
	mean = min(max(mean, float64(t.min)), float64(t.max))
	return Times{step, name, kind, t.min, mean, t.max, t.clamped, t.hist}
}

// Sum is all the times added up, in nanoseconds.
func (t Times) Sum() float64 {
	if t.Hist == nil {
		return 0
	}
	return t.Mean * float64(t.Hist.TotalCount())
}

// ServiceTimes are those of all that count from when a call was sent: in the closed loop they are the response times.
func ServiceTimes(all []Times) []Times {
	kind := Response
	if slices.ContainsFunc(all, func(t Times) bool { return t.Time == Service }) {
		kind = Service
	}
	return slices.DeleteFunc(slices.Clone(all), func(t Times) bool { return t.Time != kind })
}
