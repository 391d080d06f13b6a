package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"bakeoff/clients/httpclient"
	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// TestCalls makes each call once, over one connection but for the chat's.
func TestCalls(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		c := dial(t, serve(t, servicetest.API{}, o), o)
		ctx := t.Context()
		s, err := c.Login(ctx, service.LoginRequest{ClientID: "c", Secret: "語"})
		if want := (service.Session{Token: "c/語", Expires: time.UnixMilli(1_900_000_000_123).UTC()}); err != nil || s != want {
			t.Errorf("got %v, %v, want %v", s, err, want)
		}
		d, err := c.DataType(ctx, service.DataTypeRequest{Auth: service.Auth{Token: "t"}, Group: "a<b", Name: "語音\x00"})
		if want := (service.DataType{Token: "t", CodeID: 3, CnName: "a<b|語音\x00"}); err != nil || d != want {
			t.Errorf("got %v, %v, want %v", d, err, want)
		}
		lo, hi := service.Point{Latitude: math.MinInt32, Longitude: 1}, service.Point{Latitude: 2, Longitude: math.MaxInt32}
		f, err := c.GetFeature(ctx, lo)
		if want := (service.Feature{Name: "地點", Location: lo}); err != nil || f != want {
			t.Errorf("got %v, %v, want %v", f, err, want)
		}
		all, err := service.Collect(c.ListFeatures(ctx, service.Rectangle{Lo: lo, Hi: hi}))
		if err != nil || len(all) != 2 || all[0] != (service.Feature{Name: "lo", Location: lo}) || all[1] != (service.Feature{Name: "hi", Location: hi}) {
			t.Errorf("got %v, %v", all, err)
		}
		sum, err := c.RecordRoute(ctx, service.All(make([]service.Point, 1000)))
		if err != nil || sum.PointCount != 1000 {
			t.Errorf("got %v, %v, want 1000 points", sum, err)
		}
		if n := c.dials.Load(); n != 1 {
			t.Errorf("%d connections were opened for 5 calls, want 1", n)
		}
	})
}

// TestInvalidText: a string that JSON would change is refused before anything is sent.
func TestInvalidText(t *testing.T) {
	addr, requests := fake(t, func(c net.Conn, next func() *http.Request) {
		for drained(next()) != nil {
			reply(c, "200 OK", "{}")
		}
	})
	c := dial(t, addr, protocol.Options{Conns: 1})
	_, err := c.DataType(t.Context(), service.DataTypeRequest{Group: "a\xff"})
	if e := service.AsError(err); e == nil || e.Code != service.InvalidArgument {
		t.Errorf("got error %v, want invalid_argument", err)
	}
	_, err = service.Collect(c.RouteChat(t.Context(), service.All([]service.RouteNote{{Message: "a\xff"}})))
	if err == nil {
		t.Error("a chat of a note that is not UTF-8: got no error")
	}
	if err := ask(t.Context(), c); err != nil {
		t.Errorf("afterwards: got error %v", err)
	}
	if n := requests.Load(); n != 2 { // the upgrade and the last call
		t.Errorf("%d requests were sent, want 2", n)
	}
}

// TestLimits: what is over the limit fails alike at either end, and the client works after it.
func TestLimits(t *testing.T) {
	const limit = 10_000
	each(t, func(t *testing.T, o protocol.Options) {
		long := func(n int) service.DataTypeRequest { return service.DataTypeRequest{Group: strings.Repeat("x", n)} }
		tight := o
		tight.MaxMessage = limit
		wide := dial(t, serve(t, servicetest.API{}, tight), o)   // the server refuses the request
		narrow := dial(t, serve(t, servicetest.API{}, o), tight) // the client refuses
		answers := dial(t, serve(t, servicetest.API{OnDataType: func(context.Context, service.DataTypeRequest) (service.DataType, error) {
			return service.DataType{CnName: strings.Repeat("x", limit)}, nil
		}}, o), tight) // the client refuses the answer
		for name, call := range map[string]func() error{
			"server":  func() error { _, err := wide.DataType(t.Context(), long(limit)); return err },
			"client":  func() error { _, err := narrow.DataType(t.Context(), long(limit)); return err },
			"answer":  func() error { return ask(t.Context(), answers) },
			"feature": func() error { _, err := answers.DataType(t.Context(), long(5)); return err },
		} {
			var e *service.Error
			if err := call(); !errors.As(err, &e) || e.Code != service.ResourceExhausted {
				t.Errorf("%s: got error %v, want resource_exhausted", name, err)
			}
		}
		for name, c := range map[string]client{"server": wide, "client": narrow} {
			if _, err := c.DataType(t.Context(), long(limit/3)); err != nil {
				t.Errorf("%s, after it: got error %v", name, err)
			}
		}
		if n := narrow.dials.Load(); n != 1 {
			t.Errorf("a request that was not sent cost a connection: %d dials", n)
		}
	})
}

// TestNoRetries: a request whose answer does not come is sent once, whatever its method.
func TestNoRetries(t *testing.T) {
	for name, call := range map[string]func(c client) error{
		"POST": func(c client) error { return ask(t.Context(), c) },
		"GET":  func(c client) error { _, err := c.GetFeature(t.Context(), service.Point{}); return err },
		"list": func(c client) error {
			_, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{}))
			return err
		},
		"record": func(c client) error {
			_, err := c.RecordRoute(t.Context(), service.All[service.Point](nil))
			return err
		},
		"chat": func(c client) error {
			_, err := service.Collect(c.RouteChat(t.Context(), service.All[service.RouteNote](nil)))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			addr, requests := fake(t, func(_ net.Conn, next func() *http.Request) { drained(next()) })
			c := dial(t, addr, protocol.Options{Conns: 2})
			err := call(c)
			if kind := kindOf(err); kind != protocol.StaleConn {
				t.Errorf("got error %v, want class stale_conn", err)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests arrived, want 1", n)
			}
		})
	}
}

func kindOf(err error) string {
	var f *protocol.Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}

// TestConnectionClose: a server that says that it closes is believed.
func TestConnectionClose(t *testing.T) {
	addr, _ := fake(t, func(c net.Conn, next func() *http.Request) {
		drained(next())
		_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"))
	})
	c := dial(t, addr, protocol.Options{Conns: 1})
	for range 3 {
		if err := ask(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if n := c.dials.Load(); n != 3 {
		t.Errorf("got %d dials for 3 calls, want 3", n)
	}
}

// TestAnswers has what servers may answer: each row is the class or the code that becomes of it.
func TestAnswers(t *testing.T) {
	for _, row := range []struct {
		name, answer, class string
	}{
		{"no HTTP", "\x00\x00\x12\x04\x00 rubbish\r\n\r\n", protocol.Malformed},
		{"no JSON", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\noops", protocol.Malformed},
		{"JSON of something else", "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"codeId\":1.5}", protocol.Malformed},
		{"half a header", "HTTP/1.1 200 OK\r\nConte", protocol.Reset},
		{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{\"codeId\":1", protocol.Reset},
		{"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{\"codeId\":1", protocol.Reset},
		{"a gateway's failure", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>", "unavailable"},
		{"a redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "internal"},
		{"an interim answer", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "not_found"},
	} {
		for name, call := range map[string]func(c client) error{
			"call": func(c client) error { return ask(t.Context(), c) },
			"list": func(c client) error {
				_, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{}))
				return err
			},
			"record": func(c client) error {
				_, err := c.RecordRoute(t.Context(), service.All(make([]service.Point, 3)))
				return err
			},
		} {
			if row.name == "JSON of something else" && name != "call" {
				continue // unknown fields are skipped
			}
			addr, requests := fake(t, func(c net.Conn, next func() *http.Request) {
				drained(next())
				_, _ = c.Write([]byte(row.answer))
			})
			err := call(dial(t, addr, protocol.Options{Conns: 1}))
			var classed interface{ Class() string }
			if !errors.As(err, &classed) || classed.Class() != row.class {
				t.Errorf("%s, %s: got error %v, want class %s", row.name, name, err, row.class)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("%s, %s: %d requests arrived, want 1", row.name, name, n)
			}
		}
	}
}

// TestEarlyRefusal: a server that answers before it has read all, and closes, is still heard.
func TestEarlyRefusal(t *testing.T) {
	addr, _ := fake(t, func(c net.Conn, next func() *http.Request) {
		next() // the body stays unread
		reply(c, "413 Content Too Large", `{"status":413,"detail":"no","code":"resource_exhausted"}`)
	})
	c := dial(t, addr, protocol.Options{Conns: 1, MaxMessage: 64 << 20})
	_, err := c.DataType(t.Context(), service.DataTypeRequest{Group: strings.Repeat("x", 32<<20)}) // more than sockets hold
	var e *service.Error
	if !errors.As(err, &e) || *e != (service.Error{Code: service.ResourceExhausted, Msg: "no"}) {
		t.Errorf("got error %v, want the server's", err)
	}
}

// TestDial: what Dial may fail with.
func TestDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	if _, err := httpclient.Dial(t.Context(), addr, protocol.Options{Conns: 1}); kindOf(err) != protocol.Refused || !strings.Contains(err.Error(), addr) {
		t.Errorf("nobody listens: got error %v, want class refused and the address", err)
	}
	for cause, kind := range map[error]string{syscall.EMFILE: protocol.Local, context.DeadlineExceeded: protocol.Timeout} {
		_, err := httpclient.Dial(t.Context(), "example:1", protocol.Options{Conns: 1, DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, fmt.Errorf("planted: %w", cause)
		}})
		if kindOf(err) != kind || !strings.Contains(err.Error(), "example:1") {
			t.Errorf("%v: got error %v, want class %s and the address", cause, err, kind)
		}
	}
	if _, err := httpclient.Dial(t.Context(), addr, protocol.Options{Knobs: map[string]string{"codec": "best"}}); err == nil || !strings.Contains(err.Error(), "best") {
		t.Errorf("a wrong option: got error %v", err)
	}
}

// TestProxiesAreBypassed: neither calls nor chats ask the environment for a way.
func TestProxiesAreBypassed(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	c := dial(t, serve(t, servicetest.API{}, protocol.Options{}), protocol.Options{Conns: 1})
	if err := ask(t.Context(), c); err != nil {
		t.Errorf("call: got error %v", err)
	}
	if _, err := service.Collect(c.RouteChat(t.Context(), service.All(make([]service.RouteNote, 2)))); err != nil {
		t.Errorf("chat: got error %v", err)
	}
}

// TestManyConnections: 1000 at a time, which fasthttp's own client would refuse.
func TestManyConnections(t *testing.T) {
	const n = 1000
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < 2*n+100 {
		t.Skipf("%d connections need %d file descriptors here; the limit is %d (ulimit -n)", n, 2*n+100, files.Cur)
	}
	arrived, all := make(chan struct{}, n), make(chan struct{})
	addr := serve(t, servicetest.API{OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
		arrived <- struct{}{}
		<-all
		return service.DataType{CnName: r.Name}, nil
	}}, protocol.Options{InFlight: n})
	c := dial(t, addr, protocol.Options{Conns: n, InFlight: n})
	var g errgroup.Group
	for i := range n {
		g.Go(func() error {
			name := fmt.Sprint(i)
			d, err := c.DataType(t.Context(), service.DataTypeRequest{Name: name})
			if err == nil && d.CnName != name {
				err = fmt.Errorf("call %s got the answer of %s", name, d.CnName)
			}
			return err
		})
	}
	for range n {
		<-arrived
	}
	close(all)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if d := c.dials.Load(); d != n {
		t.Errorf("got %d dials, want %d", d, n)
	}
}

// TestClose: it ends calls in flight and those that wait, of every kind.
func TestClose(t *testing.T) {
	begun := make(chan struct{}, 1)
	c := dial(t, serveHanging(t, begun), protocol.Options{Conns: 1})
	failed := make(chan error, 2)
	go func() { failed <- hanging["call"](t.Context(), c) }()
	<-begun
	go func() { failed <- ask(t.Context(), c) }() // waits for the connection
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := <-failed; !errors.Is(err, protocol.ErrClosed) || kindOf(err) == "" {
			t.Errorf("got error %v, want a fault that says that the client is closed", err)
		}
	}
	if err := ask(t.Context(), c); !errors.Is(err, protocol.ErrClosed) {
		t.Errorf("after Close: got error %v", err)
	}
	if _, err := service.Collect(c.RouteChat(t.Context(), service.All[service.RouteNote](nil))); !errors.Is(err, protocol.ErrClosed) {
		t.Errorf("a chat after Close: got error %v", err)
	}
}
