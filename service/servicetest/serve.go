package servicetest

import (
	"context"
	"net"
	"sync"
	"testing"
)

// Serve runs a server on a port of its own until the test ends, or until stop is called, which may be more than once: it ends the
// server's context, and waits until the server has returned nil.
func Serve(t testing.TB, serve func(ctx context.Context, l net.Listener) error) (addr string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v, want nil after its context has ended", err)
		}
	})
	t.Cleanup(stop)
	return l.Addr().String(), stop
}
