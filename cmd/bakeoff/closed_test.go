package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
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
