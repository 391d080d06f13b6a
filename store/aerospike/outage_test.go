package aerospike

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bakeoff/service"
	"bakeoff/store/miniaero"
)

// aside is an address of loopback that nobody else takes a port of, where there is one: of 127.0.0.1 somebody else's server may be given the
// port while ours is down, and be asked in its place.
func aside() string {
	const own = "127.77.0.2:0"
	l, err := net.Listen("tcp", own)
	if err != nil {
		return "127.0.0.1:0"
	}
	l.Close()
	return own
}

// listen starts a server that the test stops and starts again at the same address.
func listen(t *testing.T, addr string) *miniaero.Server {
	t.Helper()
	server, err := miniaero.Listen(addr, miniaero.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server
}

// TestServerGoesAndComesBack: calls in flight and calls meanwhile get Unavailable at once, and when the server is back
// at its address, calls succeed again with nothing done, and none fails any more.
func TestServerGoesAndComesBack(t *testing.T) {
	server := listen(t, aside())
	addr := server.Addr()
	s := open(t, addr, Options{Concurrency: 16, Timeout: 2 * time.Second})
	k := service.Key{Set: "s", ID: "k"}
	put := func() error { return s.Put(t.Context(), k, service.Bins{"a": "x"}, 0) }
	if err := put(); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		server.Close()
		eventually(t, "it is noticed that the server is gone", func() bool { _ = put(); return s.gone.Load() != nil })
		var slowest atomic.Int64
		together(16, func(int) {
			for range 20 {
				began := time.Now()
				_, err := s.Get(t.Context(), k)
				wantError(t, "get while it is gone", err, service.Unavailable, ClassUnavailable)
				slowest.Store(max(slowest.Load(), int64(time.Since(began))))
			}
		})
		if took := time.Duration(slowest.Load()); took > 500*time.Millisecond {
			t.Errorf("round %d: a call took %v to fail, with the server known to be gone", round, took)
		}
		server = listen(t, addr)
		eventually(t, "calls succeed again", func() bool { return put() == nil })
		together(16, func(int) {
			for range 20 {
				if _, err := s.Get(t.Context(), k); err != nil {
					t.Errorf("round %d: get after the recovery: %v", round, err)
				}
			}
		})
	}
}

// TestCallsWaitWhileItIsAsked: a call that begins while it is not known whether the server is there waits to hear it, and does not look for
// a connection in a pool that may have none any more until its timeout.
func TestCallsWaitWhileItIsAsked(t *testing.T) {
	server := listen(t, aside())
	s := open(t, server.Addr(), Options{Concurrency: 2, Timeout: time.Minute})
	get := func() error { _, err := s.Get(t.Context(), service.Key{Set: "s", ID: "k"}); return err }
	for _, row := range []struct {
		why  *string
		want error
	}{{new("it is gone"), nil}, {nil, service.ErrNotFound}} {
		asked := make(chan struct{})
		s.asked.Store(&asked)
		ended := make(chan error, 1)
		go func() { ended <- get() }()
		eventually(t, "the call has its turn", func() bool { return len(s.turns) == 1 })
		s.gone.Store(row.why)
		s.asked.Store(nil)
		close(asked)
		switch err := <-ended; {
		case row.why != nil:
			wantError(t, "a call that waited", err, service.Unavailable, ClassUnavailable)
		case !errors.Is(err, row.want):
			t.Errorf("a call that waited, and the server is there: %v, want %v", err, row.want)
		}
		s.gone.Store(nil)
	}
	if err := get(); !errors.Is(err, service.ErrNotFound) {
		t.Errorf("afterwards: %v", err)
	}
}

// TestServerGoesInMidCall: the calls in flight end at once, not with their timeout.
func TestServerGoesInMidCall(t *testing.T) {
	server := listen(t, aside())
	s := open(t, server.Addr(), Options{Concurrency: 8, Timeout: time.Minute})
	entered := make(chan struct{}, 8)
	server.SetFault(func(c miniaero.Call) miniaero.Fault {
		if c.Kind != miniaero.KindRead {
			return miniaero.Fault{}
		}
		entered <- struct{}{}
		return miniaero.Fault{Delay: time.Hour} // ended by Close
	})
	failed := make(chan error, 8)
	for range 8 {
		go func() {
			_, err := s.Get(t.Context(), service.Key{Set: "s", ID: "k"})
			failed <- err
		}()
	}
	for range 8 {
		<-entered
	}
	server.Close()
	for range 8 {
		select {
		case err := <-failed:
			wantError(t, "a call in flight", err, service.Unavailable, ClassUnavailable)
		case <-time.After(20 * time.Second):
			t.Fatal("a call in flight hangs")
		}
	}
}

// TestConnectionsAreReset: the server stays, so that calls recover at once, on a pool without dead connections.
func TestConnectionsAreReset(t *testing.T) {
	server := listen(t, aside())
	s := open(t, server.Addr(), Options{Concurrency: 8, Timeout: 2 * time.Second})
	k := service.Key{Set: "s", ID: "k"}
	old := s.conn.Load()
	eventually(t, "all connections are accepted", func() bool { return server.Connections() == 9 })
	server.CloseConnections()
	_, err := s.Get(t.Context(), k)
	wantError(t, "get on a reset connection", err, service.Unavailable, ClassUnavailable)
	eventually(t, "the client is replaced", func() bool { return s.conn.Load() != old })
	together(8, func(int) {
		if _, err := s.Get(t.Context(), k); !errors.Is(err, service.ErrNotFound) {
			t.Errorf("get after the reset: %v", err)
		}
	})
}

// TestCloseWhileGone: Close ends the search for the server.
func TestCloseWhileGone(t *testing.T) {
	server := listen(t, aside())
	s := open(t, server.Addr(), Options{Concurrency: 2, Timeout: 200 * time.Millisecond, ConnectTimeout: time.Second})
	server.Close()
	eventually(t, "it is noticed that the server is gone", func() bool {
		_, _ = s.Get(t.Context(), service.Key{Set: "s", ID: "k"})
		return s.gone.Load() != nil
	})
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
}

// TestQuiet: the client's logger writes nothing, whatever happens; it holds the process's own streams, so that only
// another process can tell.
func TestQuiet(t *testing.T) {
	if os.Getenv("STORE_QUIET_CHILD") != "" {
		server := listen(t, aside())
		s := open(t, server.Addr(), Options{Concurrency: 2, Timeout: 100 * time.Millisecond, ConnectTimeout: 200 * time.Millisecond})
		server.Close()
		eventually(t, "gone", func() bool { _, _ = s.Get(t.Context(), service.Key{Set: "s", ID: "k"}); return s.gone.Load() != nil })
		if _, err := Open(t.Context(), "aerospike://"+server.Addr()+"/test", Options{}); err == nil {
			t.Error("opened a server that is gone")
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "-test.run=^TestQuiet$")
	c.Env = append(os.Environ(), "STORE_QUIET_CHILD=1")
	out, err := c.CombinedOutput()
	if err != nil || !bytes.Equal(bytes.TrimSpace(out), []byte("PASS")) {
		t.Errorf("the process that lost its server ended with %v and wrote:\n%s", err, out)
	}
}

// TestNoConnectionUntilTheTimeout: a call that waits for a connection which can't be opened fails as unavailable, not as
// one that was not answered in time.
func TestNoConnectionUntilTheTimeout(t *testing.T) {
	server := listen(t, aside())
	s := open(t, server.Addr(), Options{Concurrency: 2, Timeout: 100 * time.Millisecond})
	s.mu.Lock()
	s.seeker = true // so that nobody looks for the server, and calls go on trying
	s.mu.Unlock()
	server.Close()
	waited := false
	for range 10 { // the first ones find the dead connections
		began := time.Now()
		_, err := s.Get(t.Context(), service.Key{Set: "s", ID: "k"})
		wantError(t, "get", err, service.Unavailable, ClassUnavailable)
		waited = waited || time.Since(began) > 90*time.Millisecond
	}
	if !waited {
		t.Error("no call waited for a connection: the test shows nothing")
	}
}

// TestClientsAreReplacedAndClosedUnderCalls: the client's Close may not meet a call that is made with it, which would
// panic; so a client that is replaced, and the last one, live until their calls have ended.
func TestClientsAreReplacedAndClosedUnderCalls(t *testing.T) {
	for range 2 {
		server := listen(t, aside())
		s := open(t, server.Addr(), Options{Concurrency: 16, Timeout: 10 * time.Second})
		var run sync.WaitGroup
		for range 16 {
			run.Go(func() {
				for {
					_, err := s.Get(t.Context(), service.Key{Set: "s", ID: "k"})
					var e *service.Error
					if errors.As(err, &e) && e.Cause == ClassClosed {
						return
					}
					if !errors.Is(err, service.ErrNotFound) {
						wantError(t, "get", err, service.Unavailable, ClassUnavailable)
					}
				}
			})
		}
		for range 5 {
			old := s.conn.Load()
			server.CloseConnections()
			eventually(t, "the client is replaced", func() bool { return s.conn.Load() != old })
		}
		s.Close()
		run.Wait()
		server.Close()
	}
}
