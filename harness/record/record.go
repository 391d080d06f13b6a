// Package record condenses the samples of one trial: counts, histograms and examples of failures, in memory that
// does not grow with the number of calls. It knows nothing of files or protocols.
//
// An HdrHistogram of our range and precision takes 230 kB. One for each worker would be 184 MB at 800 of them: a heap
// that changes how often the driver collects garbage, cold cache lines in every call, and a figure of memory that is
// our own. So a worker notes its times in a buffer of a kilobyte, and a full buffer goes into the one histogram that
// the workers share for a step, under a lock that is taken once in a hundred calls.
package record

import (
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

// Set records one load. Its recorders share it.
type Set struct {
	steps []string
	// paced says that response and service times differ; in the closed loop they are equal and kept once.
	paced  bool
	window time.Duration // that is watched in slices; 0 for none

	mu       sync.Mutex
	ok       []outcome // by step
	failed   []map[string]*outcome
	late     *times // of iterations, where they are paced
	failures failures
	workers  []*Recorder
}

// New makes a Set for iterations of the named steps. Paced is for loads with a Pacer.
func New(steps []string, paced bool) *Set {
	s := &Set{steps: steps, paced: paced, ok: make([]outcome, len(steps)), failed: make([]map[string]*outcome, len(steps))}
	for i := range steps {
		s.ok[i] = newOutcome(paced)
		s.failed[i] = map[string]*outcome{}
	}
	if paced {
		s.late = newTimes()
	}
	s.failures.classes = map[string]*class{}
	return s
}

// buffered is how many times a worker notes before they go into a histogram. A worker that finds the histogram
// locked from half of it on goes on noting, and waits only with a full buffer.
const buffered = 128

// Recorder is one worker's. It implements load.Recorder; recording a call that succeeded allocates nothing.
type Recorder struct {
	set   *Set
	notes []notes // by step
	parts parts
}

// notes are times of successful calls that are in no histogram yet.
type notes struct {
	n        int
	response [buffered]int64
	service  []int64 // as response, where it differs
	late     []int64 // from due to sent, of the first step of a paced load
}

var _ load.Recorder = (*Recorder)(nil)

// Recorder makes the recorder of one more worker. It may not be called while another one of the set records.
func (s *Set) Recorder() *Recorder {
	r := &Recorder{set: s, notes: make([]notes, len(s.steps)), parts: newParts(s.window)}
	if s.paced {
		r.notes[0].late = make([]int64, buffered)
		for i := range r.notes {
			r.notes[i].service = make([]int64, buffered)
		}
	}
	s.workers = append(s.workers, r)
	return r
}

// Record implements load.Recorder.
func (r *Recorder) Record(s load.Sample) {
	if s.Err != nil {
		r.set.fail(s)
		return
	}
	b := &r.notes[s.Step]
	b.response[b.n] = int64(s.Done - s.Due)
	if b.service != nil {
		b.service[b.n] = int64(s.Done - s.Sent)
	}
	if b.late != nil {
		b.late[b.n] = int64(s.Sent - s.Due)
	}
	if r.set.window > 0 {
		r.parts.add(s.Done, s.Done-s.Due)
	}
	b.n++
	if b.n >= buffered/2 {
		r.flush(s.Step, b.n == buffered)
	}
}

// flush moves the notes of a step into the histogram; unless it must, it does not wait for the lock.
func (r *Recorder) flush(step int, must bool) {
	if must {
		r.set.mu.Lock()
	} else if !r.set.mu.TryLock() {
		return
	}
	defer r.set.mu.Unlock()
	b := &r.notes[step]
	o := &r.set.ok[step]
	for _, ns := range b.response[:b.n] {
		o.response.add(ns)
	}
	if b.service != nil {
		for _, ns := range b.service[:b.n] {
			o.service.add(ns)
		}
	}
	if b.late != nil {
		for _, ns := range b.late[:b.n] {
			r.set.late.add(ns)
		}
	}
	b.n = 0
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
