package drive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/load"
	"bakeoff/harness/record"
	"bakeoff/harness/result"
	"bakeoff/service"
)

var threeSteps = []string{"login", "verification", "execution"}

func openLog(t *testing.T, steps []string, l *Lines) (*stepLog, load.Recorder) {
	t.Helper()
	s, err := newStepLog(steps, l)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.around(record.New(steps, false).Recorder())
}

func TestLinesAndFirstIterations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines.txt")
	s, r := openLog(t, threeSteps, &Lines{File: file, Title: "trial 1: grpc"})
	for _, sample := range []load.Sample{
		{N: 5, Step: 0, Due: 0, Done: 250 * time.Microsecond},
		{N: 5, Step: 1, Due: time.Second, Sent: time.Second, Done: 37*time.Second + 197475*time.Microsecond},
		{N: 5, Step: 2, Due: time.Minute, Sent: time.Minute, Done: time.Minute + time.Millisecond, Err: service.Errorf(service.Unavailable, "no room")},
		{N: 0, Step: 0, Due: 0, Sent: 0, Done: 2 * time.Millisecond},
		{N: firstIterations, Step: 0, Due: 0, Sent: 0, Done: 3 * time.Millisecond},
	} {
		r.Record(sample)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "# trial 1: grpc\n6:login 0.000250 200\n6:verification 36.197475 200\n6:execution 0.001000 unavailable\n1:login 0.002000 200\n51:login 0.003000 200\n"
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Error(d)
	}
	wantFirsts := []result.Iteration{{N: 1, Steps: []int64{2e6}, Outcome: "ok"}, {N: 6, Steps: []int64{250e3, 36197475e3, 1e6}, Outcome: "unavailable"}}
	if d := cmp.Diff(wantFirsts, s.iterations()); d != "" {
		t.Errorf("the first iterations: %s", d)
	}
}

func TestNothingToLog(t *testing.T) {
	s, err := newStepLog([]string{"one"}, nil)
	if s != nil || err != nil {
		t.Errorf("got %v, %v, want none: it would cost each call", s, err)
	}
	if r := record.New([]string{"one"}, false).Recorder(); s.around(r) != load.Recorder(r) || s.close() != nil || s.iterations() != nil {
		t.Error("no log is not transparent")
	}
}

// Lines of workers that end at the same time do not run into one another.
func TestLinesAreWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines.txt")
	s, _ := openLog(t, threeSteps, &Lines{File: file, Title: "x"})
	set := record.New(threeSteps, false)
	var all sync.WaitGroup
	const workers, each = 8, 200
	for w := range workers {
		r := s.around(set.Recorder())
		all.Go(func() {
			for i := range each {
				r.Record(load.Sample{N: uint64(i*workers + w), Done: time.Millisecond})
			}
		})
	}
	all.Wait()
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(got), "\n"), "\n")
	if len(lines) != 1+workers*each || len(s.iterations()) != firstIterations {
		t.Errorf("%d lines, %d first iterations", len(lines), len(s.iterations()))
	}
	for _, l := range lines[1:] {
		if !strings.HasSuffix(l, ":login 0.001000 200") {
			t.Fatalf("the line %q", l)
		}
	}
}

func TestAFileThatCannotBeWritten(t *testing.T) {
	if _, err := newStepLog(threeSteps, &Lines{File: filepath.Join(t.TempDir(), "none", "lines.txt")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	if _, err := newStepLog(threeSteps, &Lines{File: "/dev/full"}); err == nil || !strings.Contains(err.Error(), "lines: ") {
		t.Errorf("a full disk: %v", err)
	}
}
