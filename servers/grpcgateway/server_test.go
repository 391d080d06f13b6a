package grpcgateway_test

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

	"bakeoff/clients/grpcgatewayclient"
	"bakeoff/protocol"
	"bakeoff/servers/grpcgateway"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server on a port of its own; the returned function ends it and waits until Serve has returned nil.
func serve(t *testing.T, a service.API, o protocol.Options, drain time.Duration) (addr string, stop func()) {
	t.Helper()
	return servicetest.Serve(t, func(ctx context.Context, l net.Listener) error { return grpcgateway.ServeDraining(ctx, l, a, o, drain) })
}

func dial(t *testing.T, addr string, o protocol.Options) protocol.Client {
	t.Helper()
	c, err := grpcgatewayclient.Dial(t.Context(), addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

var api = servicetest.API{
	OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
		switch r.Name {
		case "none":
			return service.DataType{}, &service.Error{Code: service.NotFound, Msg: "沒有", Cause: "store_timeout"}
		case "large":
			return service.DataType{CnName: strings.Repeat("x", limit+1)}, nil
		case "escaped":
			return service.DataType{CnName: strings.Repeat("\x01", limit/3)}, nil
		}
		return service.DataType{Token: r.Auth.Token, CodeID: 1<<53 + 1, CnName: r.Group + "." + r.Name}, nil
	},
	OnListFeatures: func(_ context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
		return func(yield func(service.Feature, error) bool) {
			_ = yield(service.Feature{Name: "a", Location: r.Lo}, nil) && yield(service.Feature{}, service.Errorf(service.Internal, "planted"))
		}
	},
	OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
		all, err := service.Collect(points)
		return service.RouteSummary{PointCount: int32(len(all))}, err
	},
	OnRouteChat: func(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
		return notes
	},
}

const limit = 1000

// requests are those of clients that know nothing of ours, with what must be in the answers.
var requests = []struct {
	what, method, path, sent string
	status                   int
	got                      []string
}{
	{"a call", "POST", "/v1/datatype", `{"authRq":{"token":"t"},"groupName":"語","enName":"b"}`, 200,
		[]string{`"codeId":"9007199254740993"`, `"cnName":"語.b"`, `"token":"t"`}},
	{"the names of the IDL, and a field that is unknown", "POST", "/v1/datatype", `{"enName":"b","later":[1]}`, 200, []string{`"cnName":".b"`}},
	{"no body", "POST", "/v1/datatype", ``, 200, []string{`"cnName":"."`}},
	{"an error", "POST", "/v1/datatype", `{"enName":"none"}`, 404,
		[]string{`"code":5`, `"message":"沒有"`, `"@type":"type.googleapis.com/inf.Error"`, `"cause":"store_timeout"`}},
	{"a field of another type", "POST", "/v1/datatype", `{"enName":7}`, 400, []string{`"code":3`, "enName"}},
	{"half a body", "POST", "/v1/datatype", `{"enName":"`, 400, []string{`"code":3`}},
	{"a body over the limit", "POST", "/v1/datatype", `{"enName":"` + strings.Repeat("x", limit) + `"}`, 429, []string{`"code":8`, "larger than 1000 bytes"}},
	{"an endless body", "POST", "/v1/datatype", `{"enName":"` + strings.Repeat("x", 1<<20), 429, []string{`"code":8`}},
	{"an answer over the limit", "POST", "/v1/datatype", `{"enName":"large"}`, 429, []string{`"code":8`}},
	{"an answer over the limit as JSON alone", "POST", "/v1/datatype", `{"enName":"escaped"}`, 429, []string{`"code":8`, "larger than 1000 bytes"}},
	{"another path", "POST", "/v1/nothing", `{}`, 404, []string{`"code":5`}},
	{"another method", "GET", "/v1/datatype", ``, 501, []string{`"code":12`}},
	{"a point", "GET", "/v1/features/-5/6", ``, 200, []string{`"latitude":-5`, `"longitude":6`}},
	{"no point", "GET", "/v1/features/x/6", ``, 400, []string{`"code":3`, "latitude"}},
	{"a stream that ends with an error", "GET", "/v1/features?lo.latitude=1&hi.longitude=-2", ``, 200,
		[]string{`{"result":{"name":"a","location":{"latitude":1,"longitude":0}}}` + "\n", `{"error":{"code":13,"message":"planted"`}},
	{"a query of another field", "GET", "/v1/features?lo.altitude=1", ``, 200, []string{`"result"`}},
	{"points", "POST", "/v1/routes", `{"latitude":1}` + "\n" + `{} {"longitude":2}`, 200, []string{`"pointCount":3`}},
	{"a point that is none", "POST", "/v1/routes", `{"latitude":1}` + "\n" + `[]`, 400, []string{`"code":3`}},
	{"a point over the limit", "POST", "/v1/routes", `{}` + "\n" + `{"x":"` + strings.Repeat("x", limit) + `"}`, 429, []string{`"code":8`}},
	{"notes", "POST", "/v1/chat", `{"message":"1"}{"message":"2"}`, 200, []string{`"message":"1"}}` + "\n", `"message":"2"}}` + "\n"}},
	{"a note that is none", "POST", "/v1/chat", `{"message":"1"}` + "\n" + `{"message":2}`, 0, []string{`"error":{"code":3,`}},
	{"a note over the limit", "POST", "/v1/chat", `{"message":"1"}` + "\n" + `{"message":"` + strings.Repeat("x", limit) + `"}`, 0, []string{`"error":{"code":8,`}},
}

// TestPlainHTTP calls over HTTP/1.1 and over HTTP/2.
func TestPlainHTTP(t *testing.T) {
	addr, _ := serve(t, api, protocol.Options{MaxMessage: limit}, time.Second)
	for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP1(version == "HTTP/1.1")
		transport.Protocols.SetUnencryptedHTTP2(version == "HTTP/2.0")
		for _, row := range requests {
			rq, err := http.NewRequestWithContext(t.Context(), row.method, "http://"+addr+row.path, strings.NewReader(row.sent))
			if err != nil {
				t.Fatal(err)
			}
			rp, err := transport.RoundTrip(rq)
			if err != nil {
				t.Errorf("%s over %s: %v", row.what, version, err)
				continue
			}
			body, err := io.ReadAll(rp.Body)
			rp.Body.Close()
			text := strings.NewReplacer(`": `, `":`, `, "`, `,"`).Replace(string(body)) // protojson writes spaces as it likes
			if err != nil || row.status != 0 && rp.StatusCode != row.status || rp.Proto != version {
				t.Errorf("%s over %s: %s, %s, %v; want %d; %.300s", row.what, version, rp.Proto, rp.Status, err, row.status, text)
			}
			for _, want := range row.got {
				if !strings.Contains(text, want) {
					t.Errorf("%s over %s: answered %.300s, want %s in it", row.what, version, text, want)
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

// TestChatEndsWithItsContext: whoever reads a chat's answers is told when its context ends, also while the sequence of its
// notes waits for something else.
func TestChatEndsWithItsContext(t *testing.T) {
	addr, _ := serve(t, api, protocol.Options{}, time.Second)
	c := dial(t, addr, protocol.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stuck := make(chan struct{})
	defer close(stuck)
	var last error
	for n, err := range c.RouteChat(ctx, func(yield func(service.RouteNote, error) bool) {
		if yield(service.RouteNote{Message: "first"}, nil) {
			<-stuck
		}
	}) {
		if last = err; err == nil && n.Message == "first" {
			// By then the reader waits for the next answer, nearly always; where it does not, the test holds all the same.
			defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got error %v, want %v", last, context.Canceled)
	}
}

// TestUnwritable: what protobuf can't carry is refused by the client, and the call is not made.
func TestUnwritable(t *testing.T) {
	addr, _ := serve(t, api, protocol.Options{}, time.Second)
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
