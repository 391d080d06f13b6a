package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// inTurns is one group of those subjects.
func inTurns(turns int, subjects ...string) []plan.Trial {
	all := trialsOf(subjects...)
	for i := range all {
		all[i].Turns = turns
	}
	return all
}

func TestAGroupMeasuresInTurns(t *testing.T) {
	w := newWitness(t)
	c := withStore(fakeConfig(executable(t), w.l.Addr().String()), w.l.Addr().String(), "normal")
	var steps []string
	var now []Now
	c.Progress = func(p Progress) {
		steps = append(steps, fmt.Sprintf("%s %d %s", p.Trial.Subject, p.Index, p.Phase))
		if p.Now != nil {
			now = append(now, *p.Now)
		}
	}
	var kept []result.Trial
	c.Sink = func(tr result.Trial) error { kept = append(kept, tr); return nil }
	began := time.Now()
	got, err := Run(t.Context(), c, inTurns(10, "a", "b", "c"))
	took := time.Since(began).Seconds()
	if err != nil || len(got) != 3 {
		t.Fatalf("%d trials, %v", len(got), err)
	}
	if d := cmp.Diff(got, kept); d != "" {
		t.Errorf("the sink got something else: %s", d)
	}
	want := strings.Split("a 1 starting,a 1 warming up,b 2 starting,b 2 warming up,c 3 starting,c 3 warming up", ",")
	for range 5 {
		want = append(want, strings.Split("a 1 measuring,b 2 measuring,c 3 measuring,c 3 measuring,b 2 measuring,a 1 measuring", ",")...)
	}
	for _, s := range []string{"a 1", "b 2", "c 3"} {
		want = append(want, s+" reporting", s+" stopping", s+" finished")
	}
	if d := cmp.Diff(dedup(want), dedup(steps)); d != "" { // a turn is told as it begins and as it ends
		t.Errorf("steps: %s", d)
	}
	if len(now) == 0 || now[0].OK != 7 || now[0].Failed != 1 || now[0].Rate <= 0 || now[0].Rate > 7/0.02 || // a turn burns 20 ms
		now[len(now)-1].OK != 70 || now[len(now)-1].Failed != 10 {
		t.Errorf("so far: %+v", now)
	}
	sum := 0.0
	for _, tr := range got {
		if tr.Error != "" || tr.Turns != 10 || tr.Outcomes.OK != 95 || tr.Started.Before(began) {
			t.Fatalf("%+v", tr)
		}
		// 20 ms of the driver and 5 of the server a turn; the others' turns are in no figure.
		for name, least := range map[string]float64{result.ClientCPU: 0.2, result.ServerCPU: 0.05, result.StoreCPU: 0} {
			if v, ok := tr.Values[name]; !ok || v < least {
				t.Errorf("%s: %s is %v, want at least %v", tr.Subject, name, v, least)
			}
		}
		sum += tr.Elapsed
		parts := map[string]float64{}
		for i, s := range tr.Slices {
			for role, cpu := range s.CPU {
				parts[role] += cpu
			}
			if s.CPU["client"] < 0.02 || s.CPU["server"] < 0.005 {
				t.Errorf("%s: part %d of the window used %v", tr.Subject, i, s.CPU)
			}
		}
		for role, name := range map[string]string{"client": result.ClientCPU, "server": result.ServerCPU, "store": result.StoreCPU} {
			if math.Abs(parts[role]-tr.Values[name]) > 1e-9 {
				t.Errorf("%s: the parts of %s are %v s, the whole %v", tr.Subject, name, parts[role], tr.Values[name])
			}
		}
	}
	if sum > took {
		t.Errorf("the turns took %.3f s of %.3f: they overlap", sum, took)
	}
	w.allGone(t, 9, time.Second)
}

// dedup makes one of neighbours that are equal.
func dedup(all []string) (out []string) {
	for i, s := range all {
		if i == 0 || s != all[i-1] {
			out = append(out, s)
		}
	}
	return out
}

// One of a group that fails takes none of the others along, and is gone before they go on.
func TestOneOfAGroupFails(t *testing.T) {
	for subject, want := range map[string]string{
		"server:die-at-start":      "exited (exit status 3) before it listened: last words: the port is taken",
		"server:die-in-the-middle": "turn 1 of 2", // whether it was measured or drained is TestStage's
		"driver:die-in-the-middle": "turn 1 of 2",
		"driver:bad-result":        "its result: json: cannot unmarshal string into Go struct field",
	} {
		t.Run(subject, func(t *testing.T) {
			w := newWitness(t)
			got, err := Run(t.Context(), fakeConfig(executable(t), w.l.Addr().String()), inTurns(2, "a", subject, "b"))
			if err != nil || len(got) != 3 {
				t.Fatalf("%d trials, %v", len(got), err)
			}
			if got[0].Error != "" || got[2].Error != "" || got[0].Outcomes.OK != 95 || got[2].Outcomes.OK != 95 {
				t.Errorf("the others: %+v, %+v", got[0], got[2])
			}
			if !strings.Contains(got[1].Error, want) {
				t.Errorf("error %q, want %q", got[1].Error, want)
			}
			processes := 6
			if subject == "server:die-at-start" {
				processes = 5
			}
			w.allGone(t, processes, time.Second)
		})
	}
}

func TestCancelledGroup(t *testing.T) {
	for _, phase := range []Phase{Starting, Measuring} {
		w := newWitness(t)
		c := fakeConfig(executable(t), w.l.Addr().String())
		interrupt := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		c.Progress = func(p Progress) {
			if p.Index == 2 && p.Phase == phase {
				cancel(interrupt)
			}
		}
		got, err := Run(ctx, c, inTurns(2, "a", "b"))
		if !errors.Is(err, interrupt) {
			t.Errorf("%s: error %v, want the cause", phase, err)
		}
		if len(got) != 0 {
			t.Errorf("%s: %d trials are kept, and none was complete", phase, len(got))
		}
		w.mu.Lock()
		started := len(w.cs)
		w.mu.Unlock()
		w.allGone(t, started, time.Second)
	}
}

func TestGiveUpOnOneOfAGroup(t *testing.T) {
	c := fakeConfig(executable(t), "")
	c.GiveUp = 1
	all := append(inTurns(2, "a", "server:die-at-start"), inTurns(2, "a", "server:die-at-start")...)
	for i := range all[2:] {
		all[2+i].Round = 3
	}
	got, err := Run(t.Context(), c, all)
	if err != nil || len(got) != 4 {
		t.Fatalf("%d trials, %v", len(got), err)
	}
	if got[2].Error != "" || !strings.HasPrefix(got[3].Error, "skipped: 1 trials of server:die-at-start in a row failed before it") {
		t.Errorf("%+v, %+v", got[2], got[3])
	}
}

// A window of one piece is looked at in parts, too.
func TestPartsOfOnePiece(t *testing.T) {
	tr := one(t, fakeConfig(executable(t), ""), "a")
	sum := 0.0
	for _, s := range tr.Slices {
		if s.CPU == nil {
			t.Skipf("the machine was too busy to read the clocks in time: %+v", tr.Slices)
		}
		sum += s.CPU["client"]
	}
	if len(tr.Slices) != parts || math.Abs(sum-tr.Values[result.ClientCPU]) > 1e-9 {
		t.Errorf("%d parts used %v s, the whole %v", len(tr.Slices), sum, tr.Values[result.ClientCPU])
	}
}
