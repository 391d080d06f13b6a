package live

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"bakeoff/harness/report"
	"bakeoff/harness/result"
	"bakeoff/internal/plural"
	"bakeoff/internal/printable"
)

// Progress is where a run stands, in the words of whoever runs it.
type Progress struct {
	// Doing is what is under way: "block 3 of 10: grpc at 50, measuring".
	Doing string
	// Now is what the trial under way has come to: "29700 calls/s now, 0 of 59400 calls failed so far"; empty where that is not known.
	Now string
	// Left is about how long the rest takes; 0 is unknown.
	Left time.Duration
	// Over says that nothing more will come.
	Over bool
}

// state is what the page shows above the report. Version grows with each page that is made.
type state struct {
	Version int      `json:"version"`
	Done    int      `json:"done"`  // trials
	Total   int      `json:"total"` // 0 is unknown
	Doing   string   `json:"doing"`
	Now     string   `json:"now,omitempty"`
	Left    string   `json:"left,omitempty"`
	Over    bool     `json:"over"`
	Errors  []string `json:"errors"`
	Failure string   `json:"failure,omitempty"` // why there is no newer page
}

// view is one file and the page that was made of it last.
type view struct {
	name   string
	open   func() (*os.File, error)
	report report.Options

	making sync.Mutex // held while a page is made, so that each is made once
	stamp  stamp

	mu      sync.Mutex // of what follows, which is read often and held briefly
	title   string
	body    []byte
	tables  *report.Tables
	told    Progress
	state   state
	changed chan struct{} // closed and replaced at each change
}

// stamp tells whether a file has grown, or is another one.
type stamp struct {
	size int64
	at   time.Time
}

func newView(name string, open func() (*os.File, error), o report.Options) *view {
	return &view{name: name, open: open, report: o, title: "bakeoff", changed: make(chan struct{}), state: state{Doing: "waiting for the file", Errors: []string{}}}
}

// refresh makes the page anew if the file has changed. What can't be read or reported is told on the page, and the last good report stays.
func (v *view) refresh() {
	v.making.Lock()
	defer v.making.Unlock()
	file, fresh, err := v.read()
	if err == nil && !fresh {
		return
	}
	var tables report.Tables
	var body []byte
	if err == nil {
		tables, err = report.Build(file, v.report)
	}
	if err == nil {
		body, err = report.HTMLBody(tables)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		if text := printable.Line(err.Error()); v.state.Failure != text {
			v.state.Failure = text
			v.wake()
		}
		return
	}
	v.title, v.body, v.tables = printable.Line("bakeoff "+tables.Experiment), body, &tables
	v.state.Version++
	v.state.Failure = ""
	v.state.Done, v.state.Total = tables.Present, tables.Planned
	v.state.Errors = troubles(file.Trials)
	v.describe()
	v.wake()
}

// read gives the file's contents if it has changed since the last time.
func (v *view) read() (file result.File, fresh bool, err error) {
	f, err := v.open()
	if err != nil {
		return result.File{}, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return result.File{}, false, err
	}
	if !info.Mode().IsRegular() {
		return result.File{}, false, &fs.PathError{Op: "read", Path: v.name, Err: fs.ErrInvalid}
	}
	now := stamp{info.Size(), info.ModTime()}
	if now == v.stamp {
		return result.File{}, false, nil
	}
	// The stamp is that of before: what is added while we read is seen the next time.
	if file, err = result.Read(f, v.name); err != nil {
		return result.File{}, false, err
	}
	v.stamp = now
	return file, true, nil
}

// tell takes over what a run says of itself.
func (v *view) tell(p Progress) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.told = p
	v.describe()
	v.wake()
}

// describe puts what is known into the state: of the run, if it speaks, else of the file.
func (v *view) describe() {
	s := &v.state
	s.Doing, s.Now, s.Left, s.Over = printable.Line(v.told.Doing), printable.Line(v.told.Now), "", v.told.Over
	if v.told.Left > 0 {
		s.Left = v.told.Left.Round(time.Second).String()
	}
	if s.Doing != "" {
		return
	}
	switch {
	case s.Total > 0 && s.Done >= s.Total:
		s.Doing, s.Over = "all trials of the plan are there", true
	case s.Version > 0:
		s.Doing = "the run is going on, or was interrupted"
	}
}

func (v *view) wake() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// now is the state, and what is closed when there is another.
func (v *view) now() (state, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state, v.changed
}

// contents are the page's title and body.
func (v *view) contents() (title string, body []byte, t *report.Tables) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.title, v.body, v.tables
}

// maxTroubles is how many of the latest troubles are shown.
const maxTroubles = 20

// troubles are the trials that failed, or in which calls did, the latest first.
func troubles(trials []result.Trial) []string {
	out := []string{}
	for _, t := range slices.Backward(trials) {
		if len(out) == maxTroubles {
			break
		}
		at := fmt.Sprintf("round %d, %s", t.Round, t.Subject)
		if t.Rate != "" {
			at += " at " + t.Rate + "/s"
		} else if t.Concurrency > 0 {
			at += fmt.Sprintf(" at %d", t.Concurrency)
		}
		switch failed := t.Outcomes.FailedTotal(); {
		case t.Error != "":
			first, _, _ := bytes.Cut([]byte(t.Error), []byte("\n"))
			out = append(out, printable.Line(at+": the trial failed: "+string(first)))
		case failed > 0:
			text := fmt.Sprintf("%s: %s of %d failed", at, plural.Of(int(failed), "call"), t.Outcomes.Started)
			if len(t.Examples) > 0 {
				text += ": " + strings.TrimSpace(t.Examples[0].Class+" "+t.Examples[0].Message)
			}
			out = append(out, printable.Line(text))
		}
	}
	return out
}
