package connectserver_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/clients/connectclient"
	"bakeoff/protocol"
	"bakeoff/servers/connectserver"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server on a port of its own; the returned function ends it and waits until Serve has returned nil.
func serve(t *testing.T, a service.API, o protocol.Options, drain time.Duration) (addr string, stop func()) {
	t.Helper()
	return servicetest.Serve(t, func(ctx context.Context, l net.Listener) error {
		return connectserver.ServeDraining(ctx, l, a, o, drain)
	})
}

func dial(t *testing.T, addr string, o protocol.Options) protocol.Client {
	t.Helper()
	c, err := connectclient.Dial(t.Context(), addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

var known = servicetest.API{
	OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
		if r.Name == "none" {
			return service.DataType{}, &service.Error{Code: service.NotFound, Msg: "沒有", Cause: "store_timeout"}
		}
		return service.DataType{Token: r.Auth.Token, CodeID: 1<<53 + 1, CnName: r.Group + "." + r.Name}, nil
	},
}

// TestPlainHTTP calls with JSON by an HTTP client that knows nothing of Connect, over HTTP/1.1 and over HTTP/2.
func TestPlainHTTP(t *testing.T) {
	addr, _ := serve(t, known, protocol.Options{}, time.Second)
	for name, chat := range map[string]int{"HTTP/1.1": http.StatusHTTPVersionNotSupported, "HTTP/2.0": http.StatusUnsupportedMediaType} {
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP1(name == "HTTP/1.1")
		transport.Protocols.SetUnencryptedHTTP2(name == "HTTP/2.0")
		c := &http.Client{Transport: transport}
		for _, row := range []struct {
			method, sent string
			status       int
			got          []string
		}{
			{"inf.Data/DataType", `{"authRq":{"token":"t"},"groupName":"語","enName":"b"}`, 200,
				[]string{`"codeId":"9007199254740993"`, `"cnName":"語.b"`, `"token":"t"`}},
			{"inf.Data/DataType", `{"enName":"none"}`, 404, []string{`"code":"not_found"`, `"message":"沒有"`, `"type":"inf.Error"`}},
			{"inf.Data/DataType", `{"enName":7}`, 400, []string{`"code":"invalid_argument"`}},
			{"inf.Data/DataType", `{`, 400, []string{`"code":"invalid_argument"`}},
			{"inf.Data/NoSuch", `{}`, 404, nil},
			{"routeguide.RouteGuide/RouteChat", `{}`, chat, nil}, // a stream both ways has no HTTP/1.1, and another content type
		} {
			rp, err := c.Post("http://"+addr+"/"+row.method, "application/json", strings.NewReader(row.sent))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(rp.Body)
			rp.Body.Close()
			text := strings.ReplaceAll(string(body), `": "`, `":"`)
			if err != nil || rp.StatusCode != row.status || rp.Proto != name {
				t.Errorf("%s %s over %s: %s, %s, %v; want %d", row.method, row.sent, name, rp.Proto, rp.Status, err, row.status)
			}
			for _, want := range row.got {
				if !strings.Contains(text, want) {
					t.Errorf("%s %s: answered %s, want %s in it", row.method, row.sent, text, want)
				}
			}
		}
		transport.CloseIdleConnections()
	}
}

// TestDrainIsBounded leaves a stream open that would never end, and a connection that never says what it is.
func TestDrainIsBounded(t *testing.T) {
	const bound = 100 * time.Millisecond
	addr, stop := serve(t, servicetest.API{
		OnListFeatures: func(ctx context.Context, _ service.Rectangle) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				if yield(service.Feature{Name: "first"}, nil) {
					<-ctx.Done()
				}
			}
		},
	}, protocol.Options{}, bound)
	silent, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c := dial(t, addr, protocol.Options{})
	var last error
	for f, err := range c.ListFeatures(t.Context(), service.Rectangle{}) {
		if last = err; err == nil && f.Name == "first" {
			start := time.Now()
			stop()
			if took := time.Since(start); took < bound || took > bound+5*time.Second {
				t.Errorf("took %v with a bound of %v", took, bound)
			}
		}
	}
	var fault *protocol.Fault
	if !errors.As(last, &fault) || fault.Kind != protocol.Reset {
		t.Errorf("the stream that was cut off: %v, want a fault of the kind %s", last, protocol.Reset)
	}
	if _, err := c.GetFeature(t.Context(), service.Point{}); !errors.As(err, &fault) || fault.Kind != protocol.Refused {
		t.Errorf("a call after the end: %v, want a fault of the kind %s", err, protocol.Refused)
	}
}

func TestServeRefusesKnobs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	err = connectserver.Serve(t.Context(), l, known, protocol.Options{Knobs: map[string]string{"wire": "x"}})
	if err == nil || !strings.Contains(err.Error(), `connect: option wire: "x" is none of connect, grpc, grpc-web`) {
		t.Errorf("got error %v, want what the wire may be", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is still open after a knob was refused: %v", err)
	}
}

// TestUnwritable: what protobuf can't carry is refused by the client, and the call is not made.
func TestUnwritable(t *testing.T) {
	addr, _ := serve(t, known, protocol.Options{}, time.Second)
	c := dial(t, addr, protocol.Options{})
	_, err := c.DataType(t.Context(), service.DataTypeRequest{Name: "\xff"})
	_, errChat := service.Collect(c.RouteChat(t.Context(), service.All([]service.RouteNote{{Message: "\xff"}})))
	for _, err := range []error{err, errChat} {
		var e *service.Error
		if !errors.As(err, &e) || e.Code != service.InvalidArgument {
			t.Errorf("text that is not UTF-8: got error %v, want invalid_argument", err)
		}
	}
}
