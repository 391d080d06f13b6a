package suite

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

// TestLateRedialIsTheDeadline: a call that has to dial when its time is over fails with deadline_exceeded, and not as a
// dial that timed out, also where the dialler says so before the context does.
func TestLateRedialIsTheDeadline(t *testing.T) {
	const soon = 20 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0") // nothing is accepted: connections wait in the kernel's queue
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, p := range All {
		if p.Multiplexed {
			continue // its library dials by itself, outside of calls
		}
		for _, row := range []struct {
			whose            string
			timeout, context time.Duration
		}{{"the options' timeout", soon, 0}, {"the context's deadline", 0, soon}} {
			o := p.Options(1, 1)
			o.Timeout, o.ServerIdle = row.timeout, 1 // each call finds its connection too old
			dials := 0
			o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if dials++; dials == 1 {
					c, err := new(net.Dialer).DialContext(ctx, network, addr)
					return struct{ net.Conn }{c}, err // wrapped: nobody can look whether it is still open
				}
				until, _ := ctx.Deadline()
				<-time.After(time.Until(until))
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
			}
			c, err := p.Dial(t.Context(), l.Addr().String(), o)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := t.Context(), context.CancelFunc(func() {})
			if row.context > 0 {
				ctx, cancel = context.WithTimeout(ctx, row.context)
			}
			_, err = c.GetFeature(ctx, service.Point{})
			cancel()
			var e *service.Error
			var fault *protocol.Fault
			if !errors.As(err, &e) || e.Code != service.DeadlineExceeded || errors.As(err, &fault) {
				t.Errorf("%s, %s: got error %v, want deadline_exceeded", p.Name, row.whose, err)
			}
			if dials != 2 {
				t.Errorf("%s, %s: %d dials, want that of Dial and one for the call", p.Name, row.whose, dials)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
