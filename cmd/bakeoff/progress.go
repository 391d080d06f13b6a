package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"bakeoff/harness/plan"
	harness "bakeoff/harness/run"
	"bakeoff/internal/plural"
	"bakeoff/internal/printable"
)

// progress tells on stderr where a run stands: a bar on a terminal, else a plain line for each block.
type progress struct {
	w         io.Writer
	rounds    int
	perBlock  int
	missing   map[int]int              // trials of each round of the plan: fewer where a run is resumed
	bar       *progressbar.ProgressBar // nil where there is no terminal
	name      func(plan.Trial) string
	lastRound int
	once      sync.Once
}

func newProgress(w io.Writer, j *job) *progress {
	p := &progress{w: w, rounds: j.settings.Rounds, perBlock: len(j.trials) / j.settings.Rounds, name: j.cellName, missing: map[int]int{}}
	for _, t := range j.trials {
		p.missing[t.Round]++
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(len(j.trials), progressbar.OptionSetWriter(w), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetWidth(12), progressbar.OptionUseANSICodes(true), progressbar.OptionClearOnFinish())
	}
	return p
}

// more is told when the run goes on after what it had planned: to so many rounds in all, with so many further trials.
func (p *progress) more(rounds, trials int) {
	p.rounds = rounds
	if p.bar != nil {
		p.bar.ChangeMax(trials)
		_ = p.bar.Set(0)
	}
}

// say is a plain line, between the bar's.
func (p *progress) say(format string, args ...any) {
	if p.bar != nil {
		_ = p.bar.Clear() // a terminal that can't be written to shows nothing: no reason to stop a measurement
	}
	fmt.Fprintln(p.w, printable.Text(fmt.Sprintf(format, args...)))
}

// trial is run.Config.Progress.
func (p *progress) trial(at harness.Progress) {
	left := at.Remaining.Round(time.Second)
	switch {
	case at.Phase == harness.Finished && at.Result.Error != "":
		p.say("block %d of %d, %s: FAILED: %s", at.Trial.Round, p.rounds, p.name(at.Trial), at.Result.Error)
	case p.bar == nil && at.Phase == harness.Starting && at.Trial.Round != p.lastRound:
		p.lastRound = at.Trial.Round
		p.say("block %d of %d: %s, about %v left", at.Trial.Round, p.rounds, plural.Of(cmp.Or(p.missing[at.Trial.Round], p.perBlock), "trial"), left)
	}
	if p.bar == nil {
		return
	}
	if at.Phase == harness.Finished {
		_ = p.bar.Set(at.Index)
		return
	}
	p.bar.Describe(fmt.Sprintf("block %d/%d %s@%d %s, %v left ", at.Trial.Round, p.rounds, at.Trial.Subject, at.Trial.Concurrency, at.Phase, left))
}

// close takes the bar away. It may be called twice.
func (p *progress) close() {
	p.once.Do(func() {
		if p.bar != nil {
			_ = p.bar.Clear()
		}
	})
}
