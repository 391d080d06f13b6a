package pool

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

func TestUntil(t *testing.T) {
	now := time.Now()
	at := func(d time.Duration) context.Context { return due{t.Context(), now.Add(d)} }
	for _, tc := range []struct {
		what    string
		ctx     context.Context
		timeout time.Duration
		want    time.Duration // of now; 0: never
		exact   bool
	}{
		{"neither", t.Context(), 0, 0, false},
		{"the timeout", t.Context(), time.Second, time.Second, false},
		{"the context's", at(time.Minute), 0, time.Minute, true},
		{"the context's goes before", at(time.Minute), time.Second, time.Minute, true},
	} {
		want := time.Time{}
		if tc.want != 0 {
			want = now.Add(tc.want)
		}
		if until, exact := Until(tc.ctx, now, tc.timeout); !until.Equal(want) || exact != tc.exact {
			t.Errorf("%s: got %v, %t, want %v, %t", tc.what, until, exact, want, tc.exact)
		}
	}
}

func TestDrawRenewsWhatDoesNotFit(t *testing.T) {
	var d dialler
	p := open(t, &d, 2)
	first := get(t, p)
	p.Put(first, true) // the other one is next
	for _, tc := range []struct {
		what       string
		unfit      int64 // the connection that is refused
		want, open int64 // the connection that is drawn, and how many were dialled
	}{
		{"what fits is drawn", 0, 2, 2},
		{"what does not is replaced", 1, 3, 3},
		{"the other one is as it was", 0, 2, 3},
		{"and the new one takes its place", 0, 3, 3},
	} {
		l, err := p.Draw(t.Context(), time.Time{}, func(w *wire) bool { return w.id != tc.unfit })
		if err != nil {
			t.Fatal(err)
		}
		if l.Conn.id != tc.want || d.dials.Load() != tc.open {
			t.Errorf("%s: got connection %d of %d, want %d of %d", tc.what, l.Conn.id, d.dials.Load(), tc.want, tc.open)
		}
		p.Put(l, true)
	}
	if n := first.Conn.aborted.Load(); n != 1 {
		t.Errorf("what did not fit was aborted %d times, want once", n)
	}
}

func TestDrawLosesNoPlace(t *testing.T) {
	var d dialler
	p := open(t, &d, 1)
	down := io.EOF
	d.fail.Store(&down)
	no := func(*wire) bool { return false }
	for range 2 { // at first one is renewed, then dialled anew
		_, err := p.Draw(t.Context(), time.Time{}, no)
		if class(err) != protocol.Reset {
			t.Errorf("while dialling fails: %v, want a fault of class reset", err)
		}
	}
	d.fail.Store(nil)
	if l, err := p.Draw(t.Context(), time.Time{}, func(*wire) bool { return true }); err != nil || l.Conn.id != 2 {
		t.Errorf("afterwards: got %v, %v, want connection 2", l, err)
	}
}

func TestDrawEndsInTime(t *testing.T) {
	var d dialler
	p := open(t, &d, 1)
	l := get(t, p)
	yes := func(*wire) bool { return true }
	if _, err := p.Draw(t.Context(), time.Now().Add(time.Millisecond), yes); class(err) != service.DeadlineExceeded.String() {
		t.Errorf("a wait until the end of the call: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() { _, err := p.Draw(ctx, time.Time{}, yes); waiting <- err }()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that is cancelled: %v", err)
	}
	p.Put(l, true)
	if _, err := p.Draw(ctx, time.Time{}, yes); !errors.Is(err, context.Canceled) {
		t.Errorf("a free connection, but the context has ended: %v", err)
	}
	p.Close()
	if _, err := p.Draw(t.Context(), time.Time{}, yes); class(err) != protocol.Local || !errors.Is(err, protocol.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
