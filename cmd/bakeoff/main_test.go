package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// asBakeoff makes the test's binary be bakeoff itself.
const asBakeoff = "BAKEOFF_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asBakeoff) != "" && !slices.Contains(os.Args, "-test.fuzzworker") { // a worker of go test -fuzz inherits it
		main()
	}
	os.Setenv(asBakeoff, "1")
	os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector sleeps a second at the end of each process; a trial has three
	code := 1
	defer func() { os.Exit(code) }()
	dir, err := os.MkdirTemp("", "bakeoff-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer os.RemoveAll(dir)
	plain = filepath.Join(dir, "bakeoff")
	if out, err := exec.Command("go", "build", "-o", plain, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the command: %v\n%s", err, out)
		return
	}
	ownFile = func() (string, error) { return plain, nil }
	// fasthttp's first server starts the clock of the Date header for the life of the process.
	if code = m.Run(); code == 0 {
		if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
}

// plain is the command as it is built for use. Runs start it as server and driver, for the race detector makes those several times as slow:
// what they are made of is tested under it elsewhere, and by the tests that call racing.
var plain string

// racing has the runs of a test start the test's own binary as server and driver, under the race detector where the test is.
func racing(t *testing.T) {
	t.Helper()
	ownFile = os.Executable
	t.Cleanup(func() { ownFile = func() (string, error) { return plain, nil } })
}

// ran is what a command printed and how it ended.
type ran struct {
	code     int
	out, err string
}

// bakeoff runs a command line in this process.
func bakeoff(t *testing.T, args ...string) ran {
	t.Helper()
	return bakeoffUntil(t, t.Context(), nil, args...)
}

// bakeoffUntil is bakeoff under a context, with a look at every piece of stderr as it is written.
func bakeoffUntil(t *testing.T, ctx context.Context, look func(stderr string), args ...string) ran {
	t.Helper()
	var out bytes.Buffer
	errOut := &watched{look: look}
	code := run(ctx, args, strings.NewReader(""), &out, errOut)
	return ran{code, out.String(), errOut.String()}
}

// watched keeps what is written, and shows it as it comes.
type watched struct {
	mu   sync.Mutex
	b    strings.Builder
	look func(string)
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p)
	if w.look != nil {
		w.look(string(p))
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// spoilt is what a run of two short rounds may say of its rows on a machine that is busy with something else.
var spoilt = regexp.MustCompile(`(?m)^bakeoff: not what was to be measured: (.* \((drift|throttled|little|, )+\)(, )?)+: see the report$`)

// measured fails unless the run went to its end, and its figures are what was to be measured, or only the machine has spoilt them.
func measured(t *testing.T, r ran) {
	t.Helper()
	if r.code != exitOK && (r.code != exitIncomplete || !spoilt.MatchString(r.err)) {
		t.Fatalf("exit code %d:\n%s", r.code, r.err)
	}
}

// wantAll fails for each part that text does not hold.
func wantAll(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}
