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
	id, err := exec.CommandContext(c.t.Context(), "docker", "ps", "--quiet",
		"--filter", "label=com.docker.compose.project="+c.project, "--filter", "label=com.docker.compose.service="+service).Output()
	if err != nil || len(id) == 0 {
		c.t.Fatalf("the container of %s: %q, %v", service, id, err)
	}
	if out, err := exec.CommandContext(c.t.Context(), "docker", append(args, strings.TrimSpace(string(id)))...).CombinedOutput(); err != nil {
		c.t.Fatalf("docker %v of %s: %v\n%s", args, service, err, out)
	}
}

// ended is how a command that showed the run's output ended.
type ended struct {
	out  string
	code int
}

// watch runs a command to its end; at a line that holds mark it does then, once.
func (c *composition) watch(cmd *exec.Cmd, mark string, then func()) ended {
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
		if then != nil && strings.Contains(lines.Text(), mark) {
			then()
			then = nil
		}
	}
	if then != nil && mark != "" {
		c.t.Errorf("there was no line with %q", mark)
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
	got := c.watch(c.command(t.Context(), "up", "--build", "--exit-code-from", "run", "run"), "", nil)
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
	c := compose(t, "--concurrency 1000")
	got := c.watch(c.command(t.Context(), "up", "--no-build", "--exit-code-from", "run", "run"), "", nil)
	if got.code != 1 || !strings.Contains(got.out, "start it with --in-flight 1000") {
		t.Errorf("exit code %d, want 1, and the mend in:\n%s", got.code, got.out)
	}
}

// TestSubjectKilled: the rows of a server that dies in mid-run say so, the others are reported, and the code says that not all was measured.
func TestSubjectKilled(t *testing.T) {
	const rounds = 8
	c := compose(t, fmt.Sprintf("--rounds %d --duration 300ms --warmup 100ms", rounds))
	got := c.watch(c.command(t.Context(), "up", "--no-build", "--exit-code-from", "run", "run"), "block 2 of", func() { c.docker("thrift", "kill") })
	if got.code != 3 {
		t.Errorf("exit code %d, want 3: the report stands, and something in it was not measured", got.code)
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

// TestStoreRestarted: calls fail as unavailable while the store is away, and succeed again with nothing done.
func TestStoreRestarted(t *testing.T) {
	c := compose(t, "--rounds 8 --duration 500ms --warmup 100ms")
	got := c.watch(c.command(t.Context(), "up", "--no-build", "--exit-code-from", "run", "run"), "block 2 of", func() { c.docker("store", "restart", "--time", "1") })
	f := c.file()
	var unavailable uint64
	for _, tr := range f.Trials {
		for class, n := range tr.Outcomes.Failed {
			if strings.Contains(strings.ToLower(class), "unavailable") {
				unavailable += n
			}
		}
	}
	if unavailable == 0 {
		t.Error("no call failed as unavailable")
	}
	for _, s := range subjects {
		all := trials(f, s)
		if len(all) != 8 {
			t.Errorf("%s: %d trials, want 8", s, len(all))
			continue
		}
		if last := all[len(all)-1]; last.Error != "" || last.Outcomes.OK == 0 || failures(last) > 0 {
			t.Errorf("%s has not recovered: %+v, error %q", s, last.Outcomes, last.Error)
		}
	}
	if got.code != 3 {
		t.Errorf("exit code %d, want 3", got.code)
	}
}

// TestInterrupted: after Ctrl-C nothing is left but what was measured.
func TestInterrupted(t *testing.T) {
	c := compose(t, "--rounds 100 --duration 300ms --warmup 100ms")
	cmd := c.prepare(exec.CommandContext(t.Context(), "docker/up.sh", "--embedded"))
	cmd.Env = append(cmd.Env, "COMPOSE_TOOL="+strings.Join(c.tool, " "))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal signals the whole group
	got := c.watch(cmd, "block 2 of", func() {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
			t.Error(err)
		}
	})
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

// TestUpRefuses: docker/up.sh leaves alone what runs under its name already, and takes no words that it does not know.
func TestUpRefuses(t *testing.T) {
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
		if got := c.watch(cmd, "", nil); got.code != row.code || !strings.Contains(got.out, row.want) {
			t.Errorf("%v: exit code %d, want %d and %q", row.args, got.code, row.code, row.want)
		}
	}
	c.docker("store", "top") // fails where it does not run
}
