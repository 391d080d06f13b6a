package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"bakeoff/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire is a connection that knows its number and counts what happens to it.
type wire struct {
	id      int64
	users   atomic.Int32
	aborted atomic.Int32
}

func (w *wire) Abort() { w.aborted.Add(1) }

// dialler numbers its connections from 1.
type dialler struct {
	dials atomic.Int64
	fail  atomic.Pointer[error]
}

func (d *dialler) dial(context.Context) (*wire, error) {
	if err := d.fail.Load(); err != nil {
		return nil, *err
	}
	return &wire{id: d.dials.Add(1)}, nil
}

func open(t *testing.T, d *dialler, size int) *Pool[*wire] {
	t.Helper()
	p, err := New(t.Context(), size, d.dial)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func get(t *testing.T, p *Pool[*wire]) *Lease[*wire] {
	t.Helper()
	l, err := p.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOpensAllAtOnce(t *testing.T) {
	for _, tc := range []struct{ size, dials int }{{3, 3}, {1, 1}, {0, 1}, {-5, 1}} {
		var d dialler
		open(t, &d, tc.size)
		if got := d.dials.Load(); got != int64(tc.dials) {
			t.Errorf("a pool of %d dialled %d, want %d", tc.size, got, tc.dials)
		}
	}
}

func TestClosesWhatItOpenedWhenADialFails(t *testing.T) {
	var d dialler
	var opened []*wire
	refused := errors.New("refused")
	_, err := New(t.Context(), 3, func(ctx context.Context) (*wire, error) {
		if len(opened) == 2 {
			return nil, refused
		}
		w, err := d.dial(ctx)
		opened = append(opened, w)
		return w, err
	})
	if !errors.Is(err, refused) {
		t.Errorf("New: %v", err)
	}
	for _, w := range opened {
		if w.aborted.Load() != 1 {
			t.Errorf("connection %d was aborted %d times, want once", w.id, w.aborted.Load())
		}
	}
}

func TestIdleOnesGoRound(t *testing.T) {
	var d dialler
	p := open(t, &d, 3)
	var order string
	for range 7 {
		l := get(t, p)
		order += fmt.Sprint(l.Conn.id)
		p.Put(l, true)
	}
	if order != "1231231" {
		t.Errorf("drawn in the order %s", order)
	}
}

func TestDiscardDialsAnewInItsPlace(t *testing.T) {
	var d dialler
	p := open(t, &d, 1)
	first := get(t, p)
	p.Put(first, false)
	if first.Conn.aborted.Load() != 1 {
		t.Error("the discarded connection was not aborted")
	}
	if _, ok := p.Try(); ok {
		t.Error("Try drew a connection that is not dialled")
	}

	down := errors.New("down")
	d.fail.Store(&down)
	if _, err := p.Get(t.Context()); !errors.Is(err, down) {
		t.Errorf("Get while nobody listens: %v", err)
	}
	d.fail.Store(nil)
	second := get(t, p) // the place was not lost with the failed dial
	if second.Conn.id != 2 || d.dials.Load() != 2 {
		t.Errorf("drew connection %d of %d", second.Conn.id, d.dials.Load())
	}
	p.Put(second, true)
	if l, ok := p.Try(); !ok || l != second {
		t.Errorf("Try = %v, %v", l, ok)
	}
}

func TestGetWaitsUntilItsContextEnds(t *testing.T) {
	var d dialler
	p := open(t, &d, 1)
	l := get(t, p)
	if _, ok := p.Try(); ok {
		t.Error("Try drew a connection that is in use")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Get: %v", err)
	}
	drawn := make(chan *Lease[*wire])
	go func() { l, _ := p.Get(t.Context()); drawn <- l }()
	p.Put(l, true)
	if got := <-drawn; got != l {
		t.Errorf("who waited drew %v", got)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	var d dialler
	p := open(t, &d, 2)
	used, broken := get(t, p), get(t, p)
	waiting := make(chan error)
	go func() { _, err := p.Get(t.Context()); waiting <- err }()
	p.Close()
	p.Close() // again is harmless
	if err := <-waiting; !errors.Is(err, protocol.ErrClosed) {
		t.Errorf("who waited: %v", err)
	}
	for _, l := range []*Lease[*wire]{used, broken} {
		if l.Conn.aborted.Load() == 0 {
			t.Errorf("connection %d in use was not aborted", l.Conn.id)
		}
	}
	p.Put(used, true)
	p.Put(broken, false)
	if _, err := p.Get(t.Context()); !errors.Is(err, protocol.ErrClosed) {
		t.Errorf("Get after Close, with a connection free: %v", err)
	}
	if _, ok := p.Try(); ok {
		t.Error("Try after Close drew a connection")
	}
}

// A dial that hangs ends with Close, and one that succeeds too late leaves no connection open.
func TestCloseEndsADial(t *testing.T) {
	for _, tc := range []struct {
		what string
		late *wire // what the dial returns in the end, nil: the error of its context
	}{{"that heeds its context", nil}, {"that does not", &wire{}}} {
		dialling, n := make(chan struct{}), 0
		p, err := New(t.Context(), 1, func(ctx context.Context) (*wire, error) {
			if n++; n == 1 {
				return &wire{}, nil
			}
			close(dialling)
			<-ctx.Done()
			if tc.late == nil {
				return nil, ctx.Err()
			}
			return tc.late, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		p.Put(get(t, p), false)
		got := make(chan error)
		go func() { _, err := p.Get(t.Context()); got <- err }()
		<-dialling
		p.Close()
		if err := <-got; !errors.Is(err, protocol.ErrClosed) {
			t.Errorf("a dial %s: %v", tc.what, err)
		}
		if tc.late != nil && tc.late.aborted.Load() != 1 {
			t.Error("what was dialled too late was not aborted")
		}
	}
}

// 64 callers over 8 connections, each tenth of whose calls breaks its connection: no connection has two users,
// and there are never more than 8.
func TestRace(t *testing.T) {
	const callers, size, rounds = 64, 8, 200
	var d dialler
	p := open(t, &d, size)
	var inUse, discarded atomic.Int64
	var wg sync.WaitGroup
	for w := range callers {
		wg.Go(func() {
			for i := range rounds {
				l, ok := p.Try()
				if !ok {
					var err error
					if l, err = p.Get(context.Background()); err != nil {
						t.Error(err)
						return
					}
				}
				if n := inUse.Add(1); n > size {
					t.Errorf("%d connections in use, the pool has %d", n, size)
				}
				if l.Conn.users.Add(1) != 1 || l.Conn.aborted.Load() != 0 {
					t.Errorf("connection %d is shared, or was discarded before", l.Conn.id)
				}
				l.Conn.users.Add(-1)
				inUse.Add(-1)
				good := (w+i)%10 != 0
				if !good {
					discarded.Add(1)
				}
				p.Put(l, good)
			}
		})
	}
	wg.Wait()
	// A discarded connection is dialled again only when its place is drawn: up to one for each place may be due.
	if due := size + discarded.Load() - d.dials.Load(); due < 0 || due > size {
		t.Errorf("%d dials for %d places and %d discarded connections", d.dials.Load(), size, discarded.Load())
	}
}

// Close while 64 callers come and go: all end, and every connection is aborted.
func TestRaceWithClose(t *testing.T) {
	var mu sync.Mutex
	var all []*wire
	p, err := New(t.Context(), 8, func(context.Context) (*wire, error) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, &wire{})
		return all[len(all)-1], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	calls := make(chan struct{}, 1000)
	for w := range 64 {
		wg.Go(func() {
			for i := 0; ; i++ {
				l, err := p.Get(context.Background())
				if errors.Is(err, protocol.ErrClosed) {
					return
				} else if err != nil {
					t.Error(err)
				}
				p.Put(l, (w+i)%5 != 0)
				select {
				case calls <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 500 {
		<-calls
	}
	p.Close()
	wg.Wait()
	for _, w := range all {
		if w.aborted.Load() == 0 {
			t.Error("a connection was left open")
		}
	}
}

// TestKeep: of the connections that are put back two stay open, and are drawn before anything is dialled.
func TestKeep(t *testing.T) {
	var d dialler
	p := open(t, &d, 4)
	p.Keep(2)
	var held []*Lease[*wire]
	for range 4 {
		held = append(held, get(t, p))
	}
	for _, l := range held {
		p.Put(l, true)
	}
	for i, want := range []int32{0, 0, 1, 1} {
		if got := held[i].Conn.aborted.Load(); got != want {
			t.Errorf("connection %d was closed %d times, want %d", i+1, got, want)
		}
	}
	for want := range int64(2) {
		if l, ok := p.Try(); !ok || l.Conn.id != want+1 {
			t.Errorf("Try: got %v, want one that was kept", l)
		}
	}
	if l, ok := p.Try(); ok {
		t.Errorf("Try: got connection %d, want none", l.Conn.id)
	}
	third, fourth := get(t, p), get(t, p)
	if n := d.dials.Load(); n != 6 {
		t.Errorf("%d dials, want the first 4 and one for each that was closed", n)
	}
	// All places are taken: who waits gets what is put back.
	got := make(chan *Lease[*wire])
	go func() {
		l, err := p.Get(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- l
	}()
	p.Put(third, true)
	if l := <-got; l != third {
		t.Errorf("a call that waited got connection %d, want %d", l.Conn.id, third.Conn.id)
	}
	p.Put(fourth, false)
	if n := fourth.Conn.aborted.Load(); n != 1 {
		t.Errorf("a connection that is not good was closed %d times", n)
	}
}
