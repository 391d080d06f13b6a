package grpcclient_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"bakeoff/clients/grpcclient"
	"bakeoff/protocol"
	"bakeoff/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rawCodec gives the bytes of messages, and reads none.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (rawCodec) Unmarshal(mem.BufferSlice, any) error { return nil }

// scripted is a gRPC server that answers every call of any method with handle; the answers are bytes.
func scripted(t *testing.T, handle grpc.StreamHandler) (addr string, s *grpc.Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = grpc.NewServer(grpc.UnknownServiceHandler(handle), grpc.ForceServerCodecV2(rawCodec{}))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), s
}

func dial(t testing.TB, addr string, o protocol.Options) protocol.Client {
	t.Helper()
	c, err := grpcclient.Dial(t.Context(), addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

func wantFault(t *testing.T, what string, err error, kind string) {
	t.Helper()
	var f *protocol.Fault
	if !errors.As(err, &f) || f.Kind != kind {
		t.Errorf("%s: %v, want a fault of the kind %s", what, err, kind)
	}
}

func get(c protocol.Client) error {
	_, err := c.GetFeature(context.Background(), service.Point{})
	return err
}

// freeAddr is an address at which nobody listens.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().String()
}

func TestDialFails(t *testing.T) {
	open := func(err error) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: err}
		}
	}
	silent := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	web := listen(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
		_, _ = io.Copy(io.Discard, c)
	})
	deaf := listen(t, func(net.Conn) {})
	for name, row := range map[string]struct {
		addr string
		o    protocol.Options
		kind string
	}{
		"nobody listens":       {freeAddr(t), protocol.Options{Conns: 3}, protocol.Refused},
		"no descriptors left":  {"10.0.0.1:1", protocol.Options{DialContext: open(syscall.EMFILE)}, protocol.Local},
		"no ports left":        {"10.0.0.1:1", protocol.Options{DialContext: open(syscall.EADDRNOTAVAIL)}, protocol.Local},
		"nobody answers":       {"10.0.0.1:1", protocol.Options{DialContext: open(syscall.ETIMEDOUT)}, protocol.Timeout},
		"reset":                {"10.0.0.1:1", protocol.Options{DialContext: open(syscall.ECONNRESET)}, protocol.Reset},
		"a web server answers": {web, protocol.Options{}, protocol.Malformed},
		"it hangs up":          {deaf, protocol.Options{}, protocol.Malformed},
	} {
		c, err := grpcclient.Dial(t.Context(), row.addr, row.o)
		if err == nil {
			c.Close()
		}
		wantFault(t, name, err, row.kind)
		if err != nil && !strings.Contains(err.Error(), row.addr) {
			t.Errorf("%s: %v does not name the address %s", name, err, row.addr)
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := grpcclient.Dial(ctx, silent, protocol.Options{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), silent) {
		t.Errorf("nothing is said: %v, want the deadline and the address", err)
	}
	_, err = grpcclient.Dial(t.Context(), silent, protocol.Options{Knobs: map[string]string{"codec": "x"}})
	if err == nil || !strings.Contains(err.Error(), `option codec: "x"`) {
		t.Errorf("%v, want what is wrong with the codec", err)
	}
	if _, err = grpcclient.Dial(t.Context(), "no\x7faddress", protocol.Options{}); err == nil {
		t.Error("an address that is none was dialled")
	}
}

// TestDialOpensAll counts the sockets that stand when Dial returns, and the calls over each.
func TestDialOpensAll(t *testing.T) {
	const conns, calls = 5, 20
	var mu sync.Mutex
	over := make(map[string]int)
	addr, _ := scripted(t, func(_ any, s grpc.ServerStream) error {
		p, _ := peer.FromContext(s.Context())
		mu.Lock()
		over[p.Addr.String()]++
		mu.Unlock()
		return s.SendMsg([]byte{})
	})
	var dials atomic.Int32
	o := protocol.Options{Conns: conns, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	c := dial(t, addr, o)
	if n := dials.Load(); n != conns {
		t.Errorf("%d sockets, want %d", n, conns)
	}
	for range calls {
		if err := get(c); err != nil {
			t.Fatal(err)
		}
	}
	for from, n := range over {
		if n != calls/conns {
			t.Errorf("%d calls over %s, want %d/%d", n, from, calls, conns)
		}
	}
	if len(over) != conns || dials.Load() != conns {
		t.Errorf("calls over %d sockets, of %d, want %d", len(over), dials.Load(), conns)
	}
}

// TestDialFailsHalfway opens two of three: the two are closed again (goleak, and the server's end of them).
func TestDialFailsHalfway(t *testing.T) {
	addr, s := scripted(t, func(any, grpc.ServerStream) error { return nil })
	var dials atomic.Int32
	o := protocol.Options{Conns: 3, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials.Add(1) == 3 {
			return nil, syscall.ENFILE
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	_, err := grpcclient.Dial(t.Context(), addr, o)
	wantFault(t, "the third of three", err, protocol.Local)
	s.GracefulStop() // returns when no connection is left
}

// TestStatuses has a foreign server answer with statuses that no service of ours made.
func TestStatuses(t *testing.T) {
	var code codes.Code
	addr, _ := scripted(t, func(any, grpc.ServerStream) error { return status.Error(code, "theirs") })
	c := dial(t, addr, protocol.Options{})
	for _, row := range []struct {
		code  codes.Code
		class string
	}{
		{codes.InvalidArgument, "invalid_argument"}, {codes.Unauthenticated, "unauthenticated"}, {codes.NotFound, "not_found"},
		{codes.DeadlineExceeded, "deadline_exceeded"}, {codes.ResourceExhausted, "resource_exhausted"},
		{codes.Unavailable, protocol.Reset}, {codes.Canceled, protocol.Reset},
		{codes.Internal, protocol.Malformed}, {codes.Unknown, protocol.Malformed}, {codes.Unimplemented, protocol.Malformed},
		{codes.DataLoss, protocol.Malformed},
	} {
		code = row.code
		err := get(c)
		var classed interface{ Class() string }
		if !errors.As(err, &classed) || classed.Class() != row.class || !strings.Contains(err.Error(), "theirs") {
			t.Errorf("%v: %v, want the class %s and the words of the status", row.code, err, row.class)
		}
	}
}

// TestBrokenAnswers has answers that no gRPC server would send.
func TestBrokenAnswers(t *testing.T) {
	rst := func(code byte) func(uint32) []byte {
		return func(stream uint32) []byte { return frame(frameRST, 0, stream, 0, 0, 0, code) }
	}
	for name, row := range map[string]struct {
		answer func(stream uint32) []byte
		kind   string
	}{
		"REFUSED_STREAM":       {rst(7), protocol.StaleConn},
		"CANCEL":               {rst(8), protocol.Reset},
		"INTERNAL_ERROR":       {rst(2), protocol.Reset},
		"ENHANCE_YOUR_CALM":    {rst(11), protocol.Reset},
		"going away, unserved": {func(uint32) []byte { return frame(frameGoAway, 0, 0, make([]byte, 8)...) }, protocol.StaleConn},
		"the connection ends":  {func(uint32) []byte { return nil }, protocol.Reset},
		"no headers":           {func(stream uint32) []byte { return frame(frameData, 1, stream, 0, 0, 0, 0, 0) }, protocol.Malformed},
	} {
		wantFault(t, name, get(dial(t, rawServer(t, row.answer), protocol.Options{})), row.kind)
	}
	addr, _ := scripted(t, func(_ any, s grpc.ServerStream) error { return s.SendMsg([]byte{0xff}) })
	c := dial(t, addr, protocol.Options{})
	wantFault(t, "a message that is none", get(c), protocol.Malformed)
	_, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{}))
	wantFault(t, "a streamed message that is none", err, protocol.Malformed)
}

// TestServerComesAndGoes stops the server during a call, calls while there is none, and after another is there.
func TestServerComesAndGoes(t *testing.T) {
	called := make(chan struct{}, 1)
	addr, s := scripted(t, func(_ any, s grpc.ServerStream) error {
		called <- struct{}{}
		<-s.Context().Done()
		return s.Context().Err()
	})
	c := dial(t, addr, protocol.Options{})
	go func() {
		<-called
		s.Stop()
	}()
	wantFault(t, "during the call", get(c), protocol.Reset)
	wantFault(t, "no server", get(c), protocol.Refused)

	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skipf("the port was taken by another meanwhile: %v", err)
	}
	s = grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		return s.SendMsg([]byte{})
	}))
	defer s.Stop()
	go func() { _ = s.Serve(l) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for { // it comes back within a second, by itself
		if _, err = c.GetFeature(ctx, service.Point{}); err == nil {
			break
		}
		var f *protocol.Fault
		if !errors.As(err, &f) || f.Kind != protocol.Refused {
			t.Fatal(err)
		}
	}
}

// TestClose ends a call in flight of each shape.
func TestClose(t *testing.T) {
	called := make(chan struct{})
	addr, _ := scripted(t, func(_ any, s grpc.ServerStream) error {
		called <- struct{}{}
		<-s.Context().Done()
		return s.Context().Err()
	})
	for name, call := range map[string]func(c protocol.Client) error{
		"GetFeature": get,
		"ListFeatures": func(c protocol.Client) error {
			_, err := service.Collect(c.ListFeatures(context.Background(), service.Rectangle{}))
			return err
		},
		"RecordRoute": func(c protocol.Client) error {
			_, err := c.RecordRoute(context.Background(), service.All[service.Point](nil))
			return err
		},
		"RouteChat": func(c protocol.Client) error {
			_, err := service.Collect(c.RouteChat(context.Background(), service.All[service.RouteNote](nil)))
			return err
		},
	} {
		c, err := grpcclient.Dial(t.Context(), addr, protocol.Options{Conns: 2, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-called
			if err := c.Close(); err != nil {
				t.Errorf("%s: Close: %v", name, err)
			}
		}()
		for _, when := range []string{"in flight", "afterwards"} {
			err := call(c)
			wantFault(t, name+" "+when, err, protocol.Local)
			if !errors.Is(err, protocol.ErrClosed) {
				t.Errorf("%s %s: %v, want %v", name, when, err, protocol.ErrClosed)
			}
		}
		if err := c.Close(); err != nil {
			t.Errorf("%s: Close, again: %v", name, err)
		}
	}
}
