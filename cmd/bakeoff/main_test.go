package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// asBakeoff makes the test's binary be bakeoff itself: run starts its own executable for servers and drivers.
const asBakeoff = "BAKEOFF_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asBakeoff) != "" && !slices.Contains(os.Args, "-test.fuzzworker") { // a worker of go test -fuzz inherits it
		main()
	}
	os.Setenv(asBakeoff, "1")
	os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector sleeps a second at the end of each process; a trial has three
	// fasthttp's first server starts the clock of the Date header for the life of the process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
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

// wantAll fails for each part that text does not hold.
func wantAll(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}
