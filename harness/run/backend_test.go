package run

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// withBackend gives the trials of "front" a backend. Its processes are seen by the witness.
func withBackend(c Config, witness, mode string) Config {
	c.Backend = func(t plan.Trial, store string) *Command {
		if t.Subject != "front" {
			return nil
		}
		b := fakeCommand(Backend, mode)
		b.Args, b.Env = []string{store}, append(b.Env, witnessEnv+"="+witness)
		return &b
	}
	return c
}

// A backend stands between the server and the store, and is metered apart. A server beside it that answers by itself has none, and the
// same CPUs.
func TestBackend(t *testing.T) {
	w := newWitness(t)
	addr := w.l.Addr().String()
	c := withBackend(withStore(fakeConfig(executable(t), addr), addr, "normal"), addr, "normal")
	var told [][2]string
	start := c.Server
	c.Server = func(t plan.Trial, behind string) Command {
		told = append(told, [2]string{t.Subject, behind})
		return start(t, behind)
	}
	c.CountCalls = true
	got, err := Run(t.Context(), c, trialsOf("alone", "front"))
	if err != nil || len(got) != 2 || got[0].Error != "" || got[1].Error != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	alone, front := got[0], got[1]
	values := []string{result.BackendCPU, result.BackendCPUPerReq, result.BackendRSS, result.BackendSwitches, result.BackendCalls}
	for _, name := range values {
		if v, ok := alone.Values[name]; ok {
			t.Errorf("a server that answers by itself has %s %v", name, v)
		}
		if _, ok := front.Values[name]; !ok {
			t.Errorf("a front's %s is unknown", name)
		}
	}
	if alone.CPUSets[Server] != front.CPUSets[Server] || runtime.NumCPU() > 1 && front.CPUSets[Backend] == "" {
		t.Errorf("CPUs: %v and %v, want the same for both servers", alone.CPUSets, front.CPUSets)
	}
	// The fake backend counts no calls; 95 to 110 were made.
	want := result.Warning{Kind: result.WarnServerCount, Text: "the backend handled 0 calls, the driver started 110, of which 95 succeeded"}
	if !slices.Contains(front.Warnings, want) || slices.Contains(alone.Warnings, want) {
		t.Errorf("warnings of the front: %+v, of the server alone: %+v; want %+v in the first", front.Warnings, alone.Warnings, want)
	}
	if len(told) != 2 || told[0][1] == "" || told[1][1] == "" || told[0][1] == told[1][1] {
		t.Errorf("servers were told %v, want the store's address and the backend's", told)
	}
	w.allGone(t, 7, time.Second)
}

func TestBackendDies(t *testing.T) {
	for mode, want := range map[string]string{
		"die-at-start": "backend of front exited (exit status 3) before it listened: last words: the port is taken",
		"no-address":   "backend of front listens, but does not say at which address",
	} {
		w := newWitness(t)
		addr := w.l.Addr().String()
		got, err := Run(t.Context(), withBackend(fakeConfig(executable(t), addr), addr, mode), trialsOf("front"))
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0].Error, want) {
			t.Errorf("%s: got %+v, %v, want the error %q", mode, got, err, want)
		}
		w.allGone(t, 1, time.Second)
	}
}
