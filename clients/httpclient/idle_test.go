package httpclient_test

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"bakeoff/internal/peek"
	"bakeoff/protocol"
	"bakeoff/service/servicetest"
)

// TestStaleConnection: the server closes an idle connection; the next call says so, the one after it dials.
func TestStaleConnection(t *testing.T) {
	closed := make(chan struct{})
	addr, requests := fake(t, func(c net.Conn, next func() *http.Request) {
		drained(next())
		reply(c, "200 OK", "{}")
		c.Close()
		closed <- struct{}{}
	})
	c := dial(t, addr, protocol.Options{Conns: 1})
	if err := ask(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	<-closed
	if err := ask(t.Context(), c); kindOf(err) != protocol.StaleConn {
		t.Errorf("got error %v, want class stale_conn", err)
	}
	go func() { <-closed }()
	if err := ask(t.Context(), c); err != nil {
		t.Errorf("the next call: got error %v", err)
	}
	if r, d := requests.Load(), c.dials.Load(); r != 2 || d != 2 {
		t.Errorf("got %d requests over %d connections, want 2 over 2", r, d)
	}
}

// TestIdleConnection: what was idle for half of the server's time is looked at before a call, and used on while it is
// open; one that can't be looked into, or that the server has closed, is replaced, not found closed by the call.
func TestIdleConnection(t *testing.T) {
	const old = 2 // nanoseconds: every connection has been idle for half of it
	addr := serve(t, servicetest.API{}, protocol.Options{})
	for what, row := range map[string]struct {
		wrap  func(net.Conn) net.Conn
		dials int64 // that of Dial, and those of 3 calls
	}{
		"open":    {func(c net.Conn) net.Conn { return c }, 1},
		"wrapped": {func(c net.Conn) net.Conn { return struct{ net.Conn }{c} }, 4},
	} {
		c := dial(t, addr, protocol.Options{Conns: 1, ServerIdle: old, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			return row.wrap(c), err
		}})
		for range 3 {
			if err := ask(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		if n := c.dials.Load(); n != row.dials {
			t.Errorf("%s: got %d dials, want %d", what, n, row.dials)
		}
	}

	hungUp := make(chan struct{}, 2)
	var sockets []net.Conn
	addr, requests := fake(t, func(c net.Conn, next func() *http.Request) {
		drained(next())
		reply(c, "200 OK", "{}")
		c.Close()
		hungUp <- struct{}{}
	})
	c := dial(t, addr, protocol.Options{Conns: 1, ServerIdle: old, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		sockets = append(sockets, c)
		return c, err
	}})
	for range 2 {
		if err := ask(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		<-hungUp
		await(t, sockets[len(sockets)-1], peek.Closed)
	}
	if r, d := requests.Load(), c.dials.Load(); r != 2 || d != 2 {
		t.Errorf("closed by the server: got %d requests over %d connections, want 2 over 2", r, d)
	}
}

// await returns when a look at the socket shows that state: the kernel needs a moment to bring the end of a connection.
func await(t *testing.T, c net.Conn, want peek.State) {
	t.Helper()
	for late := time.Now().Add(10 * time.Second); peek.At(c) != want; runtime.Gosched() {
		if time.Now().After(late) {
			t.Fatalf("the socket is in state %d after 10 s, want %d", peek.At(c), want)
		}
	}
}
