package grpcserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"bakeoff/protocol"
	"bakeoff/servers/grpcserver"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// plain is a gRPC connection that knows nothing of ours.
func plain(t *testing.T, addr string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///"+addr, append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return cc
}

// rawCodec takes and gives the bytes of messages.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

var _ encoding.CodecV2 = rawCodec{}

func str(num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, num, protowire.BytesType), s)
}

func number(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

// TestPublishedBytes calls with messages that are written by hand from the published field numbers.
func TestPublishedBytes(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		var got service.DataTypeRequest
		addr, _ := serve(t, servicetest.API{
			OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
				got = r
				return service.DataType{Token: "t2", CodeID: 101, CnName: "語音接通"}, nil
			},
			OnGetFeature: func(_ context.Context, p service.Point) (service.Feature, error) {
				return service.Feature{Name: "n", Location: p}, nil
			},
		}, o)
		cc := plain(t, addr, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
		for name, row := range map[string]struct {
			method string
			rq, rp []byte
			want   service.DataTypeRequest
		}{
			"DataType": {"/inf.Data/DataType",
				slices.Concat(str(1, string(slices.Concat(str(1, "me"), str(2, "t1")))), str(101, "USER_EVENT"), str(102, "app_call_connect_success")),
				slices.Concat(str(1, string(str(1, "t2"))), number(101, 101), str(102, "語音接通")),
				service.DataTypeRequest{Auth: service.Auth{ClientID: "me", Token: "t1"}, Group: "USER_EVENT", Name: "app_call_connect_success"}},
			"no AuthRq, a field that is unknown": {"/inf.Data/DataType",
				slices.Concat(str(102, "n"), str(999, "later")),
				slices.Concat(str(1, string(str(1, "t2"))), number(101, 101), str(102, "語音接通")),
				service.DataTypeRequest{Name: "n"}},
			"GetFeature": {"/routeguide.RouteGuide/GetFeature",
				slices.Concat(number(1, 5), number(2, 6)),
				slices.Concat(str(1, "n"), str(2, string(slices.Concat(number(1, 5), number(2, 6))))),
				service.DataTypeRequest{}},
		} {
			got = service.DataTypeRequest{}
			var rp []byte
			if err := cc.Invoke(t.Context(), row.method, &row.rq, &rp); err != nil || !bytes.Equal(rp, row.rp) || got != row.want {
				t.Errorf("%s: %v\n got %+v, answered %x\nwant %+v, answered %x", name, err, got, rp, row.want, row.rp)
			}
		}
		// bytes that are no message: refused, by gRPC itself
		garbage, rp := []byte{0xff, 0xff, 0xff}, []byte(nil)
		if err := cc.Invoke(t.Context(), "/inf.Data/DataType", &garbage, &rp); status.Code(err) != codes.Internal {
			t.Errorf("garbage: %v, want the code Internal", err)
		}
	})
}

// TestNothingSet calls every method with messages in which nothing is set, sub-messages neither.
func TestNothingSet(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		a := route
		a.OnLogin = func(context.Context, service.LoginRequest) (service.Session, error) { return service.Session{}, nil }
		a.OnDataType = func(context.Context, service.DataTypeRequest) (service.DataType, error) {
			return service.DataType{}, nil
		}
		a.OnGetFeature = func(context.Context, service.Point) (service.Feature, error) { return service.Feature{}, nil }
		addr, _ := serve(t, a, o)
		cc := plain(t, addr, grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
		for _, method := range []string{
			"/inf.Data/DataType", "/inf.Data/Login", "/inf.Data/Echo", "/routeguide.RouteGuide/GetFeature", "/routeguide.RouteGuide/ListFeatures",
			"/routeguide.RouteGuide/RecordRoute", "/routeguide.RouteGuide/RouteChat",
		} {
			s, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.SendMsg(new([]byte)), s.CloseSend()); err != nil {
				t.Errorf("%s: %v", method, err)
			}
			for err == nil {
				err = s.RecvMsg(new([]byte))
			}
			if err != io.EOF {
				t.Errorf("%s: %v", method, err)
			}
		}
	})
}

func TestHealth(t *testing.T) {
	addr, stop := serveDraining(t, servicetest.API{}, protocol.Options{}, 100*time.Millisecond) // a watch has no end of its own
	h := grpc_health_v1.NewHealthClient(plain(t, addr))
	for _, name := range []string{"", "inf.Data", "routeguide.RouteGuide"} {
		rp, err := h.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: name})
		if err != nil || rp.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v, want SERVING", name, rp, err)
		}
	}
	if _, err := h.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: "other"}); status.Code(err) != codes.NotFound {
		t.Errorf("a service that is not served: %v, want NotFound", err)
	}
	w, err := h.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if rp, err := w.Recv(); err != nil || rp.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v, want SERVING", rp, err)
	}
	ended := make(chan struct{})
	go func() {
		stop()
		close(ended)
	}()
	if rp, err := w.Recv(); err != nil || rp.Status != grpc_health_v1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("at the end: %v, %v, want NOT_SERVING", rp, err)
	}
	<-ended
}

// TestReflection asks in both versions of the protocol, whose messages are the same.
func TestReflection(t *testing.T) {
	addr, _ := serve(t, servicetest.API{}, protocol.Options{Knobs: map[string]string{"reflection": "on"}})
	cc := plain(t, addr)
	for _, version := range []string{"v1", "v1alpha"} {
		s, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
			"/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo")
		if err != nil {
			t.Fatal(err)
		}
		ask := func(rq *grpc_reflection_v1.ServerReflectionRequest) *grpc_reflection_v1.ServerReflectionResponse {
			t.Helper()
			rp := new(grpc_reflection_v1.ServerReflectionResponse)
			if err := errors.Join(s.SendMsg(rq), s.RecvMsg(rp)); err != nil {
				t.Fatal(err)
			}
			return rp
		}
		var names []string
		list := ask(&grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}})
		for _, s := range list.GetListServicesResponse().GetService() {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		want := []string{
			"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection",
			"inf.Data", "routeguide.RouteGuide",
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s lists %v, want %v", version, names, want)
		}
		for _, symbol := range []string{"routeguide.RouteGuide", "inf.Data.DataType", "inf.DataTypeRq"} {
			rp := ask(&grpc_reflection_v1.ServerReflectionRequest{
				MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: symbol},
			})
			if len(rp.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
				t.Errorf("%s does not describe %s: %v", version, symbol, rp)
			}
		}
		if err := s.CloseSend(); err != nil {
			t.Error(err)
		}
		if err := s.RecvMsg(new(grpc_reflection_v1.ServerReflectionResponse)); err != io.EOF {
			t.Errorf("%s: at the end %v", version, err)
		}
	}
}

func TestReflectionIsOff(t *testing.T) {
	addr, _ := serve(t, servicetest.API{}, protocol.Options{})
	s, err := grpc_reflection_v1.NewServerReflectionClient(plain(t, addr)).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(); status.Code(err) != codes.Unimplemented {
		t.Errorf("%v, want Unimplemented", err)
	}
}

// TestWrongClients has sockets that send no gRPC: the server hangs up on them and serves others.
func TestWrongClients(t *testing.T) {
	addr, _ := serve(t, route, protocol.Options{})
	for _, sent := range []string{
		"\x00", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", strings.Repeat("\xff", 1<<16),
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x05\x01\x05\x00\x00\x00\x01" + "\xff\xff\xff\xff\xff", // headers before settings
	} {
		s, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(s, sent) // it may have hung up before all is sent
		_ = s.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, s) // returns when it hangs up
		s.Close()
	}
	if _, err := service.Collect(dial(t, addr, protocol.Options{}).ListFeatures(t.Context(), service.Rectangle{})); err != nil {
		t.Errorf("a right client, afterwards: %v", err)
	}
}

// TestDrain ends the server while a call is in it: the call gets its answer, and new connections are refused.
func TestDrain(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		called, answer := make(chan struct{}), make(chan struct{})
		addr, stop := serve(t, servicetest.API{OnGetFeature: func(context.Context, service.Point) (service.Feature, error) {
			close(called)
			<-answer
			return service.Feature{Name: "late"}, nil
		}}, o)
		c := dial(t, addr, o)
		got := make(chan error, 1)
		go func() {
			f, err := c.GetFeature(context.Background(), service.Point{})
			if err == nil && f.Name != "late" {
				err = errors.New("got " + f.Name)
			}
			got <- err
		}()
		<-called
		stopped := make(chan struct{})
		go func() {
			stop()
			close(stopped)
		}()
		for { // the listener is closed before the drain; when, only a dial can tell
			s, err := net.Dial("tcp", addr)
			if err != nil {
				break
			}
			s.Close()
		}
		close(answer)
		if err := <-got; err != nil {
			t.Errorf("the call in flight: %v", err)
		}
		<-stopped
		_, err := c.GetFeature(t.Context(), service.Point{})
		var f *protocol.Fault
		if !errors.As(err, &f) || f.Kind != protocol.Refused {
			t.Errorf("a call after the end: %v, want a fault of the kind %s", err, protocol.Refused)
		}
	})
}

// TestDrainIsBounded leaves a stream open that would never end, and a connection that never says what it is.
func TestDrainIsBounded(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		const bound = 100 * time.Millisecond
		ended := make(chan struct{}, 1)
		addr, stop := serveDraining(t, endless(ended), o, bound)
		silent, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		next, done := iter.Pull2(dial(t, addr, o).ListFeatures(t.Context(), service.Rectangle{}))
		defer done()
		if _, err, _ := next(); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		stop()
		if took := time.Since(start); took < bound || took > bound+5*time.Second {
			t.Errorf("took %v with a bound of %v", took, bound)
		}
		<-ended
		for {
			_, err, ok := next()
			var f *protocol.Fault
			if err == nil && ok {
				continue // what had been sent before
			}
			if !errors.As(err, &f) || f.Kind != protocol.Reset {
				t.Errorf("the stream that was cut off: %v, want a fault of the kind %s", err, protocol.Reset)
			}
			break
		}
	})
}

// closing tells when a socket is closed from this side.
type closing struct {
	net.Conn
	closed chan<- struct{}
}

func (c closing) Close() error {
	select {
	case c.closed <- struct{}{}:
	default:
	}
	return c.Conn.Close()
}

// TestIdle waits until the client has closed its idle connection, at half of the server's time; the next call opens
// another.
func TestIdle(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		o.ServerIdle = 200 * time.Millisecond
		closed, dials := make(chan struct{}, 8), 0
		o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++ // one at a time: there is one connection
			s, err := new(net.Dialer).DialContext(ctx, network, addr)
			return closing{s, closed}, err
		}
		c := both(t, route, o)
		for range 2 {
			if _, err := c.RecordRoute(t.Context(), service.All(points(2))); err != nil {
				t.Error(err)
			}
			<-closed
		}
		if dials != 2 {
			t.Errorf("%d dials, want one for each time that it was idle", dials)
		}
	})
}

func TestServeFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	err = grpcserver.Serve(t.Context(), l, servicetest.API{}, protocol.Options{Knobs: map[string]string{"window": "x"}})
	if err == nil || !strings.Contains(err.Error(), `option window: "x" is not a number of bytes`) {
		t.Errorf("%v, want what is wrong with the window", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is still open after a knob was refused: %v", err)
	}
	err = grpcserver.Serve(t.Context(), l, servicetest.API{}, protocol.Options{})
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("on a closed listener: %v, want an error with its address", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	if err := grpcserver.Serve(ctx, l, servicetest.API{}, protocol.Options{}); err != nil {
		t.Errorf("with a context that has ended: %v, want nil", err)
	}
}
