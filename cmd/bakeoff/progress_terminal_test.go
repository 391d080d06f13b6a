package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/sys/unix"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
)

// terminalOf opens a pseudo-terminal of so many columns: what is written to it, and read gives all of that once it is closed.
func terminalOf(t *testing.T, columns uint16) (f *os.File, resize func(columns uint16), read func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	f, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	resize = func(columns uint16) {
		if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
			t.Fatal(err)
		}
	}
	resize(columns)
	all := make(chan string)
	go func() {
		b, _ := io.ReadAll(master) // ends with an error when the other side is closed
		all <- string(b)
	}()
	return f, resize, func() string {
		f.Close()
		return <-all
	}
}

// escapes are those that the bar's line may have.
var escapes = regexp.MustCompile(`\x1b\[[0-9]*K`)

// someProgress tells of a trial from its start to its end, and between calls narrower.
func someProgress(w io.Writer, narrower func()) {
	j := &job{settings: plan.Settings{Rounds: 10}}
	for round := range 10 {
		j.trials = append(j.trials, plan.Trial{Round: round + 1})
	}
	p := newProgress(w, j)
	at := harness.Progress{Phase: harness.Starting, Index: 1, Trial: plan.Trial{Round: 10, Subject: "front-grpc-idle2-close", Concurrency: 800}, Remaining: 83 * time.Second}
	p.trial(at)
	at.Phase, at.Now = harness.Measuring, &harness.Now{Rate: 123456, OK: 1, Failed: 12345678}
	p.trial(at)
	narrower()
	p.say("a line between")
	at.Phase, at.Now, at.Result = harness.Finished, nil, &result.Trial{}
	p.trial(at)
	at.Index = 5
	p.trial(at)
	p.more(20, 10)
	p.close()
}

// TestBarKeepsToTheTerminal draws the bar's line on terminals of several widths: it never has more columns than the terminal has.
func TestBarKeepsToTheTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for _, row := range []struct {
		columns, later int
		says           string
	}{
		{132, 132, "block 10/10 front-grpc-idle2-close@800 123456/s, 12345678 failed, 1m23s left"},
		{80, 80, "block 10/10 front-grpc-idle2-close@800 123456/s, 1m23s left"},
		{80, 40, "10/10, 1m23s left"},
		{60, 60, "10/10 front-grpc-idle2-close@800, 1m23s left"},
		{40, 40, "10/10, 1m23s left"},
		{24, 24, "10/10, 1~ "},
		{12, 12, "%"},
	} {
		f, resize, read := terminalOf(t, uint16(row.columns))
		someProgress(f, func() { resize(uint16(row.later)) })
		before, after, ok := strings.Cut(read(), "a line between\r\n")
		if !ok || !strings.Contains(before+after, row.says) {
			t.Errorf("%d columns: no %q in %q", row.columns, row.says, before+after)
		}
		for i, part := range []string{before, after} {
			for _, line := range strings.FieldsFunc(part, func(r rune) bool { return r == '\r' || r == '\n' }) {
				columns := []int{row.columns, row.later}[i]
				if n := text.StringWidthWithoutEscSequences(escapes.ReplaceAllString(line, "")); n > columns {
					t.Errorf("%d columns: %q has %d", columns, line, n)
				}
			}
			if strings.Contains(part, "\n") {
				t.Errorf("%d columns: %q has a second line", row.columns, part)
			}
		}
	}
}

// TestTerminalWithoutEscapes has plain lines.
func TestTerminalWithoutEscapes(t *testing.T) {
	t.Setenv("TERM", "dumb")
	f, _, read := terminalOf(t, 40)
	someProgress(f, func() {})
	got := read()
	wantAll(t, got, "block 10 of 10: 1 trial, about 1m23s left\r\n", "a line between\r\n")
	if strings.Contains(got, "\x1b") {
		t.Errorf("escapes in %q", got)
	}
}
