package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"bakeoff/harness/plan"
	harness "bakeoff/harness/run"
	"bakeoff/internal/plural"
	"bakeoff/internal/printable"
)

// progress tells on stderr where a run stands: a bar on a terminal, else a plain line for each block, and one for the trial under way every few seconds.
type progress struct {
	w         io.Writer
	rounds    int
	perBlock  int
	missing   map[int]int              // trials of each round of the plan: fewer where a run is resumed
	bar       *progressbar.ProgressBar // nil where there is no terminal that can have one
	terminal  *os.File                 // of the bar
	doing     []string                 // what the bar's line says, from the longest form to the shortest
	name      func(plan.Trial) string
	lastRound int
	lastSaid  time.Time        // of a plain line
	clock     func() time.Time // nil: time.Now
	once      sync.Once
}

// every is how long at least lies between two plain lines of a trial under way.
const every = 5 * time.Second

func newProgress(w io.Writer, j *job) *progress {
	p := &progress{w: w, rounds: j.settings.Rounds, perBlock: len(j.trials) / j.settings.Rounds, name: j.cellName, missing: map[int]int{}}
	for _, t := range j.trials {
		p.missing[t.Round]++
	}
	if p.terminal = terminal(w); p.terminal != nil {
		p.bar = progressbar.NewOptions(len(j.trials), progressbar.OptionSetWriter(w), progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false), progressbar.OptionSetWidth(barWidth), progressbar.OptionUseANSICodes(true), progressbar.OptionClearOnFinish())
	}
	return p
}

// more is told when the run goes on after what it had planned: to so many rounds in all, with so many further trials.
func (p *progress) more(rounds, trials int) {
	if rounds > p.rounds {
		p.perBlock, p.rounds = trials/(rounds-p.rounds), rounds
	}
	if p.bar != nil {
		p.describe()
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
		p.lastSaid = p.now()
	case p.bar == nil && at.Now != nil && p.now().Sub(p.lastSaid) >= every:
		p.lastSaid = p.now()
		p.say("block %d of %d, %s: %s, about %v left", at.Trial.Round, p.rounds, p.name(at.Trial), soFar(*at.Now), left)
	}
	if p.bar == nil {
		return
	}
	if at.Phase == harness.Finished {
		p.describe()
		_ = p.bar.Set(at.Index)
		return
	}
	now := string(at.Phase)
	all := now
	if at.Now != nil {
		now = fmt.Sprintf("%.0f/s", at.Now.Rate)
		all = fmt.Sprintf("%s, %d failed", now, at.Now.Failed)
	}
	block, row := fmt.Sprintf("%d/%d", at.Trial.Round, p.rounds), printable.Line(fmt.Sprintf("%s@%d", at.Trial.Subject, at.Trial.Concurrency))
	p.doing = []string{
		fmt.Sprintf("block %s %s %s, %v left", block, row, all, left),
		fmt.Sprintf("block %s %s %s, %v left", block, row, now, left),
		fmt.Sprintf("%s %s, %v left", block, row, left),
		fmt.Sprintf("%s, %v left", block, left),
	}
	p.describe()
}

// The columns of the bar's line: of the bar itself, and of what stands about it beside the description.
const (
	barWidth = 12
	barFrame = len("  45% ||  ")
)

// describe draws the bar's line in the longest form that the terminal has room for as it is now: one that was broken into two could not be drawn over.
func (p *progress) describe() {
	width, _, err := term.GetSize(int(p.terminal.Fd()))
	if err != nil || width <= 0 {
		width = 80
	}
	p.bar.Describe(longestIn(p.doing, width-barFrame-barWidth/3))
}

// longestIn is the first of some texts, with a space behind it, that has room in so many columns; the last is cut to them.
func longestIn(texts []string, columns int) string {
	for i, s := range texts {
		if text.StringWidthWithoutEscSequences(s) < columns {
			return s + " "
		}
		if i == len(texts)-1 && columns > 2 {
			return text.Snip(s, columns-1, "~") + " "
		}
	}
	return ""
}

// soFar says what a trial under way has come to.
func soFar(n harness.Now) string {
	return fmt.Sprintf("%.0f calls/s now, %d of %s failed so far", n.Rate, n.Failed, plural.Of(int(n.OK+n.Failed), "call"))
}

func (p *progress) now() time.Time {
	if p.clock != nil {
		return p.clock()
	}
	return time.Now()
}

// close takes the bar away. It may be called twice.
func (p *progress) close() {
	p.once.Do(func() {
		if p.bar != nil {
			_ = p.bar.Clear()
		}
	})
}
