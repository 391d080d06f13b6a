package grpcserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// TestStopDoesNotWaitForTheSilent: a peer that has not said what it is does not hold up the end, which waits for a call.
func TestStopDoesNotWaitForTheSilent(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		called, answer := make(chan struct{}), make(chan struct{})
		addr, stop := serveDraining(t, servicetest.API{OnGetFeature: func(_ context.Context, p service.Point) (service.Feature, error) {
			close(called)
			<-answer
			return service.Feature{Location: p}, nil
		}}, o, time.Minute)
		c := dial(t, addr, o)
		got := make(chan error, 1)
		go func() {
			_, err := c.GetFeature(context.Background(), service.Point{})
			got <- err
		}()
		<-called
		var silent []net.Conn
		for _, sent := range []string{"", "PRI * HTTP/2.0\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
			s, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := io.WriteString(s, sent); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(s, make([]byte, 9)); err != nil { // the server's settings: it is in the handshake
				t.Fatal(err)
			}
			silent = append(silent, s)
		}
		stopped := make(chan struct{})
		go func() {
			stop()
			close(stopped)
		}()
		for i, s := range silent { // they are hung up on while the call is still in the server
			if err := s.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			var late net.Error
			if _, err := io.Copy(io.Discard, s); errors.As(err, &late) && late.Timeout() {
				t.Errorf("connection %d is still open 20 s after the end of the context", i)
			}
		}
		close(answer)
		if err := <-got; err != nil {
			t.Errorf("the call in flight: %v", err)
		}
		select {
		case <-stopped:
		case <-time.After(20 * time.Second):
			t.Error("Serve has not returned 20 s after its last call; the drain time is a minute")
			<-stopped
		}
	})
}
