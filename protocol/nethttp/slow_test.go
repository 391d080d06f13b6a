package nethttp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
	"bakeoff/service/servicetest"
)

// TestSlowHeads: a connection that does not get as far as a request is closed by every server, also by one that lets requests take their time, and
// so is one that is idle after it.
func TestSlowHeads(t *testing.T) {
	const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, streams := range []bool{false, true} {
		for name, sent := range map[string]string{"nothing": "", "half a head": request[:20], "a request": request, "a request and half a head": request + request[:20]} {
			addr, _ := servicetest.Serve(t, func(ctx context.Context, l net.Listener) error {
				s := nethttp.Server{Version: nethttp.HTTP1, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Streams: streams}
				return s.Serve(ctx, l, protocol.Options{ServerIdle: 50 * time.Millisecond})
			})
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Write([]byte(sent)); err != nil {
				t.Fatal(err)
			}
			c.SetReadDeadline(time.Now().Add(time.Minute)) // a machine may be slow; without a bound of the server's there is no end
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("%s, streams %v: %v, want the end of the connection", name, streams, err)
			}
		}
	}
}
