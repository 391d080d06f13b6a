package httpserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/servers/httpserver"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRubbish: what is no HTTP is answered with a problem and ends its connection, and no other.
func TestRubbish(t *testing.T) {
	s := serve(t, echo, protocol.Options{})
	for _, row := range []struct {
		in     string
		status int
	}{
		{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n", 400},
		{"\x00\x00\x00\x10rubbish\n\n\n\n\r\n\r\n", 400},
		{"POST /v1/datatype HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n{}", 400},
		{"POST /v1/datatype HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}", 400},
		{"POST /v1/datatype HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 400},
		{"GET /healthz HTTP/1.1\r\nHost: x\r\nLong: " + strings.Repeat("x", 5000) + "\r\n\r\n", 431},
	} {
		c := dial(t, s.addr)
		if _, err := io.WriteString(c, row.in); err != nil {
			t.Fatal(err)
		}
		rp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("%.60q: %v", row.in, err)
			continue
		}
		body, _ := io.ReadAll(rp.Body)
		a := answer{rp.StatusCode, rp.Header, string(body)}
		a.problem(t)
		if a.status != row.status || !rp.Close {
			t.Errorf("%.60q: got status %d, close %v, want %d and the end of the connection", row.in, a.status, rp.Close, row.status)
		}
	}
	if a := do(t, "GET", s.addr+"/healthz", ""); a.status != 200 {
		t.Errorf("afterwards: got status %d", a.status)
	}
}

// TestSlowWriters: a request that does not arrive in time is given up.
func TestSlowWriters(t *testing.T) {
	s := serve(t, echo, protocol.Options{ServerIdle: 50 * time.Millisecond})
	for in, want := range map[string]string{
		"": "", // never a byte: closed, or told so
		"POST /v1/datatype HTTP/1.1\r\nHost: x\r\n":                              "HTTP/1.1 408",
		"POST /v1/datatype HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{\"": "HTTP/1.1 408",
		"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n":                               "HTTP/1.1 200", // then idle
	} {
		c := dial(t, s.addr)
		if _, err := io.WriteString(c, in); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%q: got %.200q, %v, want %q and the end of the connection", in, got, err, want)
		}
	}
}

// TestPipelined: requests that come at once are answered in turn.
func TestPipelined(t *testing.T) {
	s := serve(t, echo, protocol.Options{})
	c := dial(t, s.addr)
	const n = 20
	for i := range n {
		body := fmt.Sprintf(`{"groupName":"%d"}`, i)
		fmt.Fprintf(c, "POST /v1/datatype HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	r := bufio.NewReader(c)
	for i := range n {
		rp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(rp.Body); err != nil || !strings.Contains(string(b), fmt.Sprintf(`"cnName":"%d|"`, i)) {
			t.Errorf("answer %d: got %s, %v", i, b, err)
		}
	}
}

// TestStopDrains: what is under way when the server is told to stop comes to its end, what is idle is closed.
func TestStopDrains(t *testing.T) {
	begun, release := make(chan string, 4), make(chan struct{})
	hold := func(name string) {
		begun <- name
		<-release
	}
	s := serve(t, servicetest.API{
		OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
			hold("call")
			return service.DataType{CnName: "done"}, nil
		},
		OnListFeatures: func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				_ = yield(service.Feature{Name: "first"}, nil)
				hold("list")
				_ = yield(service.Feature{Name: "last"}, nil)
			}
		},
		OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
			n := int32(0)
			for _, err := range points {
				if err != nil {
					return service.RouteSummary{}, err
				}
				if n++; n == 1 {
					begun <- "upload"
				}
			}
			return service.RouteSummary{PointCount: n}, nil
		},
		OnRouteChat: func(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
			return func(yield func(service.RouteNote, error) bool) {
				for n, err := range notes {
					if n.Message == "hold" {
						begun <- "chat"
					}
					if !yield(n, err) {
						return
					}
				}
			}
		},
	}, protocol.Options{})
	fresh := dial(t, s.addr)
	idle := dial(t, s.addr)
	fmt.Fprintf(idle, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
	if rp, err := http.ReadResponse(bufio.NewReader(idle), nil); err != nil || rp.StatusCode != 200 {
		t.Fatal(rp, err)
	}
	idleChat := dialChat(t, s.addr)
	say(t, idleChat, end)
	hear(t, idleChat, end)

	var wg sync.WaitGroup
	wg.Go(func() {
		if a := do(t, "POST", s.addr+httpapi.PathDataType, `{}`); a.status != 200 || !strings.Contains(a.body, "done") {
			t.Errorf("the call: got %d %s", a.status, a.body)
		}
	})
	wg.Go(func() {
		if a := do(t, "GET", s.addr+"/v1/features?lo=1,2&hi=3,4", ""); a.status != 200 || !strings.Contains(a.body, "last") {
			t.Errorf("the list: got %d %s", a.status, a.body)
		}
	})
	r, w := io.Pipe()
	wg.Go(func() {
		if a := doReader(t, "POST", s.addr+httpapi.PathRoutes, r); a.status != 200 || !strings.Contains(a.body, `"pointCount":2`) {
			t.Errorf("the upload: got %d %s", a.status, a.body)
		}
	})
	if _, err := io.WriteString(w, "{}\n"); err != nil {
		t.Fatal(err)
	}
	chat := dialChat(t, s.addr)
	say(t, chat, `{"message":"hold"}`)
	for range 4 {
		<-begun
	}
	hear(t, chat, `{"location"`)

	stopped := make(chan struct{})
	go func() { defer close(stopped); s.stop() }()
	for name, c := range map[string]net.Conn{"fresh": fresh, "idle": idle, "idle chat": idleChat.NetConn()} {
		if b, err := io.ReadAll(c); err != nil && !errors.Is(err, net.ErrClosed) || len(b) > 0 && name != "fresh" {
			t.Errorf("the %s connection: got %q, %v, want its end", name, b, err)
		}
	}
	select {
	case <-stopped:
		t.Error("the server stopped with calls in flight")
	default:
	}
	say(t, chat, `{"message":"bye"}`)
	hear(t, chat, `{"location"`)
	say(t, chat, end)
	hear(t, chat, end)
	if _, err := io.WriteString(w, "{}\n"); err != nil {
		t.Error(err)
	}
	w.Close()
	close(release)
	wg.Wait()
	<-stopped
}

// TestStopEndsWhatDoesNotEnd: after its patience the server ends what is under way, through the context and on the
// connection.
func TestStopEndsWhatDoesNotEnd(t *testing.T) {
	const patience = 100 * time.Millisecond
	begun := make(chan struct{}, 3)
	s := serveDraining(t, servicetest.API{
		OnDataType: func(ctx context.Context, _ service.DataTypeRequest) (service.DataType, error) {
			begun <- struct{}{}
			<-ctx.Done()
			return service.DataType{}, ctx.Err()
		},
	}, protocol.Options{}, patience)
	call := dial(t, s.addr)
	fmt.Fprintf(call, "POST /v1/datatype HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
	upload := dial(t, s.addr)
	fmt.Fprintf(upload, "POST /v1/routes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n")
	chat := dialChat(t, s.addr)
	say(t, chat, `{"message":"a"}`)
	hear(t, chat, `{"location"`)
	<-begun
	start := time.Now()
	s.stop()
	if took := time.Since(start); took > patience+3*time.Second {
		t.Errorf("the server took %v to stop, with a patience of %v", took, patience)
	}
	for name, c := range map[string]net.Conn{"call": call, "upload": upload, "chat": chat.NetConn()} {
		if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("the %s: its connection is still open", name)
		}
	}
}

// TestServeFails: what keeps a server from serving is an error.
func TestServeFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := httpserver.Serve(t.Context(), l, echo, protocol.Options{Knobs: map[string]string{"codec": "best"}}); err == nil || !strings.Contains(err.Error(), "best") {
		t.Errorf("a wrong option: got error %v", err)
	}
	if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := httpserver.Serve(t.Context(), l, echo, protocol.Options{}); !errors.Is(err, net.ErrClosed) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("a closed listener: got error %v, want one with the address", err)
	}
	if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := httpserver.Serve(over, l, echo, protocol.Options{}); err != nil {
		t.Errorf("a context that is over: got error %v", err)
	}
}
