package pool

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// socket is a connection that notes its deadlines and is closed but once.
type socket struct {
	net.Conn
	deadlines []time.Time
	closed    chan struct{}
	closes    atomic.Int32
}

func newSocket() *socket { return &socket{closed: make(chan struct{})} }

func (s *socket) SetDeadline(t time.Time) error { s.deadlines = append(s.deadlines, t); return nil }

func (s *socket) Close() error {
	if s.closes.Add(1) == 1 {
		close(s.closed)
	}
	return nil
}

func begin(t *testing.T, g *Guard, ctx context.Context) {
	t.Helper()
	if err := g.Begin(ctx, time.Now(), time.Time{}, false); err != nil {
		t.Fatal(err)
	}
}

// TestGuardFit: a connection that is not old is not looked at; an old one must be open and quiet.
func TestGuardFit(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	const old = time.Second
	begun := time.Now()
	want := func(what string, g *Guard, age time.Duration, want bool) {
		t.Helper()
		if err := g.Begin(t.Context(), begun, time.Time{}, false); err != nil {
			t.Fatal(err)
		}
		g.End()
		if got := g.Fit(begun.Add(age), old); got != want {
			t.Errorf("%s, unused for %v: fit is %v, want %v", what, age, got, want)
		}
	}
	g, wrapped := NewGuard(c), NewGuard(struct{ net.Conn }{c})
	want("open", g, old, true)
	want("wrapped", wrapped, old-1, true)
	want("wrapped", wrapped, old, false)
	if _, err := peer.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err != nil { // both have arrived
		t.Fatal(err)
	}
	want("with something to say", g, old-1, true)
	want("with something to say", g, old, false)
	peer.Close()
	for err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	want("closed by the peer", g, old-1, true)
	want("closed by the peer", g, old, false)
}

func TestGuardDeadlines(t *testing.T) {
	s := newSocket()
	g := NewGuard(s)
	t0 := time.Now()
	at := func(d time.Duration) time.Time { return t0.Add(d) }
	for _, tc := range []struct {
		what       string
		now, until time.Duration // of t0; until 0: none
		exact      bool
		want       time.Duration // the deadline that is set, of t0; 0: it is cleared
		kept       bool          // or none is set
	}{
		{"none", 0, 0, false, 0, true},
		{"a timeout of 6.4 s, 6.4/64 late", 0, 6400 * time.Millisecond, false, 6500 * time.Millisecond, false},
		{"the same 50 ms later is within that", 50 * time.Millisecond, 6450 * time.Millisecond, false, 0, true},
		{"101 ms later it is not", 101 * time.Millisecond, 6501 * time.Millisecond, false, 6601 * time.Millisecond, false},
		{"a context's own is exact", 102 * time.Millisecond, 200 * time.Millisecond, true, 200 * time.Millisecond, false},
		{"and needs no setting again", 103 * time.Millisecond, 200 * time.Millisecond, true, 0, true},
		{"a timeout that is shorter than what is set", 104 * time.Millisecond, 168 * time.Millisecond, false, 169 * time.Millisecond, false},
		{"none again", 105 * time.Millisecond, 0, false, 0, false},
	} {
		s.deadlines = nil
		var until time.Time
		if tc.until != 0 {
			until = at(tc.until)
		}
		if err := g.Begin(t.Context(), at(tc.now), until, tc.exact); err != nil {
			t.Fatal(err)
		}
		g.End()
		switch {
		case tc.kept && len(s.deadlines) != 0, !tc.kept && len(s.deadlines) != 1:
			t.Errorf("%s: set %v", tc.what, s.deadlines)
		case tc.kept:
		case tc.want == 0 && !s.deadlines[0].IsZero(), tc.want != 0 && !s.deadlines[0].Equal(at(tc.want)):
			t.Errorf("%s: set %v, want %v", tc.what, s.deadlines[0].Sub(t0), tc.want)
		}
	}
	if got := g.Unused(at(time.Second)); got != 895*time.Millisecond {
		t.Errorf("unused for %v, want 1 s - 105 ms", got)
	}
}

func TestGuardRearms(t *testing.T) {
	s := newSocket()
	g := NewGuard(s)
	until := time.Now().Add(time.Second)
	if err := g.Begin(t.Context(), time.Now(), until, true); err != nil {
		t.Fatal(err)
	}
	s.SetDeadline(time.Time{}) // a library does
	if err := g.Rearm(); err != nil {
		t.Fatal(err)
	}
	if got := s.deadlines[len(s.deadlines)-1]; !got.Equal(until) || !g.Deadline().Equal(until) {
		t.Errorf("set %v, says %v, want %v", got, g.Deadline(), until)
	}
	g.Abort()
}

func TestGuardEndsTheCallOfAContext(t *testing.T) {
	for earlier := range 4 { // the registration is new, or kept
		s := newSocket()
		g := NewGuard(s)
		ctx, cancel := context.WithCancel(t.Context())
		for range earlier {
			begin(t, g, ctx)
			if !g.End() {
				t.Fatal("a call that nothing ended left the connection broken")
			}
		}
		begin(t, g, ctx)
		cancel()
		<-s.closed
		if g.End() {
			t.Error("the connection was closed, and counts as whole")
		}
		g.Abort()
	}
}

func TestGuardSparesOtherCalls(t *testing.T) {
	s := newSocket()
	g := NewGuard(s)
	fired := make(chan struct{})
	old, cancel := context.WithCancel(t.Context())
	for range 3 {
		begin(t, g, old)
		g.End()
	}
	begin(t, g, context.Background())
	context.AfterFunc(old, func() { close(fired) })
	cancel()
	<-fired
	if !g.End() {
		t.Error("a context ended the call of another")
	}
	begin(t, g, t.Context())
	if !g.End() || s.closes.Load() != 0 {
		t.Error("a context ended a later call")
	}
}

func TestGuardRefusesAnEndedContext(t *testing.T) {
	s := newSocket()
	g := NewGuard(s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Begin(ctx, time.Now(), time.Time{}, false); !errors.Is(err, context.Canceled) {
		t.Errorf("Begin: %v", err)
	}
	if g.End() || s.closes.Load() == 0 {
		t.Error("the connection was left open")
	}
}

func TestGuardAbort(t *testing.T) {
	s := newSocket()
	g := NewGuard(s)
	begin(t, g, t.Context())
	g.Abort()
	if g.End() {
		t.Error("an aborted connection counts as whole")
	}
	if err := g.Begin(t.Context(), time.Now(), time.Time{}, false); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Begin after Abort: %v", err)
	}
	if g.End() {
		t.Error("an aborted connection counts as whole")
	}
}

// A context that lives on keeps nothing of the connections that served it.
func TestGuardLeavesNothingBehind(t *testing.T) {
	ctx := &registrar{Context: t.Context(), done: make(chan struct{})}
	for calls := range 4 {
		g := NewGuard(newSocket())
		for range calls {
			begin(t, g, ctx)
			g.End()
		}
		if want := max(0, min(1, calls-1)); ctx.live != want {
			t.Errorf("%d registrations after %d calls, want %d", ctx.live, calls, want)
		}
		g.Abort()
		if ctx.live != 0 {
			t.Errorf("%d registrations after %d calls and Abort", ctx.live, calls)
		}
	}
}

// registrar is a context that counts its registrations.
type registrar struct {
	context.Context
	done chan struct{}
	live int
}

func (r *registrar) Done() <-chan struct{} { return r.done }
func (r *registrar) Err() error            { return nil }

func (r *registrar) AfterFunc(func()) func() bool {
	r.live++
	return sync.OnceValue(func() bool { r.live--; return true })
}

func TestGuardRace(t *testing.T) {
	for range 200 {
		s := newSocket()
		g := NewGuard(s)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(cancel)
		wg.Go(func() {
			for {
				err := g.Begin(ctx, time.Now(), time.Time{}, false)
				whole := g.End()
				switch {
				case err == nil && whole:
					continue
				case err != nil && whole:
					t.Errorf("whole after %v", err)
				case err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, net.ErrClosed):
					t.Errorf("Begin: %v", err)
				}
				return
			}
		})
		if ctx.Err() == nil {
			wg.Go(g.Abort)
		}
		wg.Wait()
		<-s.closed
		g.Abort()
	}
}

// A context that comes once costs what the context's own registration does: the guard's part is used again, and never
// that of a context which has ended, whose cut may still be on its way.
func TestGuardUsesItsWatchAgain(t *testing.T) {
	g := NewGuard(newSocket())
	var watches []*watch
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		begin(t, g, ctx)
		watches = append(watches, g.now)
		g.End()
		cancel()
	}
	if watches[0] != watches[1] || watches[1] != watches[2] {
		t.Error("a watch that was stopped in time was not used again")
	}
	ctx, cancel := context.WithCancel(t.Context())
	for range 3 {
		begin(t, g, ctx)
		g.End()
	}
	ended := g.kept.Load()
	cancel()
	begin(t, g, t.Context())
	if g.now == ended {
		t.Error("the watch of a context that has ended was used again")
	}
	if !g.End() {
		t.Error("a context that had ended cut a later call")
	}
	g.Abort()
}

// A real socket under a guard: the deadline ends a read.
func TestGuardOnASocket(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	g := NewGuard(ours)
	defer g.Abort()
	now := time.Now()
	if err := g.Begin(t.Context(), now, now.Add(20*time.Millisecond), false); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read: %v", err)
	}
	if took := time.Since(now); took < 20*time.Millisecond {
		t.Errorf("the deadline was %v early", 20*time.Millisecond-took)
	}
}

func BenchmarkGuard(b *testing.B) {
	for _, bm := range []struct {
		name  string
		other bool
	}{{"same context", false}, {"another context each time", true}} {
		b.Run(bm.name, func(b *testing.B) {
			s := newSocket()
			g := NewGuard(s)
			one, cancel := context.WithCancel(b.Context())
			defer cancel()
			two, cancel := context.WithCancel(b.Context())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				now := time.Now()
				g.Begin(one, now, now.Add(10*time.Second), false)
				g.End()
				if bm.other {
					one, two = two, one
				}
			}
			g.Abort()
		})
	}
}
