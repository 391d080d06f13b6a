package nethttp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen hands each connection to serve until the test ends, when all are closed.
func listen(t *testing.T, serve func(c net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
				serve(c)
			})
		}
	})
	t.Cleanup(func() { cancel(); l.Close(); wg.Wait() })
	return l.Addr().String()
}

// dial counts the dials.
func dial(t *testing.T, addr string, v nethttp.Version, o protocol.Options) (*nethttp.Client, *atomic.Int64) {
	t.Helper()
	dials := new(atomic.Int64)
	o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	c, err := nethttp.Dial(t.Context(), addr, v, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, dials
}

// get makes a call, and returns the body of its answer.
func get(ctx context.Context, c *nethttp.Client) (string, error) {
	k, err := c.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer k.Drop()
	rq := &http.Request{Method: "GET", URL: &url.URL{Scheme: c.Scheme, Host: "test", Path: "/"}, Header: http.Header{}}
	rp, err := k.RoundTrip(rq.WithContext(k.Context()))
	if err != nil {
		return "", k.Fail(err)
	}
	defer rp.Body.Close()
	b, err := io.ReadAll(rp.Body)
	if err != nil {
		return "", k.Fail(err)
	}
	k.End(!rp.Close)
	return string(b), nil
}

func kindOf(err error) string {
	var f *protocol.Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}

// frames is a server of HTTP/2 made of frames: answer gets each request's stream.
func frames(t *testing.T, answer func(f *http2.Framer, stream uint32, ok func(stream uint32), c net.Conn)) (addr string, requests *atomic.Int64) {
	requests = new(atomic.Int64)
	return listen(t, func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		if f.WriteSettings() != nil {
			return
		}
		ok := func(stream uint32) {
			var head strings.Builder
			_ = hpack.NewEncoder(&head).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(head.String()), EndHeaders: true})
			_ = f.WriteData(stream, true, []byte("ok"))
		}
		for {
			fr, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch fr := fr.(type) {
			case *http2.SettingsFrame:
				if !fr.IsAck() {
					_ = f.WriteSettingsAck()
				}
			case *http2.PingFrame:
				if !fr.IsAck() {
					_ = f.WritePing(true, fr.Data)
				}
			case *http2.HeadersFrame:
				requests.Add(1)
				answer(f, fr.StreamID, ok, c)
			}
		}
	}), requests
}

// TestFaultsOfHTTP2: what a server may do to a call, which is made once whatever that is; the next one is answered.
func TestFaultsOfHTTP2(t *testing.T) {
	for _, row := range []struct {
		name  string
		do    func(f *http2.Framer, stream uint32, c net.Conn)
		kind  string
		dials int64 // with the next call's
	}{
		{"refuses the stream", func(f *http2.Framer, s uint32, _ net.Conn) { _ = f.WriteRSTStream(s, http2.ErrCodeRefusedStream) }, protocol.StaleConn, 1},
		{"resets the stream", func(f *http2.Framer, s uint32, _ net.Conn) { _ = f.WriteRSTStream(s, http2.ErrCodeInternal) }, protocol.Reset, 1},
		{"says goodbye before the call", func(f *http2.Framer, _ uint32, _ net.Conn) { _ = f.WriteGoAway(1, http2.ErrCodeNo, nil) }, protocol.StaleConn, 2},
		{"says goodbye and hangs up in the call", func(f *http2.Framer, s uint32, c net.Conn) {
			_ = f.WriteGoAway(s, http2.ErrCodeNo, nil)
			c.Close()
		}, protocol.Reset, 2},
		{"hangs up", func(_ *http2.Framer, _ uint32, c net.Conn) { c.Close() }, protocol.Reset, 2},
		{"sends what is no frame", func(_ *http2.Framer, _ uint32, c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"))
		}, protocol.Malformed, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			var calls atomic.Int64
			addr, requests := frames(t, func(f *http2.Framer, s uint32, ok func(uint32), c net.Conn) {
				if calls.Add(1) == 2 {
					row.do(f, s, c)
					return
				}
				ok(s)
			})
			c, dials := dial(t, addr, nethttp.HTTP2, protocol.Options{Conns: 1})
			if _, err := get(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if _, err := get(t.Context(), c); kindOf(err) != row.kind {
				t.Errorf("got error %v, want class %s", err, row.kind)
			}
			if n := requests.Load(); n != 2 {
				t.Errorf("%d requests arrived, want 2", n)
			}
			// The call that broke may return before the connection as a whole has: the next may meet it broken, and says so.
			body, err := get(t.Context(), c)
			for kindOf(err) != "" {
				body, err = get(t.Context(), c)
			}
			if body != "ok" || err != nil || dials.Load() != row.dials {
				t.Errorf("the next call: got %q, %v over %d connections, want an answer over %d", body, err, dials.Load(), row.dials)
			}
		})
	}
}

// TestGoodbyeWithACallUnderWay: the call that the server still answers comes to its end; the next finds no room on that
// connection, and the one after it has a new one.
func TestGoodbyeWithACallUnderWay(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	var left atomic.Pointer[http2.Framer]
	addr, _ := frames(t, func(f *http2.Framer, s uint32, ok func(uint32), _ net.Conn) {
		if left.CompareAndSwap(nil, f) {
			_ = f.WriteGoAway(s, http2.ErrCodeNo, nil)
			go func() { <-release; ok(s) }()
			close(begun)
		} else if left.Load() != f { // what comes after the goodbye is not heard
			ok(s)
		}
	})
	c, dials := dial(t, addr, nethttp.HTTP2, protocol.Options{Conns: 1})
	first := make(chan error)
	go func() { _, err := get(t.Context(), c); first <- err }()
	<-begun
	for dials.Load() == 1 { // until the goodbye has been read, calls are refused for having come too late
		if _, err := get(t.Context(), c); err != nil && kindOf(err) != protocol.StaleConn {
			t.Fatalf("got error %v, want class stale_conn", err)
		}
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("the call under way: %v", err)
	}
	if body, err := get(t.Context(), c); body != "ok" || dials.Load() != 2 {
		t.Errorf("got %q, %v over %d connections, want an answer over 2", body, err, dials.Load())
	}
}

// TestFaultsOfHTTP1 likewise.
func TestFaultsOfHTTP1(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, row := range []struct{ name, answer, kind string }{
		{"hangs up", "", protocol.StaleConn},
		{"hangs up in the head", "HTTP/1.1 200 OK\r\nConte", protocol.Malformed}, // net/http tells it as a header without a colon
		{"hangs up in the body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", protocol.Reset},
		{"speaks something else", "\x00\x00\x12\x04\x00 rubbish\r\n\r\n", protocol.Malformed},
		{"speaks HTTP/1.0 and TLS", "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n", protocol.Malformed},
		{"has given it up as idle", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var calls atomic.Int64
			addr := listen(t, func(c net.Conn) {
				r := bufio.NewReader(c)
				for {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					if calls.Add(1) == 2 {
						_, _ = io.WriteString(c, row.answer)
						return
					}
					_, _ = io.WriteString(c, ok)
				}
			})
			c, dials := dial(t, addr, nethttp.HTTP1, protocol.Options{Conns: 1})
			if _, err := get(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if _, err := get(t.Context(), c); kindOf(err) != row.kind {
				t.Errorf("got error %v, want class %q", err, row.kind)
			}
			if n := calls.Load(); n != 2 {
				t.Errorf("%d requests arrived, want 2", n)
			}
			if body, err := get(t.Context(), c); body != "ok" || dials.Load() != 2 {
				t.Errorf("the next call: got %q, %v over %d connections, want an answer over 2", body, err, dials.Load())
			}
		})
	}
}

// TestIdle: a connection that its server has closed, or is about to, is replaced before a call is made on it.
func TestIdle(t *testing.T) {
	for name, v := range map[string]nethttp.Version{"HTTP1": nethttp.HTTP1, "HTTP2": nethttp.HTTP2} {
		t.Run(name, func(t *testing.T) {
			o := protocol.Options{Conns: 1, ServerIdle: 100 * time.Millisecond}
			addr := serving(t, v, o, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
			c, dials := dial(t, addr, v, o)
			late := time.NewTicker(3 * o.ServerIdle)
			defer late.Stop()
			for n := int64(1); n <= 3; n++ {
				for range 2 {
					if body, err := get(t.Context(), c); body != "ok" || dials.Load() != n {
						t.Fatalf("got %q, %v over connection %d, want %d", body, err, dials.Load(), n)
					}
				}
				<-late.C
			}
		})
	}
}

// serving runs a Server until the test ends.
func serving(t *testing.T, v nethttp.Version, o protocol.Options, h http.HandlerFunc) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- (&nethttp.Server{Version: v, Handler: h}).Serve(ctx, l, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// TestManyStreams: 300 calls at a time over one connection, which net/http's servers by themselves don't take.
func TestManyStreams(t *testing.T) {
	const n = 300
	arrived, release := make(chan struct{}, n), make(chan struct{})
	o := protocol.Options{Conns: 1, InFlight: n}
	addr := serving(t, nethttp.HTTP2, o, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
	})
	c, dials := dial(t, addr, nethttp.HTTP2, o)
	errs := make(chan error, n)
	for range n {
		go func() { _, err := get(t.Context(), c); errs <- err }()
	}
	for range n {
		<-arrived
	}
	close(release)
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if d := dials.Load(); d != 1 {
		t.Errorf("%d connections, want 1", d)
	}
}

// TestRedialIsShared: calls that meet a broken connection wait for one dial; those whose time is over do not.
func TestRedialIsShared(t *testing.T) {
	var calls, dials atomic.Int64
	addr, _ := frames(t, func(_ *http2.Framer, s uint32, ok func(uint32), c net.Conn) {
		if calls.Add(1) == 1 {
			c.Close()
			return
		}
		ok(s)
	})
	dialling, release := make(chan struct{}), make(chan struct{})
	o := protocol.Options{Conns: 1, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials.Add(1) == 2 {
			close(dialling)
			<-release
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	c, err := nethttp.Dial(t.Context(), addr, nethttp.HTTP2, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answered := make(chan error)
	go func() {
		for {
			if _, err := get(t.Context(), c); kindOf(err) != protocol.Reset && kindOf(err) != protocol.StaleConn {
				answered <- err
				return
			}
		}
	}()
	<-dialling
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var late *service.Error
	if _, err := get(soon, c); !errors.As(err, &late) || late.Code != service.DeadlineExceeded {
		t.Errorf("got error %v, want deadline_exceeded", err)
	}
	close(release)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if n := dials.Load(); n != 2 {
		t.Errorf("%d dials, want 2", n)
	}
}
