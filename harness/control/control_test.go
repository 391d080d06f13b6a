package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ends are two peers that talk to one another through pipes; closing a writer is what the end of a process is.
func ends(t *testing.T) (parent, child *Peer, hangUp func()) {
	t.Helper()
	toChild, fromParent := io.Pipe()
	toParent, fromChild := io.Pipe()
	t.Cleanup(func() { fromParent.Close(); fromChild.Close() })
	return NewPeer(toParent, fromParent), NewPeer(toChild, fromChild), func() { fromParent.Close() }
}

func TestATrialsConversation(t *testing.T) {
	ctx := t.Context()
	parent, child, hangUp := ends(t)
	trial := json.RawMessage(`{"kind":"bakeoff-trial","order":3}`)
	go func() {
		if job, err := child.Next(ctx); err != nil || string(job) != `{"subject":"grpc"}` {
			t.Errorf("job %s, %v", job, err)
		}
		child.Send(Line{Event: Ready})
		child.Expect(ctx, Go)
		child.Send(Line{Event: Done})
		child.Expect(ctx, Report)
		child.Send(Line{Event: Result, Trial: trial})
	}()
	if err := parent.Send(map[string]string{"subject": "grpc"}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ wait, say string }{{Ready, Go}, {Done, Report}} {
		if _, err := parent.Expect(ctx, step.wait); err != nil {
			t.Fatal(err)
		}
		if err := parent.Send(Line{Event: step.say}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := parent.Expect(ctx, Result)
	if err != nil || string(got.Trial) != string(trial) {
		t.Fatalf("result %s, %v", got.Trial, err)
	}
	hangUp()
	if _, err := child.Next(ctx); !errors.Is(err, ErrGone) || !errors.Is(child.Err(), ErrGone) {
		t.Fatalf("after the parent has gone: %v, %v", err, child.Err())
	}
}

func TestExpectNamesWhatCameInstead(t *testing.T) {
	for _, row := range []struct{ input, want string }{
		{"{\"event\":\"error\",\"error\":\"dial 127.0.0.1:1: refused\"}\n", "dial 127.0.0.1:1: refused"},
		{"{\"event\":\"done\"}\n", `waiting for "ready": the line is "{\"event\":\"done\"}"`},
		{"panic: oh\n", `waiting for "ready": invalid character 'p' looking for beginning of value in the line "panic: oh"`},
		{"", `waiting for "ready": the other process closed its end`},
		{strings.Repeat("x", MaxLine+1), `waiting for "ready": a control line is longer than 16777216 bytes`},
	} {
		p := NewPeer(strings.NewReader(row.input), io.Discard)
		_, err := p.Expect(t.Context(), Ready)
		if err == nil || err.Error() != row.want {
			t.Errorf("%.20q: error %v, want %s", row.input, err, row.want)
		}
		<-p.Gone()
	}
}

func TestLinesOutOfTurnEndTheConversation(t *testing.T) {
	p := NewPeer(strings.NewReader(strings.Repeat("{}\n", unread+1)), io.Discard)
	<-p.Gone()
	if want := "control line 17: 16 lines before it were never asked for"; p.Err().Error() != want {
		t.Fatalf("got %v, want %s", p.Err(), want)
	}
	for range unread { // what was read before is not lost
		if _, err := p.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Next(t.Context()); err != p.Err() {
		t.Fatal(err)
	}
}

func TestTheEndOfInputEndsTheContext(t *testing.T) {
	in, hangUp := io.Pipe()
	p := NewPeer(in, io.Discard)
	ctx, cancel := p.Context(t.Context())
	defer cancel()
	if p.Err() != nil || ctx.Err() != nil {
		t.Fatal("ended before its input has")
	}
	hangUp.Close()
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), ErrGone) {
		t.Fatalf("cause %v", context.Cause(ctx))
	}
}

func TestExpectGivesUpWithItsContext(t *testing.T) {
	in, hangUp := io.Pipe()
	defer hangUp.Close()
	p := NewPeer(in, io.Discard)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Expect(ctx, Go); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestSendRefusesALineThatNobodyCouldRead(t *testing.T) {
	p := NewPeer(strings.NewReader(""), io.Discard)
	if err := p.Send(Line{Error: strings.Repeat("x", MaxLine)}); err == nil {
		t.Fatal("a line longer than MaxLine was sent")
	}
}

func FuzzPeer(f *testing.F) {
	f.Add([]byte("{\"event\":\"ready\"}\n{\"event\":\"done\"}\n"))
	f.Add([]byte("\n\n{\"event\":3}"))
	f.Fuzz(func(t *testing.T, input []byte) {
		p := NewPeer(strings.NewReader(string(input)), io.Discard)
		for range unread + 1 {
			l, err := p.Expect(t.Context(), Ready)
			if err == nil && l.Event != Ready {
				t.Fatalf("took %+v for ready", l)
			}
		}
		<-p.Gone()
		if p.Err() == nil {
			t.Fatal("no reason for the end")
		}
	})
}
