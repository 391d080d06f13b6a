package meter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

// childEnv makes this test binary the process that is measured.
const childEnv = "BAKEOFF_METER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		obey(os.Stdin, os.Stdout)
		return
	}
	// The children are this binary too: with -race each would otherwise sleep a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(m.Run())
}

// obey is the measured child. For each line on r ("burn 500ms", "switch 200", "name asd") it does so much work and answers with
// what its own getrusage says that it cost: nanoseconds of CPU and context switches. "below burn 500ms" has a child of its own do
// that, and answers as it does; "end-below" ends that one.
func obey(r io.Reader, w io.Writer) {
	runtime.LockOSThread() // one burner is one thread, as the test of 1.00 cores wants
	var below *helper
	for s := bufio.NewScanner(r); s.Scan(); {
		verb, arg, _ := strings.Cut(s.Text(), " ")
		if verb == "below" || verb == "end-below" {
			if below == nil {
				below = startHelper()
			}
			if verb == "below" {
				fmt.Fprintln(w, below.do(arg))
				continue
			}
			below.end()
			below = nil
			verb = "ended"
		}
		cpu0, switches0 := rusage()
		switch verb {
		case "burn":
			d, err := time.ParseDuration(arg)
			if err != nil {
				panic(err)
			}
			for cpu, _ := rusage(); cpu-cpu0 < d; cpu, _ = rusage() {
			}
		case "switch":
			var n int
			fmt.Sscan(arg, &n)
			pingPong(n)
		case "name":
			if err := os.WriteFile("/proc/self/comm", []byte(arg), 0o644); err != nil {
				panic(err)
			}
		}
		cpu1, switches1 := rusage()
		fmt.Fprintln(w, int64(cpu1-cpu0), switches1-switches0)
	}
	if below != nil {
		below.end()
	}
}

// helper is a process that the measured child has started, and that obeys it.
type helper struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startHelper() *helper {
	h := &helper{cmd: exec.Command("/proc/self/exe")}
	var out io.ReadCloser
	var err error
	if h.in, err = h.cmd.StdinPipe(); err == nil {
		out, err = h.cmd.StdoutPipe()
	}
	if err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		panic(err)
	}
	h.out = bufio.NewReader(out)
	return h
}

// do has it obey, and returns its answer.
func (h *helper) do(line string) string {
	fmt.Fprintln(h.in, line)
	answer, err := h.out.ReadString('\n')
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(answer)
}

func (h *helper) end() {
	h.in.Close()
	if err := h.cmd.Wait(); err != nil {
		panic(err)
	}
}

func rusage() (cpu time.Duration, switches int64) {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		panic(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), ru.Nvcsw + ru.Nivcsw
}

// pingPong has two threads other than the main one wake each other n times.
func pingPong(n int) {
	ping, pong, done := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range n {
			ping <- true
			<-pong
		}
		close(done)
	}()
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range n {
			<-ping
			pong <- true
		}
	}()
	<-done
}

type child struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(t *testing.T) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: exec.Command(exe)}
	c.cmd.Env = append(os.Environ(), childEnv+"=1")
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.in.Close()
		c.cmd.Wait() // a second Wait, after a test that waited itself, only says so
	})
	c.do("warm up") // past the start of the runtime
	return c
}

// do has the child work, and returns what the child says that it used.
func (c *child) do(order string) (cpu time.Duration, switches uint64) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.in, order); err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Fscan(c.out, &cpu, &switches); err != nil {
		c.t.Fatalf("answer to %q: %v", order, err)
	}
	return cpu, switches
}

func (c *child) read() Reading {
	c.t.Helper()
	r, err := Read(c.cmd.Process.Pid)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

func sub(t *testing.T, after, before Reading) Usage {
	t.Helper()
	u, err := Sub(after, before)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The scheduler may give the burner less than a whole CPU, so the truth is its own getrusage and not the wall: what
// we read must be that within 3 %, which is 1.00 +- 0.03 cores where the CPU is free.
func TestBurnerReadsOneCore(t *testing.T) {
	c := startChild(t)
	before := c.read()
	truth, _ := c.do("burn 500ms")
	u := sub(t, c.read(), before)
	if ratio := u.CPU.Seconds() / truth.Seconds(); ratio < 0.97 || ratio > 1.03 {
		t.Errorf("read %v of CPU where the process says %v: ratio %.3f, want 1.00 +- 0.03", u.CPU, truth, ratio)
	}
	if u.Elapsed.Seconds() < 0.97*truth.Seconds() { // two clocks
		t.Errorf("one thread used %v of CPU within %v of wall time", truth, u.Elapsed)
	}
	if cores := u.Cores(); cores == nil || *cores > 1.03 {
		t.Errorf("one thread reads %v cores", cores)
	}
	if u.User == nil || u.System == nil {
		t.Fatal("no split of user and system time")
	}
	if split := *u.User + *u.System; split < u.CPU-20*time.Millisecond || split > u.CPU+20*time.Millisecond {
		t.Errorf("user %v + system %v is further than two ticks from %v", *u.User, *u.System, u.CPU)
	}
}

// Each burst is far below a clock tick (10 ms), where a meter in ticks reads nothing at all.
func TestSmallBurstsAreNotLost(t *testing.T) {
	c := startChild(t)
	for i := range 20 {
		before := c.read()
		truth, _ := c.do("burn 1ms")
		u := sub(t, c.read(), before)
		// The readings enclose the child's own, so they can't be less (a microsecond for getrusage's rounding); the
		// order and the answer on the pipes are on top.
		if u.CPU < truth-2*time.Microsecond || u.CPU > truth+5*time.Millisecond {
			t.Errorf("burst %d: read %v where the process says %v", i, u.CPU, truth)
		}
	}
}

func TestIdleReadsNothing(t *testing.T) {
	idle, clock := startChild(t), startChild(t)
	before := idle.read()
	clock.do("burn 300ms") // something that takes long enough
	u := sub(t, idle.read(), before)
	if cores := u.Cores(); cores == nil || *cores > 0.01 {
		t.Errorf("a process that waits reads %v cores (%v in %v)", cores, u.CPU, u.Elapsed)
	}
}

func TestSwitchesOfAllThreads(t *testing.T) {
	c := startChild(t)
	before := c.read()
	_, truth := c.do("switch 300")
	got := sub(t, c.read(), before).Switches()
	if got == nil {
		t.Fatal("context switches unknown")
	}
	// The readings enclose the child's; two threads that wake each other 300 times switch at least 300 times in sum.
	if *got < truth || truth < 300 {
		t.Errorf("read %d context switches, the process says %d, want at least that and 300", *got, truth)
	}
}

func TestMemory(t *testing.T) {
	r, err := Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if r.RSS == nil || r.RSSPeak == nil {
		t.Fatal("memory unknown")
	}
	if *r.RSS < 1<<20 || *r.RSSPeak < 1<<20 || *r.RSSPeak > 1<<40 {
		t.Errorf("RSS %d, peak %d: not the size of a Go process", *r.RSS, *r.RSSPeak)
	}
}

func TestGone(t *testing.T) {
	t.Run("collected", func(t *testing.T) {
		c := startChild(t)
		c.in.Close()
		c.cmd.Wait()
		_, err := Read(c.cmd.Process.Pid)
		if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), fmt.Sprint(c.cmd.Process.Pid)) {
			t.Errorf("got %v, want ErrGone with the process id", err)
		}
	})
	t.Run("zombie", func(t *testing.T) {
		c := startChild(t)
		c.in.Close()
		if err := unix.Waitid(unix.P_PID, c.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(c.cmd.Process.Pid); !errors.Is(err, ErrGone) {
			t.Errorf("got %v, want ErrGone", err)
		}
	})
	for _, pid := range []int{0, -1, maxPID + 1} {
		if r, err := Read(pid); err == nil || errors.Is(err, ErrGone) {
			t.Errorf("Read(%d): %+v, %v; want an error about the id", pid, r, err)
		}
	}
}

func TestSub(t *testing.T) {
	t0 := time.Now()
	at := func(s float64) time.Time { return t0.Add(time.Duration(s * 1e9)) }
	ms := func(n int) *time.Duration { return new(time.Duration(n) * time.Millisecond) }
	n := func(n uint64) *uint64 { return &n }

	before := Reading{PID: 7, At: at(0), CPU: *ms(100), User: ms(60), System: ms(40), RSS: n(10), RSSPeak: n(20),
		Voluntary: n(5), Involuntary: n(3), Born: n(1)}
	for _, row := range []struct {
		name  string
		after Reading
		want  Usage
		err   string
	}{
		{"all known", Reading{PID: 7, At: at(2), CPU: *ms(1100), User: ms(760), System: ms(340), RSS: n(11), RSSPeak: n(30),
			Voluntary: n(15), Involuntary: n(4), Born: n(1)},
			Usage{Elapsed: 2 * time.Second, CPU: *ms(1100 - 100), User: ms(760 - 60), System: ms(340 - 40), RSS: n(11), RSSPeak: n(30),
				Voluntary: n(15 - 5), Involuntary: n(4 - 3)}, ""},
		{"unknown stays unknown", Reading{PID: 7, At: at(2), CPU: *ms(200)},
			Usage{Elapsed: 2 * time.Second, CPU: *ms(200 - 100)}, ""},
		{"threads ended", Reading{PID: 7, At: at(2), CPU: *ms(200), Voluntary: n(4), Involuntary: n(3)},
			Usage{Elapsed: 2 * time.Second, CPU: *ms(200 - 100), Involuntary: n(0)}, ""},
		{"another process", Reading{PID: 8, At: at(2), CPU: *ms(200)}, Usage{}, "two processes, 7 and 8"},
		{"id used again", Reading{PID: 7, At: at(2), CPU: *ms(200), Born: n(2)}, Usage{}, "used again"},
		{"wrong order", Reading{PID: 7, At: at(-1), CPU: *ms(50)}, Usage{}, "wrong order"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Sub(row.after, before)
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) {
					t.Fatalf("got %v, want an error with %q", err, row.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCores(t *testing.T) {
	if c := (Usage{Elapsed: 2 * time.Second, CPU: 3 * time.Second}).Cores(); c == nil || *c != 1.5 {
		t.Errorf("3 s of CPU in 2 s: %v cores, want 1.5", c)
	}
	if c := (Usage{CPU: time.Second}).Cores(); c != nil {
		t.Errorf("an empty window has %v cores, want unknown", *c)
	}
}
