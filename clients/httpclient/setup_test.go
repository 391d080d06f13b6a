package httpclient_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"bakeoff/clients/httpclient"
	"bakeoff/protocol"
	"bakeoff/servers/httpserver"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// fasthttp has one clock for the Date header, which lives as long as the process.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// subjects are the knobs that tests run under.
var subjects = map[string]map[string]string{"default": nil, "tuned": {"codec": "fast", "headers": "off", "read": "when-ready"}}

// each runs a test under every subject.
func each(t *testing.T, test func(t *testing.T, o protocol.Options)) {
	for name, knobs := range subjects {
		t.Run(name, func(t *testing.T) { test(t, protocol.Options{Conns: 1, Knobs: knobs}) })
	}
}

// serve starts a server for the time of the test.
func serve(t testing.TB, a service.API, o protocol.Options) (addr string) {
	t.Helper()
	addr, _ = servicetest.Serve(t, func(ctx context.Context, l net.Listener) error { return httpserver.Serve(ctx, l, a, o) })
	return addr
}

// client is one whose dials are counted; it is closed when the test ends.
type client struct {
	protocol.Client
	dials *atomic.Int64
}

func dial(t testing.TB, addr string, o protocol.Options) client {
	t.Helper()
	c := client{dials: new(atomic.Int64)}
	base := o.DialContext
	if base == nil {
		base = new(net.Dialer).DialContext
	}
	o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c.dials.Add(1)
		return base(ctx, network, addr)
	}
	var err error
	if c.Client, err = httpclient.Dial(t.Context(), addr, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: got error %v", err)
		}
	})
	return c
}

// fake is a server whose answers are bytes. Each connection is handed to serve with a reader of requests.
func fake(t *testing.T, serve func(c net.Conn, next func() *http.Request)) (addr string, requests *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	requests = new(atomic.Int64)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			wg.Go(func() {
				defer c.Close()
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
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
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

// ask makes the call that every server here answers.
func ask(ctx context.Context, c service.DataAPI) error {
	_, err := c.DataType(ctx, service.DataTypeRequest{Group: "g", Name: "n"})
	return err
}
