package nethttpclient_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"bakeoff/clients/nethttpclient"
	"bakeoff/protocol"
	"bakeoff/servers/nethttpserver"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// version is one of the subjects' two ends.
type version struct {
	serve func(context.Context, net.Listener, service.API, protocol.Options) error
	dial  func(context.Context, string, protocol.Options) (protocol.Client, error)
}

var http1, http2 = version{nethttpserver.Serve1, nethttpclient.Dial1}, version{nethttpserver.Serve2, nethttpclient.Dial2}

// each runs a test over both.
func each(t *testing.T, test func(t *testing.T, v version)) {
	t.Run("HTTP1", func(t *testing.T) { test(t, http1) })
	t.Run("HTTP2", func(t *testing.T) { test(t, http2) })
}

// start serves for the time of the test.
func (v version) start(t testing.TB, a service.API, o protocol.Options) (addr string) {
	t.Helper()
	addr, _ = servicetest.Serve(t, func(ctx context.Context, l net.Listener) error { return v.serve(ctx, l, a, o) })
	return addr
}

// client is one whose dials are counted; it is closed when the test ends.
type client struct {
	protocol.Client
	dials *atomic.Int64
}

func (v version) client(t testing.TB, addr string, o protocol.Options) client {
	t.Helper()
	c := client{dials: new(atomic.Int64)}
	o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c.dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	var err error
	if c.Client, err = v.dial(t.Context(), addr, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: got error %v", err)
		}
	})
	return c
}

// fake is a server of HTTP/1.1 whose answers are bytes. Each connection is handed to serve with a reader of requests.
func fake(t *testing.T, serve func(c net.Conn, next func() *http.Request)) (addr string, requests *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests = new(atomic.Int64)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				defer context.AfterFunc(ctx, func() { c.Close() })()
				r := bufio.NewReader(c)
				serve(c, func() *http.Request {
					rq, err := http.ReadRequest(r)
					if err != nil {
						return nil
					}
					requests.Add(1)
					return rq
				})
			})
		}
	})
	t.Cleanup(func() { cancel(); l.Close(); wg.Wait() })
	return l.Addr().String(), requests
}

// reply writes an answer of JSON.
func reply(c net.Conn, status, body string) {
	fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// drained reads a request's body to its end.
func drained(rq *http.Request) *http.Request {
	if rq != nil {
		_, _ = io.Copy(io.Discard, rq.Body)
	}
	return rq
}

func ask(ctx context.Context, c service.DataAPI) error {
	_, err := c.DataType(ctx, service.DataTypeRequest{Group: "g", Name: "n"})
	return err
}

func kindOf(err error) string {
	var f *protocol.Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}

// TestCalls makes each call, over one connection but for a WebSocket's.
// TestNoRetries: a request whose answer does not come is sent once, whatever its method.
// TestAnswers has what servers may answer: each row is the class or the code that becomes of it.
// TestStops: a consumer that leaves early, by whatever way, ends the call at the server, and the client works after it.
// TestUploads: a point is at the server before the next one is made; an upload without end ends when the server has answered.
// TestEndedStreams: a context that ends in the middle of a stream ends its call, with its own error; so does Close.
// TestChats: one after another over one WebSocket or connection; a call after them has a WebSocket replaced.
// TestChatRefused: what a server without chats answers.
// TestProxiesAreBypassed: neither calls nor chats ask the environment for a way.
// BenchmarkDataType has both ends in one process.
