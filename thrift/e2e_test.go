// Package thrift_test tries client and server of Thrift on each other, over loopback sockets, in every stack.
package thrift_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"testing"

	"bakeoff/clients/thriftclient"
	"bakeoff/protocol"
	"bakeoff/servers/thriftserver"
	"bakeoff/service"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stacks runs a test in each combination of protocol and transport.
func stacks(t *testing.T, test func(t *testing.T, o protocol.Options)) {
	for _, p := range []string{"binary", "compact"} {
		for _, tr := range []string{"buffered", "framed", "http"} {
			t.Run(p+" over "+tr, func(t *testing.T) {
				test(t, protocol.Options{Knobs: map[string]string{"protocol": p, "transport": tr}})
			})
		}
	}
}

// serve starts a server; stop stops it and fails the test if that takes an error.
func serve(t *testing.T, api service.API, o protocol.Options) (addr string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, api, o)
}

func serveOn(t *testing.T, l net.Listener, api service.API, o protocol.Options) (addr string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- thriftserver.Serve(ctx, l, api, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

func dial(t *testing.T, addr string, o protocol.Options) protocol.Client {
	t.Helper()
	c, err := thriftclient.Dial(t.Context(), addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func both(t *testing.T, api service.API, o protocol.Options) protocol.Client {
	t.Helper()
	addr, _ := serve(t, api, o)
	return dial(t, addr, o)
}

// code is the code of a *service.Error, 0 of any other error.
func code(err error) service.Code {
	var e *service.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// kind is the kind of a *protocol.Fault, empty for any other error.
func kind(err error) string {
	var f *protocol.Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return ""
}

func TestAnswers(t *testing.T) {
	stacks(t, func(t *testing.T, o protocol.Options) {
		c, ctx := both(t, newFake(), o), t.Context()
		for _, r := range []service.DataTypeRequest{
			{},
			{Group: "USER_EVENT", Name: "app_call_connect_success", Auth: service.Auth{ClientID: "c", Token: "t"}},
			{Group: "語音", Name: "接通"},
			{Name: strings.Repeat("n", 1<<20)},
		} {
			want := service.DataType{Token: r.Auth.ClientID + "/" + r.Auth.Token, CodeID: int64(len(r.Name)), CnName: r.Group + "|" + r.Name}
			if got, err := c.DataType(ctx, r); err != nil || got != want {
				t.Errorf("DataType(%.40q) = %.60v, %v", r, got, err)
			}
		}
		for name, want := range map[string]int64{"max": math.MaxInt64, "min": math.MinInt64} {
			if got, err := c.DataType(ctx, service.DataTypeRequest{Name: name}); err != nil || got.CodeID != want {
				t.Errorf("code id of %s = %d, %v", name, got.CodeID, err)
			}
		}
		s, err := c.Login(ctx, service.LoginRequest{ClientID: "me", Secret: "right"})
		if want := (service.Session{Token: "token of me", Expires: expiry}); err != nil || s != want {
			t.Errorf("Login = %v, %v", s, err)
		}
		f, err := c.GetFeature(ctx, service.Point{Latitude: 7, Longitude: math.MinInt32})
		if want := (service.Feature{Name: "at 7", Location: service.Point{Latitude: 7, Longitude: math.MinInt32}}); err != nil || f != want {
			t.Errorf("GetFeature = %v, %v", f, err)
		}
	})
}

func TestErrorsKeepTheirCodes(t *testing.T) {
	stacks(t, func(t *testing.T, o protocol.Options) {
		o.Conns = 1
		c, ctx := both(t, newFake(), o), t.Context()
		for _, want := range service.Codes() {
			_, err := c.DataType(ctx, service.DataTypeRequest{Name: fmt.Sprintf("code %d", want)})
			var e *service.Error
			if !errors.As(err, &e) || e.Code != want || e.Msg != fmt.Sprintf("failure %d", want) {
				t.Errorf("code %d came back as %#v", want, err)
			}
		}
		if _, err := c.DataType(ctx, service.DataTypeRequest{Name: "code 99"}); kind(err) != protocol.Malformed {
			t.Errorf("a code that there is not: %v", err)
		}
		if _, err := c.Login(ctx, service.LoginRequest{ClientID: "me"}); code(err) != service.Unauthenticated {
			t.Errorf("wrong secret: %v", err)
		}
		if _, err := c.GetFeature(ctx, service.Point{Latitude: -1}); code(err) != service.NotFound {
			t.Errorf("GetFeature: %v", err)
		}
		all, err := service.Collect(c.ListFeatures(ctx, service.Rectangle{Lo: service.Point{Latitude: 3}, Hi: service.Point{Latitude: -1}}))
		if code(err) != service.Unavailable || len(all) != 0 {
			t.Errorf("ListFeatures that fails at its end: %v, %v", all, err)
		}
		broken := service.Fail[service.Point](service.Errorf(service.InvalidArgument, "no such point"))
		if _, err := c.RecordRoute(ctx, broken); code(err) != service.InvalidArgument {
			t.Errorf("RecordRoute of a broken input: %v", err)
		}
		chat := c.RouteChat(ctx, service.Fail[service.RouteNote](service.Errorf(service.InvalidArgument, "no such note")))
		if _, err := service.Collect(chat); code(err) != service.InvalidArgument {
			t.Errorf("RouteChat of a broken input: %v", err)
		}
	})
}

func TestLists(t *testing.T) {
	stacks(t, func(t *testing.T, o protocol.Options) {
		c, ctx := both(t, newFake(), o), t.Context()
		for _, n := range []int{0, 1, 100, 10_000} {
			features, err := service.Collect(c.ListFeatures(ctx, service.Rectangle{Lo: service.Point{Latitude: int32(n)}}))
			if err != nil || len(features) != n {
				t.Fatalf("ListFeatures of %d: %d, %v", n, len(features), err)
			}
			if n > 0 {
				i := int32(n - 1)
				want := service.Feature{Name: fmt.Sprint("feature ", i), Location: service.Point{Latitude: i, Longitude: -i}}
				if features[i] != want {
					t.Errorf("feature %d of %d = %v", i, n, features[i])
				}
			}
			points, sum := make([]service.Point, n), int32(0)
			notes := make([]service.RouteNote, n)
			for i := range n {
				points[i] = service.Point{Latitude: int32(i)}
				notes[i] = service.RouteNote{Location: service.Point{Longitude: int32(-i)}, Message: fmt.Sprint("note ", i)}
				sum += int32(i)
			}
			s, err := c.RecordRoute(ctx, service.All(points))
			if want := (service.RouteSummary{PointCount: int32(n), Distance: sum}); err != nil || s != want {
				t.Errorf("RecordRoute of %d = %v, %v", n, s, err)
			}
			back, err := service.Collect(c.RouteChat(ctx, service.All(notes)))
			if err != nil || len(back) != n || n > 0 && !cmp.Equal(back, notes) {
				t.Errorf("RouteChat of %d: %d notes, %v", n, len(back), err)
			}
		}
		for f, err := range c.ListFeatures(ctx, service.Rectangle{Lo: service.Point{Latitude: 10}}) {
			if err != nil || f.Name != "feature 0" {
				t.Errorf("first feature = %v, %v", f, err)
			}
			break
		}
	})
}

func dataType(ctx context.Context, c service.API, name string) error {
	_, err := c.DataType(ctx, service.DataTypeRequest{Name: name})
	return err
}

func TestAnswersBelongToTheirKeys(t *testing.T) {
	const calls, rounds, conns = 64, 20, 16
	stacks(t, func(t *testing.T, o protocol.Options) {
		o.Conns = conns
		c, ctx := both(t, newFake(), o), t.Context()
		var wg sync.WaitGroup
		for w := range calls {
			wg.Go(func() {
				for i := range rounds {
					key := fmt.Sprintf("%d.%d", w, i)
					got, err := c.DataType(ctx, service.DataTypeRequest{Group: "g", Name: key})
					if err != nil || got.CnName != "g|"+key {
						t.Errorf("answer to %s: %v, %v", key, got, err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestDialFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, err = thriftclient.Dial(t.Context(), addr, protocol.Options{Conns: 3})
	if kind(err) != protocol.Refused || !strings.Contains(err.Error(), addr) {
		t.Errorf("Dial of nobody: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := thriftclient.Dial(ctx, addr, protocol.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial under an ended context: %v", err)
	}
}
