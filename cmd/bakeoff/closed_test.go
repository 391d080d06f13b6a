package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// TestClosedStdout starts bakeoff without a stdout, and with some that are to be left in peace.
func TestClosedStdout(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for redirect, warned := range map[string]bool{">&-": true, "1<>/dev/null": true, ">/dev/null": false, "| cat >/dev/null": false} {
		var errOut strings.Builder
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `"$0" list `+redirect, exe)
		cmd.Stderr = &errOut
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", redirect, err)
		}
		if got := strings.Contains(errOut.String(), "warning: stdout is closed"); got != warned {
			t.Errorf("%s: warned %t, want %t: %s", redirect, got, warned, errOut.String())
		}
	}
}

// TestRunOutlivesItsReaders: who reads a line of what a run says and goes away does not end it, and what goes elsewhere is written.
func TestRunOutlivesItsReaders(t *testing.T) {
	for _, row := range []struct {
		pipes string // where stderr and stdout go: pipes, each with one reader of a line
		codes []int
	}{
		{"2>&1 >out | head -n 1 >line", []int{exitOK, exitIncomplete}},
		{"2>err | true", []int{exitFailed}}, // the table has no reader
	} {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "bash", "-c",
			`"$0" run --subjects http --duration 200ms --warmup 50ms --rounds 2 --store memory --results r.jsonl -o table -o json=r.json `+row.pipes+`; exit "${PIPESTATUS[0]}"`, plain)
		cmd.Dir = dir
		said, _ := cmd.CombinedOutput() // the code tells
		if code := cmd.ProcessState.ExitCode(); !slices.Contains(row.codes, code) {
			t.Errorf("%s: exit code %d, want one of %v: %s", row.pipes, code, row.codes, said)
		}
		if f, err := result.ReadFile(filepath.Join(dir, "r.jsonl")); err != nil || len(f.Trials) != 2 {
			t.Errorf("%s: %d trials, %v; want 2", row.pipes, len(f.Trials), err)
		}
		if _, err := os.Stat(filepath.Join(dir, "r.json")); err != nil {
			t.Errorf("%s: %v", row.pipes, err)
		}
	}
}
