package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"bakeoff/harness/control"
	"bakeoff/harness/meter"
)

// processState is what the kernel says of a process that lives: its letter in /proc/PID/stat; 0 is unknown.
type processState byte

// states are the words for those that tell something.
var states = map[processState]string{
	'R': "running", 'S': "sleeping", 'D': "waiting for a device", 'T': "stopped", 't': "stopped by a debugger", 'Z': "dead, and not waited for",
}

func (s processState) String() string {
	if s == 0 {
		return "unknown"
	}
	if words := states[s]; words != "" {
		return fmt.Sprintf("%c (%s)", byte(s), words)
	}
	return string(s)
}

// stopped says that nothing of the process goes on until somebody lets it.
func (s processState) stopped() bool { return s == 'T' || s == 't' }

func stateOf(pid int) processState {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name before it is in parentheses and may hold some itself.
	if i := bytes.LastIndexByte(text, ')'); i >= 0 && i+2 < len(text) {
		return processState(text[i+2])
	}
	return 0
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stoppedError is a process that was found stopped twice, one look after the other: who only pauses it for less spoils figures, not the trial.
type stoppedError struct {
	pid   int
	state processState
	apart time.Duration
}

func (e *stoppedError) Error() string {
	return fmt.Sprintf("process %d answers nothing: its state is %v, and was %v before", e.pid, e.state, e.apart)
}

// notStopped looks whether the processes of a reading are stopped, those that they have started included. Where one is, it looks again after
// Timeouts.Look.
func (f *family) notStopped(ctx context.Context, of readings, began time.Time) error {
	for _, p := range f.roles(of) {
		at := slices.IndexFunc(p.pids, func(pid int) bool { return stateOf(pid).stopped() })
		if at < 0 {
			continue
		}
		pid := p.pids[at]
		timer := time.NewTimer(f.Timeouts.Look)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		if s := stateOf(pid); s.stopped() {
			f.blamed = p.c
			now := f.stage.Load()
			return fmt.Errorf("%s at the end of %s, %v after it began: %w", p.c.name, now.of(), time.Since(began).Round(time.Millisecond),
				&stoppedError{pid, s, f.Timeouts.Look})
		}
	}
	return nil
}

// role is one of a trial's processes, and the ids of it and of what it had started when it was read.
type role struct {
	c    *child
	pids []int
}

// roles are those of a trial, the called before their callers.
func (f *family) roles(of readings) (all []role) {
	for _, r := range []struct {
		c  *child
		of meter.Reading
	}{{f.store, of.store}, {f.backend, of.backend}, {f.server, of.server}, {f.driver, of.driver}} {
		if r.c != nil {
			all = append(all, role{r.c, append([]int{r.of.PID}, r.of.Below...)})
		}
	}
	return all
}

// silentTurns is after how many turns in a row of which no call ended a trial is given up. One may be a pause of the server's, or of this
// machine's; each costs all others of a group the grace of its drain.
const silentTurns = 2

// answered looks whether calls have ended in a turn that took so long. Where none has, the server must at least answer us.
func (f *family) answered(ctx context.Context, took time.Duration, ended uint64) error {
	if ended > 0 {
		f.silent = 0
		return nil
	}
	f.silent++
	if f.server != nil {
		if _, err := f.ask(ctx, f.server); err != nil {
			return fmt.Errorf("no call of %s ended within %v: %w", f.stage.Load().of(), took.Round(time.Millisecond), err)
		}
	}
	if f.silent < silentTurns {
		return nil
	}
	who := "the server"
	if f.server != nil {
		who = fmt.Sprintf("%s (process %d, state %v)", f.server.name, f.server.pid(), stateOf(f.server.pid()))
	}
	return fmt.Errorf("%s answered none of the calls of %d turns in a row, the last of which, %s, took %v with its grace",
		who, f.silent, f.stage.Load().of(), took.Round(time.Millisecond))
}

// expect is control.Peer.Expect, and the child's state is looked at meanwhile. When it is late, the error says how the child was then.
func (c *child) expect(ctx context.Context, w waiting) (control.Line, error) {
	deadline := time.Now().Add(w.timeout)
	late := fmt.Errorf("it did not come within %v", w.timeout.Round(time.Millisecond))
	looks := 0
	for next := time.Now().Add(w.quiet + w.look); ; next = next.Add(w.look) {
		until, why := next, errLook
		if w.look <= 0 || !next.Before(deadline) {
			until, why = deadline, late
		}
		slice, cancel := context.WithDeadlineCause(ctx, until, why)
		line, err := c.peer.Expect(slice, w.event, w.others...)
		cancel()
		switch {
		case errors.Is(err, late):
			return line, fmt.Errorf("%w; process %d is %v", err, c.pid(), stateOf(c.pid()))
		case !errors.Is(err, errLook):
			return line, err
		}
		if s := stateOf(c.pid()); !s.stopped() {
			looks = 0
		} else if looks++; looks > 1 {
			return line, fmt.Errorf("waiting for %q: %w", w.event, &stoppedError{c.pid(), s, w.look})
		}
	}
}

// errLook ends a part of a wait.
var errLook = errors.New("time to look at the process")

// waiting is a wait for a line.
type waiting struct {
	event   string
	others  []string      // events that are taken as well
	when    func() string // for errors: what is going on
	timeout time.Duration // for all of it
	// From quiet on a look at the process is taken every look; 0 is never. In what is measured nothing looks.
	quiet, look time.Duration
}

// isOf says that an error is about this child.
func (c *child) isOf(err error) bool {
	var failed *failure
	var exited *exitError
	return c != nil && (errors.As(err, &failed) && failed.child == c || errors.As(err, &exited) && exited.name == c.name)
}
