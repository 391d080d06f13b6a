package run

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"
)

func TestServing(t *testing.T) {
	call := func(ctx context.Context, addr string) error {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	for _, row := range []struct {
		mode string
		use  func(ctx context.Context, addr string) error
		want string // in the error; "" for none
	}{
		{"normal", call, ""},
		{"die-at-end", call, "server x exited (exit status 3): last words: could not flush"},
		{"normal", func(context.Context, string) error { return errors.New("a vector differs") }, "a vector differs"},
		{"die-at-start", call, "server x exited (exit status 3) before it listened: last words: the port is taken"},
		{"die-in-the-middle", func(ctx context.Context, addr string) error {
			if err := call(ctx, addr); err != nil {
				return err
			}
			<-ctx.Done()
			return errors.New("connection reset")
		}, "server x exited (exit status 2) in the middle"},
	} {
		w := newWitness(t)
		c := fakeCommand(Server, row.mode)
		c.Env = append(c.Env, witnessEnv+"="+w.l.Addr().String())
		err := Serving(t.Context(), executable(t), "server x", nil, func(string) Command { return c }, row.use)
		if (row.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", row.mode, err, row.want)
		}
		w.allGone(t, 1, time.Second)
	}
}

func TestServingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupt := errors.New("interrupted")
	err := Serving(ctx, executable(t), "server x", nil, func(string) Command { return fakeCommand(Server, "normal") }, func(ctx context.Context, _ string) error {
		cancel(interrupt)
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, interrupt) {
		t.Errorf("error %v, want the cause", err)
	}
}

// TestServingEndsWithAStoppedProcess: what is examined would wait for it for as long as its own limits let it.
func TestServingEndsWithAStoppedProcess(t *testing.T) {
	hang := func(ctx context.Context, addr string) error {
		for range 2 { // the second call stops it
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				return err
			}
			defer conn.Close()
		}
		<-ctx.Done()
		return errors.New("a vector was ended")
	}
	w := newWitness(t)
	c := fakeCommand(Server, "stop-in-turn-2")
	c.Env = append(c.Env, witnessEnv+"="+w.l.Addr().String())
	config := quick(Config{Executable: executable(t), Timeouts: Timeouts{}.defaulted()})
	err := serving(t.Context(), config, "server x", nil, func(string) Command { return c }, hang)
	if want := "server x in the middle of its work: process "; err == nil || !strings.HasPrefix(err.Error(), want) ||
		!strings.HasSuffix(err.Error(), " answers nothing: its state is T (stopped), and was 20ms before") {
		t.Errorf("error %v, want one that begins with %q and says that it is stopped, and nothing else", err, want)
	}
	w.allGone(t, 1, time.Second)
}
