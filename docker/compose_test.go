//go:build compose

// Package docker_test runs the composition with the embedded store for real, and breaks it. It needs a Docker Engine and a
// compose tool; .ci/compose prepares the images and runs it with each tool that there is (COMPOSE_TOOL).
package docker_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bakeoff/harness/result"
)

// subjects are those that the composition serves.
var subjects = []string{"grpc", "thrift", "http"}

// composition is one project of the compose tool, with names and results of its own.
type composition struct {
	t       *testing.T
	tool    []string
	project string
	results string
	flags   string // of the run
}

var projects atomic.Int64

// compose makes a project and takes it down at the end of the test, whatever became of it.
func compose(t *testing.T, runFlags string) *composition {
	t.Helper()
	c := &composition{
		t: t, tool: strings.Fields(cmp.Or(os.Getenv("COMPOSE_TOOL"), "docker-compose")), flags: runFlags,
		project: fmt.Sprintf("bakeoff-ci-%s-%d", cmp.Or(os.Getenv("COMPOSE_TEST_ID"), strconv.Itoa(os.Getpid())), projects.Add(1)), results: t.TempDir(),
	}
	// The run's user is root of its container, or nobody of this machine: as on a checkout, the folder is somebody else's.
	if err := os.Chmod(c.results, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := c.command(context.Background(), "logs", "--no-color", "store", "agent", "grpc", "thrift", "http").CombinedOutput()
			t.Logf("logs of the containers:\n%s", out)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if out, err := c.command(ctx, "down", "--timeout", "2").CombinedOutput(); err != nil {
			t.Errorf("down: %v\n%s", err, out)
		}
	})
	return c
}

func (c *composition) command(ctx context.Context, args ...string) *exec.Cmd {
	args = append(append(c.tool[1:len(c.tool):len(c.tool)], "-f", "docker-compose.yml", "-f", "docker-compose.embedded.yml"), args...)
	return c.prepare(exec.CommandContext(ctx, c.tool[0], args...))
}

// prepare gives a command the project's environment, in the folder of the checkout.
func (c *composition) prepare(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "COMPOSE_PROJECT_NAME="+c.project, "RESULTS="+c.results, "RUN_FLAGS="+c.flags)
	return cmd
}

// docker does something to the container of a service, at once: the compose tool takes seconds to start on a busy machine.
func (c *composition) docker(service string, args ...string) {
	c.t.Helper()
	if out, err := exec.CommandContext(c.t.Context(), "docker", append(args, c.container(service))...).CombinedOutput(); err != nil {
		c.t.Fatalf("docker %v of %s: %v\n%s", args, service, err, out)
	}
}

func (c *composition) container(service string) (id string) {
	c.t.Helper()
	out, err := exec.CommandContext(c.t.Context(), "docker", "ps", "--all", "--quiet",
		"--filter", "label=com.docker.compose.project="+c.project, "--filter", "label=com.docker.compose.service="+service).Output()
	if err != nil || len(out) == 0 {
		c.t.Fatalf("the container of %s: %q, %v", service, out, err)
	}
	return strings.TrimSpace(string(out))
}

// well asks a service within its container until it is well.
func (c *composition) well(service, address string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	id := c.container(service)
	for {
		out, err := exec.CommandContext(ctx, "docker", "exec", id, "/bakeoff", "health", address).CombinedOutput()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			c.t.Fatalf("%s is not well: %v\n%s", service, err, out)
		}
	}
}

// until waits until the run's file has what is wanted: its lines come later to who reads them by the compose tool, on a busy machine by several
// trials.
func (c *composition) until(what string, there func(done []result.Trial) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if names, err := filepath.Glob(filepath.Join(c.results, "*.jsonl")); err == nil && len(names) == 1 {
			if f, err := result.ReadFile(names[0]); err == nil && there(f.Trials) { // its last line may be half there yet
				return
			}
		}
		select {
		case <-ctx.Done():
			c.t.Errorf("the run's file does not have %s", what)
			return
		case <-tick.C:
		}
	}
}

// ended is how a command that showed the run's output ended.
type ended struct {
	out  string
	code int
}

// at is what is done when the output of a command has a line that holds mark.
type at struct {
	mark string
	do   func()
}

// watch runs a command to its end, and takes the steps one after another.
func (c *composition) watch(cmd *exec.Cmd, steps ...at) ended {
	c.t.Helper()
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	var waited error
	go func() {
		waited = cmd.Wait()
		w.Close()
	}()
	var all bytes.Buffer
	for lines := bufio.NewScanner(r); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if len(steps) > 0 && strings.Contains(lines.Text(), steps[0].mark) {
			steps[0].do()
			steps = steps[1:]
		}
	}
	if len(steps) > 0 {
		c.t.Errorf("there was no line with %q", steps[0].mark)
	}
	var exit *exec.ExitError
	if waited != nil && !errors.As(waited, &exit) {
		c.t.Fatal(waited)
	}
	c.t.Logf("%v:\n%s", cmd.Args, all.String())
	return ended{all.String(), cmd.ProcessState.ExitCode()}
}

// file is the run's result file.
func (c *composition) file() result.File {
	c.t.Helper()
	names, err := filepath.Glob(filepath.Join(c.results, "*.jsonl"))
	if err != nil || len(names) != 1 {
		c.t.Fatalf("result files: %v, %v: want one", names, err)
	}
	f, err := result.ReadFile(names[0])
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

// trials are those of a subject, in their order.
func trials(f result.File, subject string) []result.Trial {
	var all []result.Trial
	for _, t := range f.Trials {
		if t.Subject == subject {
			all = append(all, t)
		}
	}
	return all
}

func failures(t result.Trial) (n uint64) {
	for _, of := range t.Outcomes.Failed {
		n += of
	}
	return n
}

// wantSound fails for trials that are not whole: a subject that nothing was done to.
func wantSound(t *testing.T, f result.File, subject string, rounds int) {
	t.Helper()
	all := trials(f, subject)
	if len(all) != rounds {
		t.Errorf("%s: %d trials, want %d", subject, len(all), rounds)
	}
	for _, tr := range all {
		if tr.Error != "" || tr.Outcomes.OK == 0 || failures(tr) > 0 {
			t.Errorf("%s in round %d: %+v, error %q", subject, tr.Round, tr.Outcomes, tr.Error)
		}
	}
}

// TestTable is the demo: build, wait for health, run, print the table, keep the results, end with the run's exit code.
func TestTable(t *testing.T) {
	c := compose(t, "--rounds 2 --duration 300ms --warmup 100ms -o table -o json=/results/report.json")
	got := c.watch(c.command(t.Context(), "up", "--build", "--exit-code-from", "run", "run"))
	if got.code != 0 {
		t.Errorf("exit code %d, want 0", got.code)
	}
	for _, want := range []string{"conformance: grpc gives the agreed answers", "datatype, closed loop, miniaero", "grpc @ 50", "thrift @ 50", "http @ 50", "raw results: results/"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is missing in the output", want)
		}
	}
	f := c.file()
	for _, s := range subjects {
		wantSound(t, f, s, 2)
		for _, tr := range trials(f, s) {
			// From the admin listener of the server, the run's own process, and the agent in the store's pid namespace.
			for _, figure := range []string{result.ServerCPU, result.ClientCPU, result.StoreCPU} {
				if tr.Values[figure] <= 0 {
					t.Errorf("%s: %s is %v; there are %v", s, figure, tr.Values[figure], tr.Values)
				}
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(c.results, "report.json")); err != nil || len(b) == 0 {
		t.Errorf("report.json: %d bytes, %v", len(b), err)
	}
}

// TestExitCode: what the run refuses ends the composition with the run's code.
func TestExitCode(t *testing.T) {
	t.Parallel()
	c := compose(t, "--concurrency 1000")
	got := c.watch(c.command(t.Context(), "up", "--no-build", "--exit-code-from", "run", "run"))
	if got.code != 1 || !strings.Contains(got.out, "start it with --in-flight 1000") {
		t.Errorf("exit code %d, want 1, and the mend in:\n%s", got.code, got.out)
	}
}

// TestSubjectKilled: the rows of a server that dies in mid-run say so, the others are reported, and the code says that something failed.
func TestSubjectKilled(t *testing.T) {
	const rounds = 6
	c := compose(t, fmt.Sprintf("--rounds %d --duration 300ms --warmup 100ms", rounds))
	got := c.watch(c.command(t.Context(), "up", "--no-build", "--exit-code-from", "run", "run"), at{"block 1 of", func() {
		c.until("a block", func(done []result.Trial) bool { return len(done) >= len(subjects) })
		c.docker("thrift", "kill")
	}})
	if got.code != 1 {
		t.Errorf("exit code %d, want 1: trials failed", got.code)
	}
	f := c.file()
	wantSound(t, f, "grpc", rounds)
	wantSound(t, f, "http", rounds)
	broken := 0
	for _, tr := range trials(f, "thrift") {
		if tr.Error != "" || failures(tr) > 0 {
			broken++
		}
	}
	if last := trials(f, "thrift")[rounds-1]; broken == 0 || last.Error == "" {
		t.Errorf("%d trials of thrift are broken, the last with error %q", broken, last.Error)
	}
	if !strings.Contains(got.out, "grpc @ 50") || !strings.Contains(got.out, "thrift at 50: FAILED") {
		t.Error("the output does not say who failed, or has no row of the others")
	}
}

// TestStoreAway: calls fail as unavailable while the store is away, succeed again when it is back, and what it uses is known again, with
// nothing done. It is away until a trial has failed for it; the run then waits until it is well, so that not all of its trials are over before.
func TestStoreAway(t *testing.T) {
	const rounds = 6
	c := compose(t, fmt.Sprintf("--rounds %d --duration 300ms --warmup 700ms", rounds))
	got := c.watch(c.command(t.Context(), "up", "--no-build", "--exit-code-from", "run", "run"),
		at{"block 1 of", func() {
			c.until("a block", func(done []result.Trial) bool { return len(done) >= len(subjects) })
			c.docker("store", "kill")
			c.until("a trial that failed", func(done []result.Trial) bool {
				return slices.ContainsFunc(done, func(tr result.Trial) bool { return tr.Error != "" || failures(tr) > 0 })
			})
			c.docker("run", "pause")
			c.docker("store", "start")
			c.well("store", "aerospike://127.0.0.1:3000/test")
			c.docker("run", "unpause")
		}})
	f := c.file()
	unavailable, want := uint64(0), 3
	for _, tr := range f.Trials {
		for class, n := range tr.Outcomes.Failed {
			if strings.Contains(strings.ToLower(class), "unavailable") {
				unavailable += n
			}
		}
		if tr.Error != "" { // the store was away for the whole of it
			want = 1
			if strings.Contains(strings.ToLower(tr.Error), "unavailable") {
				unavailable++
			}
		}
	}
	if unavailable == 0 {
		t.Error("no call failed as unavailable")
	}
	if got.code != want {
		t.Errorf("exit code %d, want %d", got.code, want)
	}
	for _, s := range subjects {
		all := trials(f, s)
		if len(all) != rounds {
			t.Errorf("%s: %d trials, want %d", s, len(all), rounds)
			continue
		}
		for _, tr := range []result.Trial{all[0], all[rounds-1]} {
			if tr.Error != "" || tr.Outcomes.OK == 0 || failures(tr) > 0 || tr.Values[result.StoreCPU] <= 0 {
				t.Errorf("%s in round %d: %+v, error %q, the store's CPU %v", s, tr.Round, tr.Outcomes, tr.Error, tr.Values[result.StoreCPU])
			}
		}
	}
}

// TestInterrupted: after Ctrl-C nothing is left but what was measured.
func TestInterrupted(t *testing.T) {
	c := compose(t, "--rounds 100 --duration 300ms --warmup 100ms")
	cmd := c.prepare(exec.CommandContext(t.Context(), "docker/up.sh", "--embedded"))
	cmd.Env = append(cmd.Env, "COMPOSE_TOOL="+strings.Join(c.tool, " "))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal signals the whole group
	got := c.watch(cmd, at{"block 2 of", func() {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
			t.Error(err)
		}
	}})
	if got.code != 130 {
		t.Errorf("exit code %d after an interrupt, want 130", got.code)
	}
	for _, what := range [][]string{{"ps", "--all"}, {"network", "ls"}} {
		out, err := exec.Command("docker", append(what, "--quiet", "--filter", "label=com.docker.compose.project="+c.project)...).Output()
		if err != nil || len(bytes.TrimSpace(out)) > 0 {
			t.Errorf("docker %v: left %q, %v", what, out, err)
		}
	}
	if f := c.file(); len(f.Trials) < 3 || len(f.Trials) >= 300 {
		t.Errorf("%d trials are kept, want those of a block or two", len(f.Trials))
	}
}

// TestUpSaysWhy: a server that can't start keeps the run from it, and its words are shown.
func TestUpSaysWhy(t *testing.T) {
	t.Parallel()
	c := compose(t, "")
	cmd := c.prepare(exec.CommandContext(t.Context(), "docker/up.sh", "--embedded"))
	cmd.Env = append(cmd.Env, "COMPOSE_TOOL="+strings.Join(c.tool, " "), "IN_FLIGHT=many")
	if got := c.watch(cmd); got.code != 1 || !strings.Contains(got.out, "the run was not started") || !strings.Contains(got.out, `--in-flight "many": must be a whole number`) {
		t.Errorf("exit code %d, want 1, and the server's words in:\n%s", got.code, got.out)
	}
}

// TestUpRefuses: docker/up.sh leaves alone what runs under its name already, and takes no words that it does not know.
func TestUpRefuses(t *testing.T) {
	t.Parallel()
	c := compose(t, "")
	if out, err := c.command(t.Context(), "up", "--no-build", "--detach", "store").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, row := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--embedded"}, 1, "the project " + c.project + " has containers already"},
		{[]string{"--embedded", "extra"}, 2, "extra is unknown"},
	} {
		cmd := c.prepare(exec.CommandContext(t.Context(), "docker/up.sh", row.args...))
		cmd.Env = append(cmd.Env, "COMPOSE_TOOL="+strings.Join(c.tool, " "))
		if got := c.watch(cmd); got.code != row.code || !strings.Contains(got.out, row.want) {
			t.Errorf("%v: exit code %d, want %d and %q", row.args, got.code, row.code, row.want)
		}
	}
	c.docker("store", "top") // fails where it does not run
}
