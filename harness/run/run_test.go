package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

func executable(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// trialsOf makes a plan of one trial for each subject.
func trialsOf(subjects ...string) []plan.Trial {
	var all []plan.Trial
	for i, s := range subjects {
		all = append(all, plan.Trial{Subject: s, Workload: "w", Concurrency: 50, Round: 2, Order: i + 1, Seed: 12345,
			Duration: 20 * time.Millisecond, Warmup: 10 * time.Millisecond})
	}
	return all
}

func TestWholeTrial(t *testing.T) {
	w := newWitness(t)
	c := withStore(fakeConfig(executable(t), w.l.Addr().String()), w.l.Addr().String(), "normal")
	var kept []result.Trial
	var phases []string
	c.Sink = func(tr result.Trial) error { kept = append(kept, tr); return nil }
	c.Progress = func(p Progress) {
		phases = append(phases, fmt.Sprintf("%d/%d %s %t", p.Index, p.Total, p.Phase, p.Result != nil))
	}
	before := time.Now()
	got, err := Run(t.Context(), c, trialsOf("a"))
	if err != nil || len(got) != 1 {
		t.Fatalf("%d trials, %v", len(got), err)
	}
	tr := got[0]
	if tr.Error != "" {
		t.Fatal(tr.Error)
	}
	if d := cmp.Diff(got, kept); d != "" {
		t.Errorf("the sink got something else: %s", d)
	}
	if d := cmp.Diff([]string{"1/1 starting false", "1/1 warming up false", "1/1 measuring false", "1/1 measuring false", "1/1 reporting false",
		"1/1 stopping false", "1/1 finished true"}, phases); d != "" {
		t.Errorf("progress: %s", d)
	}

	// What the plan says, whatever the driver says; what the driver says of the rest.
	if tr.Kind != "bakeoff-trial" || tr.Subject != "a" || tr.Workload != "w" || tr.Concurrency != 50 || tr.Round != 2 || tr.Order != 1 ||
		tr.Seed != 12345 {
		t.Errorf("identity: %+v", tr)
	}
	if tr.Mode != "closed" || tr.Conns != 7 || tr.Window != 2 || tr.Values[result.Throughput] != 47.5 || tr.Outcomes.OK != 95 {
		t.Errorf("the driver's report: %+v", tr)
	}
	if tr.Started.Before(before) || tr.Elapsed < 0.020 || tr.Elapsed > time.Since(before).Seconds() {
		t.Errorf("started %v, elapsed %v s; the driver burns 20 ms", tr.Started, tr.Elapsed)
	}

	// The driver burns 20 ms and the server 5 ms before it; the store does nothing, which is a figure and not an unknown.
	for _, row := range []struct {
		cpu, perReq string
		low, high   float64
	}{
		{result.ClientCPU, result.ClientCPUPerReq, 0.020, 1},
		{result.ServerCPU, result.ServerCPUPerReq, 0.005, 1},
		{result.StoreCPU, result.StoreCPUPerReq, 0, 0.020},
	} {
		cpu, ok := tr.Values[row.cpu]
		if !ok || cpu < row.low || cpu > row.high {
			t.Errorf("%s = %v (known: %t), want %v to %v", row.cpu, cpu, ok, row.low, row.high)
		}
		if got, want := tr.Values[row.perReq], cpu/endedCalls; math.Abs(got-want) > 1e-15 {
			t.Errorf("%s = %v, want %v / %d", row.perReq, got, cpu, endedCalls)
		}
	}
	for _, name := range []string{result.ServerRSS, result.ClientRSS, result.StoreRSS} {
		if v := tr.Values[name]; v < 1<<20 {
			t.Errorf("%s = %v bytes", name, v)
		}
	}
	for _, name := range []string{result.ServerSwitches, result.ClientSwitches} {
		if _, ok := tr.Values[name]; !ok {
			t.Errorf("%s is unknown", name)
		}
	}
	if !slices.Contains(tr.Warnings, result.Warning{Kind: "drift", Text: "of the driver"}) {
		t.Errorf("the driver's warning is lost: %+v", tr.Warnings)
	}
	w.allGone(t, 3, time.Second)
}

// Each process sees only its CPUs from its first instruction, is out of reach of the terminal's Ctrl-C, and the server is
// told where the store listens.
func TestProcessesArePinned(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("needs two CPUs")
	}
	t.Setenv("GOMAXPROCS", "17")
	cpus, err := CPUs()
	if err != nil {
		t.Fatal(err)
	}
	c := withStore(fakeConfig(executable(t), ""), "", "normal")
	c.CPUs = []int{cpus[0].ID, cpus[1].ID}
	tr := one(t, c, "a")
	first, second := fmt.Sprint(cpus[0].ID), fmt.Sprint(cpus[1].ID)
	if d := cmp.Diff(map[string]string{Server: first, Driver: second, Store: second}, tr.CPUSets); d != "" {
		t.Errorf("CPU sets: %s", d)
	}
	if want := "server: 1 CPUs, GOMAXPROCS 1, own group true, told [\"127.0.0.1:"; !strings.HasPrefix(tr.Store, want) {
		t.Errorf("the server says %q, want %q...", tr.Store, want)
	}
	if want := (result.Warning{Kind: "shared_cpu", Text: "driver and store share CPU " + second + ": each slows the other down"}); !slices.Contains(tr.Warnings, want) {
		t.Errorf("warnings %+v lack %+v", tr.Warnings, want)
	}
}

func TestUnpinned(t *testing.T) {
	c := fakeConfig(executable(t), "")
	c.Unpinned = true
	tr := one(t, c, "a")
	if len(tr.CPUSets) != 0 {
		t.Errorf("CPU sets %v", tr.CPUSets)
	}
	if want := (result.Warning{Kind: "shared_cpu", Text: "server, driver are not pinned (as asked): they share all CPUs"}); !slices.Contains(tr.Warnings, want) {
		t.Errorf("warnings %+v lack %+v", tr.Warnings, want)
	}
	if want := fmt.Sprintf("server: %d CPUs", runtime.NumCPU()); !strings.HasPrefix(tr.Store, want) {
		t.Errorf("the server says %q, want %q...", tr.Store, want)
	}
	if _, ok := tr.Values[result.StoreCPU]; ok {
		t.Error("there is no store, and its CPU is known")
	}
}

func one(t *testing.T, c Config, subject string) result.Trial {
	t.Helper()
	got, err := Run(t.Context(), c, trialsOf(subject))
	if err != nil || len(got) != 1 {
		t.Fatalf("%d trials, %v", len(got), err)
	}
	if got[0].Error != "" {
		t.Fatal(got[0].Error)
	}
	return got[0]
}

func TestCPUsThatAreNotThere(t *testing.T) {
	c := fakeConfig(executable(t), "")
	c.CPUs = []int{1000, 1001}
	got, err := Run(t.Context(), c, trialsOf("a"))
	if err == nil || len(got) != 0 || !strings.Contains(err.Error(), "the CPUs for the server: pin to CPU 1000: ") {
		t.Errorf("%d trials, %v", len(got), err)
	}
}

// A process that fails makes its trial an error with its last words; the trial after it is whole.
func TestFailuresAreResults(t *testing.T) {
	// Only for waits that must run out. Such a row has no trial after it: a healthy process on a busy machine may need longer.
	short := 300 * time.Millisecond
	for _, row := range []struct {
		subject   string
		timeouts  Timeouts
		processes int      // that are started for it
		want      []string // in the error, in this order
	}{
		{"server:die-at-start", Timeouts{}, 1,
			[]string{"server server:die-at-start exited (exit status 3) before it listened: last words: the port is taken"}},
		{"server:garbage", Timeouts{}, 1,
			[]string{"server server:garbage before it listened", `in the line "listening on 127.0.0.1:80"`}},
		{"server:no-address", Timeouts{}, 1, []string{"does not say at which address"}},
		{"server:close-stdout", Timeouts{Start: 3 * time.Second}, 1, []string{"it closed its stdout and lives on"}},
		{"server:huge-stderr-and-die", Timeouts{}, 1, []string{"exit status 3", "a long story", "the end of the story"}},
		{"server:die-in-the-middle", Timeouts{}, 2,
			[]string{"server server:die-in-the-middle exited (exit status 2) while ", "its window", ": last words: panic: a call killed me"}},
		{"driver:die-at-start", Timeouts{}, 2,
			[]string{"driver driver:die-at-start exited (exit status 3) before it was ready: last words: no luck today"}},
		{"driver:error-line", Timeouts{}, 2, []string{"driver driver:error-line failed before it was ready: dial 127.0.0.1:1: refused"}},
		{"driver:garbage", Timeouts{}, 2, []string{`in the line "hello, world"`}},
		{"driver:hang-at-ready", Timeouts{Ready: short}, 2,
			[]string{`waiting for "ready": it did not come within 310ms; process `, " is S (sleeping): last words: still dialling"}}, // 300 ms + 10 ms of warm-up
		{"driver:die-in-the-middle", Timeouts{}, 2, []string{"exited (exit status 2) while ", "its window", ": last words: panic: the middle"}},
		{"driver:hang-at-done", Timeouts{Done: short}, 2, []string{`waiting for "done": it did not come within 320ms`}}, // + 20 ms window
		{"driver:bad-result", Timeouts{}, 2, []string{"its result: json: cannot unmarshal string into Go struct field"}},
		{"driver:failed", Timeouts{}, 2, []string{"the workload could not log in"}},
	} {
		t.Run(row.subject, func(t *testing.T) {
			w := newWitness(t)
			c := fakeConfig(executable(t), w.l.Addr().String())
			c.Timeouts = row.timeouts
			c.Prepare = func(_ plan.Trial, out *result.Trial) { out.Mode, out.Conns = "closed", 3 }
			trials := trialsOf(row.subject, "fine")
			if row.timeouts != (Timeouts{}) {
				trials = trials[:1]
			}
			got, err := Run(t.Context(), c, trials)
			if err != nil || len(got) != len(trials) {
				t.Fatalf("%d trials, %v", len(got), err)
			}
			rest := got[0].Error
			for _, want := range row.want {
				i := strings.Index(rest, want)
				if i < 0 {
					t.Fatalf("%q is not in (the rest of) %q", want, got[0].Error)
				}
				rest = rest[i+len(want):]
			}
			if len(got[0].Error) > 2000 || strings.Contains(got[0].Error, "\n") {
				t.Errorf("the error is not one line of moderate length: %d bytes", len(got[0].Error))
			}
			if got[0].Subject != row.subject || got[0].Order != 1 || got[0].Mode != "closed" || got[0].Kind != "bakeoff-trial" {
				t.Errorf("the failed trial is not told apart: %+v", got[0])
			}
			if len(got) > 1 && (got[1].Error != "" || got[1].Outcomes.OK != 95) {
				t.Errorf("the trial after it: %+v", got[1])
			}
			w.allGone(t, row.processes+2*(len(got)-1), time.Second)
		})
	}
}

// What goes wrong after the figures are complete costs no figures; it is told.
func TestUncleanEnds(t *testing.T) {
	for _, row := range []struct{ subject, want string }{
		{"server:refuse-to-stop", "server server:refuse-to-stop did not stop: after 200ms without an end it was sent SIGKILL"},
		{"server:die-at-end", "server server:die-at-end exited (exit status 3): last words: could not flush"},
		{"driver:die-at-end", "driver driver:die-at-end exited (exit status 3): last words: after all was said"},
	} {
		t.Run(row.subject, func(t *testing.T) {
			w := newWitness(t)
			c := fakeConfig(executable(t), w.l.Addr().String())
			if strings.Contains(row.subject, "refuse") {
				c.Timeouts = Timeouts{Term: 100 * time.Millisecond, Kill: 200 * time.Millisecond}
			}
			tr := one(t, c, row.subject)
			if !slices.ContainsFunc(tr.Warnings, func(w result.Warning) bool {
				return w.Kind == "unclean_end" && strings.Contains(w.Text, row.want)
			}) {
				t.Errorf("warnings %+v lack %q", tr.Warnings, row.want)
			}
			w.allGone(t, 2, time.Second)
		})
	}
}

func TestStoreThatDies(t *testing.T) {
	w := newWitness(t)
	c := withStore(fakeConfig(executable(t), w.l.Addr().String()), w.l.Addr().String(), "die-at-start")
	got, err := Run(t.Context(), c, trialsOf("a"))
	if err != nil || len(got) != 1 || !strings.Contains(got[0].Error, "store exited (exit status 3) before it listened: last words: the port is taken") {
		t.Errorf("%+v, %v", got, err)
	}
	w.allGone(t, 1, time.Second)
}

func TestExecutableThatIsNotThere(t *testing.T) {
	c := fakeConfig(executable(t)+".not", "")
	got, err := Run(t.Context(), c, trialsOf("a"))
	if err != nil || len(got) != 1 || !strings.Contains(got[0].Error, "server a could not be started: ") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCancel(t *testing.T) {
	w := newWitness(t)
	c := fakeConfig(executable(t), w.l.Addr().String())
	interrupt := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	var kept int
	c.Sink = func(result.Trial) error { kept++; return nil }
	c.Progress = func(p Progress) {
		if p.Index == 2 && p.Phase == Measuring {
			cancel(interrupt)
		}
	}
	got, err := Run(ctx, c, trialsOf("a", "driver:hang-at-done", "c"))
	if !errors.Is(err, interrupt) {
		t.Errorf("error %v, want the cause", err)
	}
	if len(got) != 1 || kept != 1 || got[0].Subject != "a" || got[0].Error != "" {
		t.Errorf("kept %d trials: %+v; want the first, whole", kept, got)
	}
	w.allGone(t, 2+2, time.Second) // of two trials; the third never began
}

// Ctrl-C while the processes of a measured trial end does not lose the trial.
func TestCancelWhileStopping(t *testing.T) {
	c := fakeConfig(executable(t), "")
	ctx, cancel := context.WithCancel(t.Context())
	c.Progress = func(p Progress) {
		if p.Phase == Stopping {
			cancel()
		}
	}
	got, err := Run(ctx, c, trialsOf("a", "b"))
	if !errors.Is(err, context.Canceled) || len(got) != 1 || got[0].Error != "" {
		t.Errorf("%d trials, %v; want the one that was measured", len(got), err)
	}
}

func TestSinkThatFails(t *testing.T) {
	c := fakeConfig(executable(t), "")
	full := errors.New("no space left on device")
	c.Sink = func(result.Trial) error { return full }
	got, err := Run(t.Context(), c, trialsOf("a", "b"))
	if !errors.Is(err, full) || len(got) != 1 || got[0].Error != "" {
		t.Errorf("%d trials, %v; want the one that was measured and the sink's error", len(got), err)
	}
}

func TestFailFast(t *testing.T) {
	c := fakeConfig(executable(t), "")
	c.FailFast = true
	got, err := Run(t.Context(), c, trialsOf("server:die-at-start", "b"))
	if err == nil || !strings.Contains(err.Error(), "trial 1: server server:die-at-start exited") || len(got) != 1 || got[0].Error == "" {
		t.Errorf("%d trials, %v", len(got), err)
	}
}

func TestGiveUp(t *testing.T) {
	const bad = "server:die-at-start"
	subjects := []string{bad, "a", bad, bad, "a", bad}
	for _, row := range []struct {
		after int
		want  []string // what each trial is
	}{
		{2, []string{"failed", "ok", "failed", "skipped", "ok", "skipped"}},
		{0, []string{"failed", "ok", "failed", "failed", "ok", "skipped"}}, // the default is 3
		{-1, []string{"failed", "ok", "failed", "failed", "ok", "failed"}},
	} {
		w := newWitness(t)
		c := fakeConfig(executable(t), w.l.Addr().String())
		c.GiveUp = row.after
		var kept int
		c.Sink = func(result.Trial) error { kept++; return nil }
		got, err := Run(t.Context(), c, trialsOf(subjects...))
		if err != nil {
			t.Fatal(err)
		}
		var is []string
		started := 0
		for _, tr := range got {
			switch {
			case tr.Error == "":
				is = append(is, "ok")
				started += 2
			case strings.HasPrefix(tr.Error, "skipped: ") && strings.Contains(tr.Error, "in a row failed before it, lastly: server server:die-at-start exited"):
				is = append(is, "skipped")
			default:
				is = append(is, "failed")
				started++
			}
		}
		if d := cmp.Diff(row.want, is); d != "" {
			t.Errorf("giving up after %d: %s", row.after, d)
		}
		if kept != len(subjects) {
			t.Errorf("the sink got %d of %d trials", kept, len(subjects))
		}
		w.allGone(t, started, time.Second)
	}
}

// Even SIGKILL, of which this process learns nothing, leaves no children behind, and even of such as ignore that
// their stdin has ended.
func TestChildrenEndWithTheirParent(t *testing.T) {
	w := newWitness(t)
	cmd := exec.Command(executable(t))
	cmd.Env = append(os.Environ(), fakeEnv+"=parent:", witnessEnv+"="+w.l.Addr().String())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var phase string
	for phase != string(Measuring) {
		if _, err := fmt.Fscanln(out, &phase); err != nil && phase != "warming" { // "warming up" is two words
			cmd.Process.Kill()
			t.Fatalf("after %q: %v", phase, err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	w.allGone(t, 1+2, 10*time.Second)
}

func TestConfigIsChecked(t *testing.T) {
	whole := fakeConfig("exe", "")
	for _, row := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Executable = "" }, "no executable"},
		{func(c *Config) { c.Server = nil }, "how to start the server and the driver"},
		{func(c *Config) { c.Driver = nil }, "how to start the server and the driver"},
	} {
		c := whole
		row.change(&c)
		if _, err := Run(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("error %v, want %q", err, row.want)
		}
	}
}

func TestProgressRemaining(t *testing.T) {
	r := &runner{Config: Config{}, total: 3, now: &family{}}
	trials := trialsOf("a", "b", "c") // 30 ms each
	var got time.Duration
	r.Progress = func(p Progress) { got = p.Remaining }
	for _, row := range []struct {
		measured     int
		beyond, left time.Duration
		rest         int
		want         time.Duration
	}{
		{0, 0, time.Second, 2, time.Second + 2*(30*time.Millisecond+plan.Overhead)}, // nothing is known yet
		{2, 400 * time.Millisecond, 0, 2, 2 * (30 + 400/2) * time.Millisecond},
		{2, 400 * time.Millisecond, -time.Second, 0, 0}, // the group takes longer than was thought
	} {
		r.measured, r.beyond, r.left, r.rest = row.measured, row.beyond, row.left, trials[3-row.rest:]
		r.progress(Measuring, nil)
		if got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}
