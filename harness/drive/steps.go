package drive

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"bakeoff/harness/load"
	"bakeoff/harness/record"
	"bakeoff/harness/result"
)

// Lines has a driver write a line for each step of the window as it ends, iteration:step seconds status, as the published
// script did: "6:verification 36.197475 200". The status is 200 for a step that succeeded, whatever carried it, and else the class
// of the failure. Iterations count from 1. Writing costs each call some microseconds of the driver.
type Lines struct {
	File string `json:"file"`
	// Title stands behind a # in a line before the others: it says which trial follows.
	Title string `json:"title"`
}

// firstIterations is of how many iterations, from the first on, the result has the times of each step.
const firstIterations = 50

// stepLog keeps the first iterations of a load with steps, and writes lines where they are asked for. It is shared by all workers.
type stepLog struct {
	steps []string
	keeps bool // there is more than one step

	mu     sync.Mutex
	firsts []result.Iteration // by iteration
	file   *os.File           // nil: no lines
	buf    []byte
	err    error // the first of writing
}

// newStepLog gives nil where there is nothing to keep or to write.
func newStepLog(steps []string, l *Lines) (*stepLog, error) {
	s := &stepLog{steps: steps, keeps: len(steps) > 1}
	if l == nil && !s.keeps {
		return nil, nil
	}
	if l != nil {
		var err error
		if s.file, err = os.OpenFile(l.File, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666); err != nil {
			return nil, fmt.Errorf("lines: %w", err)
		}
		if _, err := fmt.Fprintf(s.file, "# %s\n", l.Title); err != nil {
			s.file.Close() // the first failure is the one to tell
			return nil, fmt.Errorf("lines: %w", err)
		}
	}
	return s, nil
}

// around has what r records go to the log too; of no log it is r itself.
func (s *stepLog) around(r load.Recorder) load.Recorder {
	if s == nil {
		return r
	}
	return logged{r, s}
}

type logged struct {
	load.Recorder
	log *stepLog
}

// Record implements load.Recorder.
func (r logged) Record(s load.Sample) {
	r.Recorder.Record(s)
	if r.log.file != nil || s.N < firstIterations {
		r.log.add(s)
	}
}

func (s *stepLog) add(sample load.Sample) {
	outcome := record.OK
	if sample.Err != nil {
		outcome = record.Class(sample.Err)
	}
	took := sample.Done - sample.Due
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keeps && sample.N < firstIterations {
		for uint64(len(s.firsts)) <= sample.N {
			s.firsts = append(s.firsts, result.Iteration{N: len(s.firsts) + 1})
		}
		it := &s.firsts[sample.N]
		it.Steps, it.Outcome = append(it.Steps, int64(took)), outcome
	}
	if s.file != nil && s.err == nil {
		s.buf = appendLine(s.buf[:0], sample.N+1, s.steps[sample.Step], took, outcome)
		_, s.err = s.file.Write(s.buf)
	}
}

func appendLine(dst []byte, iteration uint64, step string, took time.Duration, outcome string) []byte {
	if outcome == record.OK {
		outcome = "200"
	}
	dst = strconv.AppendUint(dst, iteration, 10)
	dst = append(append(append(dst, ':'), step...), ' ')
	dst = strconv.AppendFloat(dst, took.Seconds(), 'f', 6, 64)
	return append(append(append(dst, ' '), outcome...), '\n')
}

// close ends the file; its error is the first that there was, also of writing.
func (s *stepLog) close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.err != nil {
		err = s.err
	}
	s.file = nil
	if err != nil {
		return fmt.Errorf("lines: %w", err)
	}
	return nil
}

// iterations are the first ones of which a step has ended. One that was begun and cut off in its first step is left out.
func (s *stepLog) iterations() []result.Iteration {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []result.Iteration
	for _, it := range s.firsts {
		if len(it.Steps) > 0 {
			all = append(all, it)
		}
	}
	return all
}
