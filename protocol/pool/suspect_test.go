package pool

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"bakeoff/protocol"
	"bakeoff/service"
)

// alerter answers whatever comes with an alert of TLS, and counts its connections.
func alerter(t *testing.T) (addr string, asked *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = new(atomic.Int64)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, "\x15\x03\x03\x00\x02\x02\x28") // fatal, handshake_failure
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), asked
}

func TestSuspect(t *testing.T) {
	addr, asked := alerter(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var s Suspect
	for _, row := range []struct {
		what string
		ctx  context.Context
		err  error
	}{
		{"the context ended", ended, HungUp(io.EOF, false)},
		{"the deadline passed", t.Context(), service.Errorf(service.DeadlineExceeded, "late")},
		{"the client was closed", t.Context(), Closed()},
	} {
		if got := s.Judge(row.ctx, addr, row.err); got != row.err {
			t.Errorf("%s: got %v, want %v", row.what, got, row.err)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d questions for what this side has ended", n)
	}
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			err := s.Judge(t.Context(), addr, HungUp(io.EOF, false))
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Kind != protocol.BadTLS || !errors.Is(err, io.EOF) {
				t.Errorf("got %v, want a fault of class %s", err, protocol.BadTLS)
			}
		})
	}
	calls.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("%d questions, want one", n)
	}
}

func TestAlertIsItsOwnClass(t *testing.T) {
	err := &net.OpError{Op: "remote error", Err: errors.New("tls: certificate required")}
	if got := class(SocketError(err, false)); got != protocol.BadTLS {
		t.Errorf("got class %s, want %s", got, protocol.BadTLS)
	}
	fault := protocol.HandshakeFault(io.EOF, "a")
	if got := DialError(t.Context(), fault); got != error(fault) {
		t.Errorf("a handshake's fault became %v", got)
	}
}
