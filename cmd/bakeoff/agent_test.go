package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bakeoff/harness/admin"
	"bakeoff/harness/meter"
)

// process starts this binary as bakeoff, in a process of its own, and gives the first line that it says.
func process(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // a test may have ended it
		_ = cmd.Wait()
	})
	line := make([]byte, 1000)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return cmd, string(line[:n])
}

// TestAgent reads a process of somebody else's, and says so when it is gone.
func TestAgent(t *testing.T) {
	other, _ := process(t, "serve", "store", "--addr", "127.0.0.1:0")
	pid := other.Process.Pid
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	byID := start(t, ctx, "agent", "--pid", strconv.Itoa(pid))
	line := byID.line(t)
	wantAll(t, line, "process "+strconv.Itoa(pid)+" ("+meter.Name(pid)+")")
	c := dialled(t, address(t, line))
	if i := c.Info(); i.Role != admin.RoleAgent || i.Examines || !strings.Contains(i.Serves, strconv.Itoa(pid)) {
		t.Errorf("it says of itself %+v", i)
	}
	before, err := c.Usage(ctx)
	if err != nil || before.PID != pid || before.RSS == nil || before.Counters != nil || before.Throttled != nil {
		t.Fatalf("%+v, %v", before, err)
	}
	near, err := meter.Read(pid)
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Usage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if near.CPU < before.CPU || after.CPU < near.CPU || after.Uptime <= before.Uptime || *near.Born != *after.Born {
		t.Errorf("readings %+v, %+v beside %+v", before, after, near)
	}
	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait() // killed
	if u, err := c.Usage(ctx); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("of a process that is gone: %+v, %v", u, err)
	}
	if r := bakeoff(t, "health", "http://"+address(t, line)+"/ready"); r.code != exitFailed || !strings.Contains(r.err, "gone") {
		t.Errorf("ready, with a process that is gone: exit code %d, %s", r.code, r.err)
	}
	stop()
	byID.ended(t, exitOK)

	r := bakeoff(t, "agent", "--pid", strconv.Itoa(pid))
	if r.code != exitFailed {
		t.Errorf("exit code %d", r.code)
	}
	wantAll(t, r.err, strconv.Itoa(pid), "gone")
}

// TestAgentByName finds a process by its name, and the next one of that name when it is gone.
func TestAgentByName(t *testing.T) {
	// A program is named by the path that it was started by, so that no other process of this machine has the name.
	const name = "bakeoff-agent-t"
	link := filepath.Join(t.TempDir(), name)
	sleep, err := exec.LookPath("cat") // waits for the end of its stdin
	if err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(sleep, link); err != nil {
		t.Fatal(err)
	}
	run := func() *exec.Cmd {
		cmd := exec.Command(link)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
		return cmd
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if r := bakeoff(t, "agent", "--name", name); r.code != exitFailed {
		t.Errorf("of a process that is not there: exit code %d: %s", r.code, r.err)
	}
	// It waits for the first one, too.
	agent := start(t, ctx, "agent", "--name", name, "--wait")
	line := agent.line(t)
	wantAll(t, line, "the process named "+name)
	if _, err := admin.Dial(ctx, address(t, line)); err == nil || !strings.Contains(err.Error(), "not ready") {
		t.Errorf("before there is a process: %v", err)
	}
	first := run()
	wantAll(t, agent.line(t), "the process named "+name+" is there")
	c := dialled(t, address(t, line))
	if u, err := c.Usage(ctx); err != nil || u.PID != first.Process.Pid {
		t.Errorf("%+v, %v; want process %d", u, err, first.Process.Pid)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // killed
	if u, err := c.Usage(ctx); err == nil || !strings.Contains(err.Error(), "no process is named") {
		t.Errorf("%+v, %v", u, err)
	}
	second := run()
	if u, err := c.Usage(ctx); err != nil || u.PID != second.Process.Pid {
		t.Errorf("%+v, %v; want process %d", u, err, second.Process.Pid)
	}
	stop()
	agent.ended(t, exitOK)
}

// TestAgentOfGroup reads a control group of this machine, where it has one that counts.
func TestAgentOfGroup(t *testing.T) {
	if _, err := meter.FindGroup("/"); err != nil {
		r := bakeoff(t, "agent", "--cgroup", "/")
		if r.code != exitFailed {
			t.Errorf("exit code %d", r.code)
		}
		wantAll(t, r.err, "--cgroup", "/proc/PID/cgroup")
		t.Skip(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	agent := start(t, ctx, "agent", "--cgroup", "/")
	line := agent.line(t)
	wantAll(t, line, "control group /")
	if u, err := dialled(t, address(t, line)).Usage(ctx); err != nil || u.CPU <= 0 || u.PID != 0 || u.RSSPeak != nil {
		t.Errorf("%+v, %v", u, err)
	}
	stop()
	agent.ended(t, exitOK)
}
