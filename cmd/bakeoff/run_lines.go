package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"bakeoff/harness/drive"
	"bakeoff/harness/plan"
)

// linesFlags have each step of a run written as it ends.
type linesFlags struct {
	file string
}

func (f *linesFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "lines", "", "new `file` with a line for each step as it ends: iteration:step seconds status, where 200 is success; each trial begins\n"+
		"with a line of #. Writing them costs the driver some microseconds a call")
}

// check says why the file can't be made; kept are those that it may not be.
func (f *linesFlags) check(files ...kept) error {
	if f.file == "" {
		return nil
	}
	if f.file == "-" {
		return errors.New("--lines -: stdout is the report's: name a file")
	}
	if err := refuse(f.file, files); err != nil {
		return fmt.Errorf("--lines: %w", err)
	}
	if err := newFile(f.file); err != nil {
		return fmt.Errorf("--lines: %w", err)
	}
	return nil
}

// tell puts the flag into a driver's job.
func (f *linesFlags) tell(j *drive.Job, t plan.Trial) {
	if f.file == "" {
		return
	}
	title := fmt.Sprintf("trial %d: %s, %s, %d at a time, round %d", t.Order, t.Subject, t.Workload, t.Concurrency, t.Round)
	if t.Rate != "" {
		title += ", " + t.Rate + " a second"
	}
	j.Lines = &drive.Lines{File: place(f.file), Title: title}
}
