package run

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

func TestStage(t *testing.T) {
	now := time.Now()
	for _, row := range []struct {
		s    stage
		want string
	}{
		{stage{text: "while it slept"}, "while it slept"},
		{stage{turn: 2, turns: 10, began: now, window: time.Hour}, "while turn 2 of 10 was measured"},
		{stage{turn: 2, turns: 10, began: now.Add(-time.Hour), window: time.Minute}, "while the calls of turn 2 of 10 drained"},
		{stage{turn: 1, turns: 1, began: now, window: time.Hour}, "while its window was measured"},
		{stage{turn: 1, turns: 1, began: now.Add(-time.Hour), window: time.Minute}, "while the calls of its window drained"},
	} {
		if got := row.s.String(); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}

// quick has what must be looked at twice looked at soon.
func quick(c Config) Config {
	c.Timeouts.Look = 20 * time.Millisecond
	return c
}

// TestAFailedTrialKeepsWhatItMeasured: the driver reports, where it can; else what it has told before stands.
func TestAFailedTrialKeepsWhatItMeasured(t *testing.T) {
	reported := fakeResult.Outcomes
	told := result.Outcomes{Started: 7 + 1 + 2, OK: 7, Failed: map[string]uint64{"unreported": 1}, CutOff: 2}
	for _, row := range []struct {
		subject string
		want    []string // in the error, in this order
		made    int
		calls   result.Outcomes
	}{
		{"server:die-in-turn-2", []string{"server server:die-in-turn-2 exited (exit status 2) ", "turn 2 of 5", "a call killed me"}, 1, reported},
		{"driver:die-in-turn-2", []string{"driver driver:die-in-turn-2 exited (exit status 3) ", "turn 2 of 5", "enough of it"}, 1, told},
		{"server:stop-in-turn-2", []string{"server server:stop-in-turn-2 at the end of turn 2 of 5, ", " after it began: process ",
			" answers nothing: its state is T (stopped), and was 20ms before"}, 1, reported},
		{"driver:silent", []string{"server driver:silent (process ", "answered none of the calls of 2 turns in a row, the last of which, turn 2 of 5, took "}, 1, reported},
		{"server:die-at-start", []string{"before it listened"}, 0, result.Outcomes{}},
		{"driver:die-at-start", []string{"before it was ready"}, 0, result.Outcomes{}},
	} {
		t.Run(row.subject, func(t *testing.T) {
			w := newWitness(t)
			c := quick(fakeConfig(executable(t), w.l.Addr().String()))
			got, err := Run(t.Context(), c, inTurns(5, row.subject, "fine"))
			if err != nil || len(got) != 2 {
				t.Fatalf("%d trials, %v", len(got), err)
			}
			tr := got[0]
			rest := tr.Error
			for _, want := range row.want {
				i := strings.Index(rest, want)
				if i < 0 {
					t.Fatalf("%q is not in (the rest of) %q", want, tr.Error)
				}
				rest = rest[i+len(want):]
			}
			if strings.Contains(tr.Error, "did not stop") {
				t.Errorf("that it was killed is no second fault: %q", tr.Error)
			}
			if tr.Turns != 5 || tr.TurnsMade == nil || *tr.TurnsMade != row.made {
				t.Errorf("%v of %d turns, want %d", tr.TurnsMade, tr.Turns, row.made)
			}
			if d := cmp.Diff(row.calls, tr.Outcomes); d != "" {
				t.Errorf("outcomes: %s", d)
			}
			if f := got[1]; f.Error != "" || f.Turns != 5 || *f.TurnsMade != 5 {
				t.Errorf("the other: %+v", f)
			}
		})
	}
}

// TestAServerThatIsStoppedAfterItsTurns answers no question: it is not waited for as one that is only busy.
func TestAServerThatIsStoppedAfterItsTurns(t *testing.T) {
	c := quick(fakeConfig(executable(t), ""))
	c.CountCalls = true
	c.Timeouts.Answer = time.Hour
	got, err := Run(t.Context(), c, inTurns(2, "server:stop-at-second-question"))
	if err != nil || len(got) != 1 {
		t.Fatalf("%d trials, %v", len(got), err)
	}
	tr := got[0]
	if !strings.Contains(tr.Error, "when it was asked for its counters: waiting for \"counters\": process ") ||
		!strings.Contains(tr.Error, "its state is T (stopped)") || strings.Contains(tr.Error, "did not stop") {
		t.Errorf("error %q", tr.Error)
	}
	if *tr.TurnsMade != 2 {
		t.Errorf("%d turns made, want both", *tr.TurnsMade)
	}
	if d := cmp.Diff(fakeResult.Outcomes, tr.Outcomes); d != "" {
		t.Errorf("outcomes: %s", d)
	}
}

// TestAServerThatIsDeaf lives and does not answer: the wait for it is bounded, and its state is told.
func TestAServerThatIsDeaf(t *testing.T) {
	c := quick(fakeConfig(executable(t), ""))
	c.CountCalls = true
	c.Timeouts.Answer = 100 * time.Millisecond
	got, err := Run(t.Context(), c, trialsOf("server:deaf"))
	if err != nil || len(got) != 1 || !strings.Contains(got[0].Error, `waiting for "counters": it did not come within 100ms; process `) ||
		!strings.Contains(got[0].Error, " is S (sleeping)") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAServerThatIsKilledInTheWarmUp(t *testing.T) {
	got, err := Run(t.Context(), fakeConfig(executable(t), ""), trialsOf("server:killed-in-warm-up"))
	want := "server server:killed-in-warm-up exited (signal: killed) while the driver dialled and warmed up"
	if err != nil || len(got) != 1 || !strings.HasPrefix(got[0].Error, want) {
		t.Errorf("%+v, %v; want %q", got, err, want)
	}
	if tr := got[0]; *tr.TurnsMade != 0 || tr.Outcomes.Started != 0 {
		t.Errorf("%d turns made, outcomes %+v", *tr.TurnsMade, tr.Outcomes)
	}
}

func TestStateOf(t *testing.T) {
	if s := stateOf(os.Getpid()); s == 0 || s.stopped() {
		t.Errorf("this process is %v", s)
	}
	if s := stateOf(1 << 30); s != 0 || s.String() != "unknown" {
		t.Errorf("no process is %v", s)
	}
}
