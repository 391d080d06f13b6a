// Package record condenses the samples of one trial: counts, histograms and examples of failures, in memory that
// does not grow with the number of calls. It knows nothing of files or protocols.
//
// An HdrHistogram of our range and precision takes 230 kB. One for each worker would be 184 MB at 800 of them: a heap
// that changes how often the driver collects garbage, a figure of memory that is our own, and memory that each worker
// finds gone from the nearest caches when its turn comes (0.3 us a call beside gRPC's client, where recording itself
// takes 0.01). So workers share a few tallies, as many as can run at once, and each brings its samples to one some at a time.
package record

import (
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"bakeoff/harness/load"
)

// The range of the histograms. Longer times are counted at Max; their exact maximum and sum are kept.
const (
	Min    = int64(1)
	Max    = int64(120 * time.Second)
	Digits = 3 // significant decimal digits: a quantile is within 0.1 % of the exact one
)

// Which times a histogram holds.
const (
	Response = "response" // from when the call was due
	Service  = "service"  // from when it was sent
)

// OK is the outcome of a call without an error. All others are classes of failures.
const OK = "ok"

// Set records one load.
type Set struct {
	steps []string
	// paced says that response and service times differ; in the closed loop they are equal and kept once.
	paced  bool
	window time.Duration // that is watched in slices; 0 for none
	turn   time.Duration // of the window; all of it, or what is measured at a stretch
	begun  time.Duration // the window's time before the turn

	recorders []*Recorder // one a worker
	tallies   []*tally
	most      int // of them

	mu       sync.Mutex            // of what follows
	failed   []map[string]*outcome // by step
	late     *times                // of failed iterations, where they are paced
	failures failures
}

// New makes a Set for iterations of the named steps. Paced is for loads with a Pacer.
func New(steps []string, paced bool) *Set {
	s := &Set{steps: steps, paced: paced, most: min(runtime.GOMAXPROCS(0), mostTallies), failed: make([]map[string]*outcome, len(steps))}
	for i := range steps {
		s.failed[i] = map[string]*outcome{}
	}
	if paced {
		s.late = newTimes()
	}
	s.failures.classes = map[string]*class{}
	return s
}

// mostTallies bounds the memory of a Set on a machine with many CPUs. More workers than this can run at once then
// share a tally, and wait for it now and then; it is held for some nanoseconds of a call's microseconds.
const mostTallies = 8

// Recorder takes the samples of one worker. It implements load.Recorder, and recording a call that succeeded allocates nothing.
type Recorder struct {
	to   *tally
	kept int
	// taken are the samples that the tally does not have yet: a call writes to one place, where its predecessor has just written,
	// and what it is counted in is fetched from the far caches for many at once.
	taken [16]taken
}

// taken is what is kept of a call that succeeded.
type taken struct {
	due, sent, done time.Duration
	step            int
}

// tally counts the calls of some workers.
type tally struct {
	set *Set

	mu    sync.Mutex
	ok    []outcome // by step
	late  *times    // of iterations, where they are paced
	parts parts
}

var _ load.Recorder = (*Recorder)(nil)

// Recorder is the one for the next worker. It may not be called concurrently.
func (s *Set) Recorder() *Recorder {
	n := len(s.recorders) % s.most
	if n == len(s.tallies) {
		t := &tally{set: s, ok: make([]outcome, len(s.steps)), parts: newParts(s.window)}
		for i := range t.ok {
			t.ok[i] = newOutcome(s.paced)
		}
		if s.paced {
			t.late = newTimes()
		}
		s.tallies = append(s.tallies, t)
	}
	r := &Recorder{to: s.tallies[n]}
	s.recorders = append(s.recorders, r)
	return r
}

// Record implements load.Recorder.
func (r *Recorder) Record(s load.Sample) {
	if s.Err != nil {
		r.to.set.fail(s)
		return
	}
	r.taken[r.kept] = taken{s.Due, s.Sent, s.Done, s.Step}
	if r.kept++; r.kept == len(r.taken) {
		r.bring()
	}
}

// bring takes the samples to the tally.
func (r *Recorder) bring() {
	t := r.to
	t.mu.Lock()
	for _, c := range r.taken[:r.kept] {
		t.add(c)
	}
	t.mu.Unlock()
	r.kept = 0
}

// bring takes all samples to the tallies. No worker may be recording.
func (s *Set) bring() {
	for _, r := range s.recorders {
		r.bring()
	}
}

func (t *tally) add(c taken) {
	o := &t.ok[c.step]
	o.response.add(int64(c.done - c.due))
	if o.service != nil {
		o.service.add(int64(c.done - c.sent))
		if c.step == 0 {
			t.late.add(int64(c.sent - c.due))
		}
	}
	if t.set.window > 0 && c.done <= t.set.turn {
		t.parts.add(t.set.begun+c.done, c.done-c.due)
	}
}

func (s *Set) fail(sample load.Sample) {
	name, message := Class(sample.Err), sample.Err.Error()
	s.mu.Lock()
	defer s.mu.Unlock()
	name = s.failures.add(name, message)
	o := s.failed[sample.Step][name]
	if o == nil {
		made := newOutcome(s.paced)
		o = &made
		s.failed[sample.Step][name] = o
	}
	o.response.add(int64(sample.Done - sample.Due))
	if s.paced {
		o.service.add(int64(sample.Done - sample.Sent))
		if sample.Step == 0 {
			s.late.add(int64(sample.Sent - sample.Due))
		}
	}
}

// outcome holds the times of the calls of one step that ended in one way.
type outcome struct{ response, service *times }

func newOutcome(paced bool) outcome {
	o := outcome{response: newTimes()}
	if paced {
		o.service = newTimes()
	}
	return o
}

// times are a histogram and what it can't tell exactly.
type times struct {
	hist     *hdrhistogram.Histogram
	min, max int64
	sum      int64 // ns: it would overflow after 292 years of calls
	clamped  uint64
}

func newTimes() *times { return &times{hist: hdrhistogram.New(Min, Max, Digits)} }

func (t *times) add(ns int64) {
	if t.hist.TotalCount() == 0 {
		t.min, t.max = ns, ns
	}
	t.min, t.max = min(t.min, ns), max(t.max, ns)
	t.sum += ns
	if ns > Max {
		t.clamped++
		ns = Max
	}
	if err := t.hist.RecordValue(max(ns, 0)); err != nil {
		panic("record: a time within the range is refused: " + err.Error())
	}
}

// merge adds what u holds.
func (t *times) merge(u *times) {
	if u.hist.TotalCount() == 0 {
		return
	}
	if t.hist.TotalCount() == 0 {
		t.min, t.max = u.min, u.max
	}
	t.min, t.max = min(t.min, u.min), max(t.max, u.max)
	t.sum += u.sum
	t.clamped += u.clamped
	if dropped := t.hist.Merge(u.hist); dropped > 0 {
		panic("record: histograms of one range do not merge")
	}
}

func (o *outcome) merge(u outcome) {
	o.response.merge(u.response)
	if o.service != nil {
		o.service.merge(u.service)
	}
}
