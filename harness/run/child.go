package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"bakeoff/harness/control"
)

// child is one process of a trial.
type child struct {
	name  string // "server grpc", for errors
	cmd   *exec.Cmd
	peer  *control.Peer
	stdin *os.File // its end tells the child that its work is over
	out   *os.File
	words *lastWords

	exited  chan struct{} // closed when the process is gone and its stderr read
	waitErr error         // what Wait said; read it after exited
}

// exitError is the death of a child that nobody asked for.
type exitError struct {
	name, status, when, words string
}

func (e *exitError) Error() string {
	s := fmt.Sprintf("%s exited (%s)", e.name, e.status)
	if e.when != "" {
		s += " " + e.when
	}
	return s + quoted(e.words)
}

// failure is what a child that lives did wrong. Its text is made when it is asked for: once the child has been stopped
// its last words are complete.
type failure struct {
	child *child
	when  string
	err   error
}

func (f *failure) Error() string {
	s := fmt.Sprintf("%s %s: %v", f.child.name, f.when, f.err)
	if words := f.child.words.String(); words != "" {
		s += quoted(words)
	}
	return s
}

func (f *failure) Unwrap() error { return f.err }

// quoted is the end of an error about a child.
func quoted(words string) string {
	if words == "" {
		return " without a word on stderr"
	}
	return ": last words: " + words
}

// start starts a process and, if the command has one, gives it its job.
func (r *runner) start(role, name string, c Command) (*child, error) {
	ch := &child{name: name, words: &lastWords{}, exited: make(chan struct{})}
	stdin, toChild, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	fromChild, stdout, err := os.Pipe()
	if err != nil {
		stdin.Close()
		toChild.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	ch.stdin, ch.out = toChild, fromChild
	cpus := r.cpus[role]

	ch.cmd = exec.Command(r.Executable, c.Args...)
	ch.cmd.Env = environ(cpus, c.Env)
	ch.cmd.Stdin, ch.cmd.Stdout, ch.cmd.Stderr = stdin, stdout, ch.words
	ch.cmd.WaitDelay = time.Second // for a stderr that some grandchild keeps open
	ch.cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true, // a terminal's Ctrl-C reaches us alone: we decide how a trial ends
		Pdeathsig: syscall.SIGKILL,
	}
	err = r.starter.start(ch.cmd, cpus)
	stdin.Close()
	stdout.Close()
	if err != nil {
		toChild.Close()
		fromChild.Close()
		return nil, fmt.Errorf("%s could not be started: %w", name, err)
	}
	ch.peer = control.NewPeer(fromChild, toChild)
	go func() {
		ch.waitErr = ch.cmd.Wait()
		close(ch.exited)
	}()
	if c.Job != nil {
		if err := ch.say(c.Job, r.Timeouts.Start); err != nil {
			return ch, err
		}
	}
	return ch, nil
}

// environ is our environment with the additions. GOMAXPROCS is set to the CPUs given, whatever it was for us.
func environ(cpus []int, add []string) []string {
	env := os.Environ()
	if len(cpus) > 0 {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(len(cpus)))
	}
	return append(env, add...) // of two values for a name exec takes the last
}

// say sends v as a line; a child that does not read is given up after the timeout. A child that is gone is no error
// here: waiting for its answer will tell why it is.
func (c *child) say(v any, timeout time.Duration) error {
	if err := c.stdin.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if err := c.peer.Send(v); err != nil && !errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// hear waits for a line. The error says which child failed, how, and its last words; an exitError that ended ctx (another child's death) comes
// back as it is, any other end of ctx as ctx's cause.
func (c *child) hear(ctx context.Context, w waiting) (control.Line, error) {
	gone := time.Now().Add(w.timeout)
	line, err := c.expect(ctx, w)
	var remote *control.RemoteError
	switch {
	case err == nil:
		return line, nil
	case errors.As(err, &remote):
		return line, fmt.Errorf("%s failed %s: %s", c.name, w.when(), remote.Msg)
	case errors.Is(err, control.ErrGone):
		timer := time.NewTimer(time.Until(gone))
		defer timer.Stop()
		select {
		case <-c.exited:
			return line, c.death(w.when())
		case <-timer.C:
		case <-ctx.Done():
		}
		err = fmt.Errorf("it closed its stdout and lives on")
	}
	if ctx.Err() != nil {
		return line, context.Cause(ctx)
	}
	return line, &failure{c, w.when(), err}
}

// death says how the child ended. Call it after exited.
func (c *child) death(when string) *exitError {
	return &exitError{name: c.name, status: c.status(), when: when, words: c.words.String()}
}

func (c *child) status() string {
	if s := c.cmd.ProcessState; s != nil {
		return s.String()
	}
	return c.waitErr.Error()
}

// stop ends the child: its stdin ends, then SIGTERM, then SIGKILL. It returns what was wrong with its end, nil for
// a child that went by itself and in peace. When it returns, the process and our goroutines for it are gone.
func (c *child) stop(t Timeouts) error {
	select {
	case <-c.exited: // before it was asked; an exit in peace is a driver's that has reported
		return c.release(c.ended(""))
	default:
	}
	c.stdin.Close()
	asked := time.Now()
	var forced string
	if s := stateOf(c.pid()); s.stopped() { // it hears of nothing, SIGTERM included
		forced = fmt.Sprintf("its state was %v and it was sent SIGKILL", s)
		_ = c.cmd.Process.Kill() // its error is that the process is gone, which the wait notices
		t.Term = t.Kill
	}
	for _, step := range []struct {
		after time.Duration
		sig   os.Signal
		name  string
	}{{t.Term, syscall.SIGTERM, "SIGTERM"}, {t.Kill, syscall.SIGKILL, "SIGKILL"}} {
		if c.wait(step.after - time.Since(asked)) {
			return c.release(c.ended(forced))
		}
		forced = fmt.Sprintf("after %v without an end it was sent %s", step.after, step.name)
		_ = c.cmd.Process.Signal(step.sig) // its error is that the process is gone, which the next wait notices
	}
	// A killed process ends unless it hangs in the kernel, and then nothing ends it.
	if !c.wait(10 * time.Second) {
		c.out.Close()
		return fmt.Errorf("%s (process %d) does not end, not even by SIGKILL", c.name, c.cmd.Process.Pid)
	}
	return c.release(c.ended(forced))
}

// wait says whether the process has ended within d.
func (c *child) wait(d time.Duration) bool {
	timer := time.NewTimer(max(0, d))
	defer timer.Stop()
	select {
	case <-c.exited:
		return true
	case <-timer.C:
		return false
	}
}

// ended is what was wrong with the end of a process that has ended.
func (c *child) ended(forced string) error {
	switch {
	case forced != "":
		return &failure{c, "did not stop", errors.New(forced)}
	case c.cmd.ProcessState != nil && c.cmd.ProcessState.Success():
		return nil
	}
	return c.death("")
}

// release closes our ends, once the process has ended. Lines that it wrote were either asked for or are not wanted;
// closing ends the peer's goroutine even if a grandchild keeps the other end.
func (c *child) release(err error) error {
	c.stdin.Close()
	c.out.Close()
	<-c.peer.Gone()
	return err
}
