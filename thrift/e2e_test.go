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
	"sync/atomic"
	"testing"
	"time"

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
		for _, tr := range []string{"buffered", "framed"} {
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

func TestSizeLimit(t *testing.T) {
	type step struct {
		what string
		call func(ctx context.Context, c protocol.Client) error
		want service.Code
	}
	name := func(s string) func(context.Context, protocol.Client) error {
		return func(ctx context.Context, c protocol.Client) error { return dataType(ctx, c, s) }
	}
	const most, few = 4 << 20, 64 << 10
	for _, tc := range []struct {
		limit int
		steps []step
	}{
		{most, []step{
			{"1 MiB there", name(strings.Repeat("x", 1<<20)), 0},
			{"1 MiB back", name(fmt.Sprint("size ", 1<<20)), 0},
			{"just under the limit back", name(fmt.Sprint("size ", most-100)), 0},
			{"over the limit there", name(strings.Repeat("x", most+1)), service.ResourceExhausted},
			{"over the limit back", name(fmt.Sprint("size ", most+1)), service.ResourceExhausted},
			{"at the limit, with a header over it", name(fmt.Sprint("size ", most)), service.ResourceExhausted},
			{"and the connection still works", name("name"), 0},
		}},
		{few, []step{
			{"points, of 5 to 15 bytes, over the limit there", func(ctx context.Context, c protocol.Client) error {
				_, err := c.RecordRoute(ctx, service.All(make([]service.Point, few/5+1)))
				return err
			}, service.ResourceExhausted},
			{"points within it", func(ctx context.Context, c protocol.Client) error {
				_, err := c.RecordRoute(ctx, service.All(make([]service.Point, few/15-10)))
				return err
			}, 0},
			{"a note over the limit there", func(ctx context.Context, c protocol.Client) error {
				_, err := service.Collect(c.RouteChat(ctx, service.All([]service.RouteNote{{Message: strings.Repeat("x", few)}})))
				return err
			}, service.ResourceExhausted},
			{"features, of 15 bytes and more, over the limit back", func(ctx context.Context, c protocol.Client) error {
				_, err := service.Collect(c.ListFeatures(ctx, service.Rectangle{Lo: service.Point{Latitude: few / 15}}))
				return err
			}, service.ResourceExhausted},
			{"a client id over the limit", func(ctx context.Context, c protocol.Client) error {
				_, err := c.Login(ctx, service.LoginRequest{ClientID: strings.Repeat("x", few), Secret: "right"})
				return err
			}, service.ResourceExhausted},
			{"and the connection still works", name("name"), 0},
		}},
	} {
		stacks(t, func(t *testing.T, o protocol.Options) {
			var dials atomic.Int64
			o.MaxMessage = tc.limit
			o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				dials.Add(1)
				return (&net.Dialer{}).DialContext(ctx, network, addr)
			}
			c, ctx := both(t, newFake(), o), t.Context()
			for _, s := range tc.steps {
				if err := s.call(ctx, c); code(err) != s.want || (err == nil) != (s.want == 0) {
					t.Errorf("%s: %v", s.what, err)
				}
			}
			if dials.Load() != 1 {
				t.Errorf("%d connections, want the first to last", dials.Load())
			}
		})
	}
}

func dataType(ctx context.Context, c service.API, name string) error {
	_, err := c.DataType(ctx, service.DataTypeRequest{Name: name})
	return err
}

func TestAnswersBelongToTheirKeys(t *testing.T) {
	const calls, rounds, conns = 64, 50, 16
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

func TestDeadline(t *testing.T) {
	const deadline, within = 50 * time.Millisecond, 60 * time.Millisecond
	stacks(t, func(t *testing.T, o protocol.Options) {
		f := newFake()
		o.Conns = 1
		addr, _ := serve(t, f, o)
		byContext := func(c protocol.Client) error {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			return dataType(ctx, c, "block")
		}
		byOption := func(c protocol.Client) error { return dataType(t.Context(), c, "block") }
		for what, call := range map[string]func(protocol.Client) error{"context": byContext, "timeout": byOption} {
			o := o
			if what == "timeout" {
				o.Timeout = deadline
			}
			c := dial(t, addr, o)
			began := time.Now()
			err := call(c)
			if took := time.Since(began); took < deadline-time.Millisecond || took > within+raceSlack {
				t.Errorf("%s: returned after %v", what, took)
			}
			if code(err) != service.DeadlineExceeded || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", what, err)
			}
			if err := dataType(t.Context(), c, "next"); err != nil {
				t.Errorf("%s: the call after it: %v", what, err)
			}
		}
		close(f.release)
	})
}

// A call that waits for a connection is under the same deadline.
func TestDeadlineWhileWaiting(t *testing.T) {
	f := newFake()
	o := protocol.Options{Conns: 1}
	addr, _ := serve(t, f, o)
	o.Timeout = 30 * time.Millisecond
	c := dial(t, addr, o)
	long, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first := make(chan error, 1)
	go func() { first <- dataType(long, c, "block") }()
	<-f.started
	if err := dataType(t.Context(), c, "waits"); code(err) != service.DeadlineExceeded {
		t.Errorf("by timeout: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := dataType(ctx, c, "waits"); !errors.Is(err, context.Canceled) {
		t.Errorf("by cancellation: %v", err)
	}
	close(f.release)
	if err := <-first; err != nil {
		t.Errorf("the call that was under way: %v", err)
	}
}

func TestCancel(t *testing.T) {
	stacks(t, func(t *testing.T, o protocol.Options) {
		f := newFake()
		o.Conns = 1
		c := both(t, f, o)
		for calls := range 4 { // the registration is made, then kept; either must end the call
			ctx, cancel := context.WithCancel(t.Context())
			for range calls {
				if err := dataType(ctx, c, "quick"); err != nil {
					t.Fatal(err)
				}
			}
			go func() { <-f.started; cancel() }()
			if err := dataType(ctx, c, "block"); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled after %d calls: %v", calls, err)
			}
			// The server's check finds the client gone.
			if err := <-f.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the handler ended with %v", err)
			}
			if err := dataType(ctx, c, "late"); !errors.Is(err, context.Canceled) {
				t.Errorf("a call under an ended context: %v", err)
			}
			if err := dataType(t.Context(), c, "next"); err != nil {
				t.Errorf("the call after it: %v", err)
			}
		}
	})
}

// The end of a context does nothing to a connection that another call uses.
func TestCancelOfAnEarlierCall(t *testing.T) {
	f := newFake()
	c := both(t, f, protocol.Options{Conns: 1})
	old, cancel := context.WithCancel(t.Context())
	for range 3 {
		if err := dataType(old, c, "quick"); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- dataType(context.Background(), c, "block") }()
	<-f.started
	cancel()
	close(f.release)
	if err := <-done; err != nil {
		t.Errorf("a call without a context's end failed: %v", err)
	}
}

func TestCloseEndsCallsInFlight(t *testing.T) {
	f := newFake()
	c := both(t, f, protocol.Options{Conns: 2})
	errs := make(chan error, 3)
	for range 3 { // two under way, one that waits
		go func() { errs <- dataType(t.Context(), c, "block") }()
	}
	<-f.started
	<-f.started
	c.Close()
	for range 3 {
		if err := <-errs; kind(err) != protocol.Local {
			t.Errorf("call: %v", err)
		}
	}
	if err := dataType(t.Context(), c, "later"); kind(err) != protocol.Local {
		t.Errorf("call after Close: %v", err)
	}
}

func TestStopDrains(t *testing.T) {
	stacks(t, func(t *testing.T, o protocol.Options) {
		f := newFake()
		o.Conns = 2
		addr, stop := serve(t, f, o)
		c := dial(t, addr, o)
		done := make(chan error, 1)
		go func() { done <- dataType(t.Context(), c, "block") }()
		<-f.started
		stopped := make(chan struct{})
		go func() { defer close(stopped); stop() }()
		for { // until the listener is closed, the stop has not begun
			probe, err := net.Dial("tcp", addr)
			if err != nil {
				break
			}
			probe.Close()
		}
		close(f.release)
		if err := <-done; err != nil {
			t.Errorf("the call in flight: %v", err)
		}
		<-stopped
		// Of the two connections one was idle and one at work: both are closed now, and no retry hides it.
		for range 2 {
			if err := dataType(t.Context(), c, "later"); kind(err) != protocol.StaleConn {
				t.Errorf("on a connection that was closed: %v", err)
			}
		}
		if err := dataType(t.Context(), c, "later"); kind(err) != protocol.Refused {
			t.Errorf("on a connection to be dialled anew: %v", err)
		}
	})
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	o := protocol.Options{Conns: 1, ServerIdle: 40 * time.Millisecond}
	addr, _ := serve(t, newFake(), o)
	raw, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	began := time.Now()
	if n, err := raw.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("an idle connection read %d, %v", n, err)
	}
	if took := time.Since(began); took < o.ServerIdle*3/4 {
		t.Errorf("closed after %v", took)
	}

	// A client looks at what was idle for half of it, and dials instead of failing.
	c := dial(t, addr, o)
	if err := dataType(t.Context(), c, "first"); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	if _, err := raw.Read(make([]byte, 1)); err == nil {
		t.Error("a closed connection read on")
	}
	second, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	second.Read(make([]byte, 1)) // returns when the server closes it, later than the client's
	if err := dataType(t.Context(), c, "second"); err != nil {
		t.Errorf("after %v of idleness: %v", time.Since(began), err)
	}
}

// counted counts the write calls of a connection. It is no syscall.Conn, as a driver's wrapper may not be.
type counted struct {
	net.Conn
	writes *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) { c.writes.Add(1); return c.Conn.Write(b) }

type countedListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return counted{c, l.writes}, nil
}

func TestWriteCalls(t *testing.T) {
	stacks(t, func(t *testing.T, o protocol.Options) {
		var client, server atomic.Int64
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr, _ := serveOn(t, countedListener{l, &server}, newFake(), o)
		o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			return counted{c, &client}, err
		}
		c := dial(t, addr, o)
		const buffer = 8192
		for _, tc := range []struct {
			bytes  int
			framed int64 // the frame's start fills the buffer, the rest goes as it is
			plain  int64 // by the bufferful
		}{
			{10, 1, 1},
			{buffer / 2, 1, 1},
			{buffer * 3 / 2, 2, 2},
			{buffer * 7 / 2, 2, 4},
		} {
			client.Store(0)
			server.Store(0)
			if err := dataType(t.Context(), c, strings.Repeat("x", tc.bytes)); err != nil {
				t.Fatal(err)
			}
			want := tc.plain
			if o.Knobs["transport"] == "framed" {
				want = tc.framed
			}
			if client.Load() != want || server.Load() != want {
				t.Errorf("a message of %d bytes took %d write calls there and %d back, want %d", tc.bytes, client.Load(), server.Load(), want)
			}
		}
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
