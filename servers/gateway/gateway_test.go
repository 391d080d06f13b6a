package gateway_test

import (
	"context"
	"errors"
	"iter"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// dateClock is the goroutine of fasthttp that writes the Date header, started by the process's first server for good.
var dateClock = goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, dateClock) }

// each runs a test for every front.
func each(t *testing.T, test func(t *testing.T, p protocol.Protocol)) {
	for _, p := range suite.Fronts {
		t.Run(p.Name, func(t *testing.T) { test(t, p) })
	}
}

// serving runs a server until stop, or the end of the test.
func serving(t *testing.T, serve func(context.Context, net.Listener) error) (addr string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, l) }()
	ended := false
	stop = func() {
		if cancel(); !ended {
			ended = true
			if err := <-served; err != nil {
				t.Errorf("Serve: %v", err)
			}
		}
	}
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// apart serves p over a backend that runs elsewhere, as a run does, and is a client of it. stop ends the backend.
func apart(t *testing.T, p protocol.Protocol, api service.API, o protocol.Options) (client protocol.Client, stop func()) {
	t.Helper()
	behind, err := p.Backend.Options(o)
	if err != nil {
		t.Fatal(err)
	}
	backend, stop := serving(t, func(ctx context.Context, l net.Listener) error { return p.Backend.Protocol.Serve(ctx, l, api, behind) })
	relay, err := p.Backend.Dial(t.Context(), backend, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { relay.Close() })
	addr, _ := serving(t, func(ctx context.Context, l net.Listener) error { return p.Backend.Serve(ctx, l, relay, o) })
	client, err = p.Dial(t.Context(), addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client, stop
}

// calls are all kinds of calls.
var calls = map[string]func(context.Context, service.API) error{
	"Login": func(ctx context.Context, a service.API) error {
		_, err := a.Login(ctx, service.LoginRequest{})
		return err
	},
	"DataType": func(ctx context.Context, a service.API) error {
		_, err := a.DataType(ctx, service.DataTypeRequest{})
		return err
	},
	"Echo": func(ctx context.Context, a service.API) error { _, err := a.Echo(ctx, service.Payload{}); return err },
	"GetFeature": func(ctx context.Context, a service.API) error {
		_, err := a.GetFeature(ctx, service.Point{})
		return err
	},
	"ListFeatures": func(ctx context.Context, a service.API) error {
		_, err := service.Collect(a.ListFeatures(ctx, service.Rectangle{}))
		return err
	},
	"RecordRoute": func(ctx context.Context, a service.API) error {
		_, err := a.RecordRoute(ctx, service.All([]service.Point{{}}))
		return err
	},
	"RouteChat": func(ctx context.Context, a service.API) error {
		_, err := service.Collect(a.RouteChat(ctx, service.All([]service.RouteNote{{Message: "m"}})))
		return err
	},
}

// failing fails every call with one error.
func failing(err error) service.API {
	return servicetest.API{
		OnLogin: func(context.Context, service.LoginRequest) (service.Session, error) { return service.Session{}, err },
		OnDataType: func(context.Context, service.DataTypeRequest) (service.DataType, error) {
			return service.DataType{}, err
		},
		OnEcho:       func(context.Context, service.Payload) (service.Payload, error) { return service.Payload{}, err },
		OnGetFeature: func(context.Context, service.Point) (service.Feature, error) { return service.Feature{}, err },
		OnListFeatures: func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
			return service.Fail[service.Feature](err)
		},
		OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
			return service.RouteSummary{}, err
		},
		OnRouteChat: func(context.Context, iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
			return service.Fail[service.RouteNote](err)
		},
	}
}

// TestErrorsCrossTheHop: what the backend fails with arrives at the front's client with code, message and cause, by every call.
func TestErrorsCrossTheHop(t *testing.T) {
	var errs []*service.Error
	for _, code := range service.Codes() {
		errs = append(errs, &service.Error{Code: code, Msg: "planted, 語"})
	}
	errs = append(errs, &service.Error{Code: service.Unavailable, Msg: "planted", Cause: "store_timeout"})
	each(t, func(t *testing.T, p protocol.Protocol) {
		for _, want := range errs {
			client, _ := apart(t, p, failing(want), p.Options(1, 0))
			for name, call := range calls {
				var got *service.Error
				if err := call(t.Context(), client); !errors.As(err, &got) || *got != *want {
					t.Errorf("%s: got error %v (%#v), want %#v", name, err, got, want)
				}
			}
		}
	})
}

// TestAnswersCrossTheHop has calls answered by a backend that tells what it was asked.
func TestAnswersCrossTheHop(t *testing.T) {
	each(t, func(t *testing.T, p protocol.Protocol) {
		client, _ := apart(t, p, servicetest.API{}, p.Options(2, 0))
		d, err := client.DataType(t.Context(), service.DataTypeRequest{Auth: service.Auth{ClientID: "c", Token: "t"}, Group: "group", Name: "name"})
		if want := (service.DataType{Token: "t", CodeID: 5, CnName: "group|name"}); err != nil || d != want {
			t.Errorf("DataType: got %v and error %v, want %v", d, err, want)
		}
		s, err := client.Login(t.Context(), service.LoginRequest{ClientID: "c", Secret: "s"})
		if want := (service.Session{Token: "c/s", Expires: servicetest.Expires}); err != nil || s != want {
			t.Errorf("Login: got %v and error %v, want %v", s, err, want)
		}
	})
}

// TestBackendGone: a call whose backend is not there fails as the front's own, with what happened to the hop as its cause, and
// the front goes on.
func TestBackendGone(t *testing.T) {
	each(t, func(t *testing.T, p protocol.Protocol) {
		client, stop := apart(t, p, servicetest.API{}, p.Options(1, 0))
		if err := calls["GetFeature"](t.Context(), client); err != nil {
			t.Fatal(err)
		}
		stop()
		for range 2 { // the first may meet a connection that was open before
			for name, call := range calls {
				var got *service.Error
				err := call(t.Context(), client)
				if !errors.As(err, &got) || got.Code != service.Unavailable || !strings.HasPrefix(got.Cause, "backend_") || !strings.HasPrefix(got.Msg, "the backend: ") {
					t.Errorf("%s: got error %v (%#v), want unavailable of a class that begins with backend_", name, err, got)
				}
			}
		}
	})
}

// TestBackendNotThere: what can't be dialled is told when the front starts, with its address.
func TestBackendNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	each(t, func(t *testing.T, p protocol.Protocol) {
		c, err := p.Backend.Dial(t.Context(), addr, p.Options(1, 0))
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "the backend of "+p.Name) || !strings.Contains(err.Error(), addr) {
			t.Errorf("got error %v, want one that names the front and the address %s", err, addr)
		}
	})
}

func TestOptions(t *testing.T) {
	each(t, func(t *testing.T, p protocol.Protocol) {
		for _, row := range []struct{ name, value, says string }{
			{"backend-conns", "0", "from 1 to 10000"},
			{"backend-conns", "10001", "from 1 to 10000"},
			{"backend-conns", "many", "from 1 to 10000"},
			{"backend-timeout", "soon", "such as 500ms"},
			{"backend-timeout", "-1s", "such as 500ms"},
			{"backend-no-such", "1", "backend-no-such"},
			{"no-such", "1", "no-such"},
			{"codec", "no-such", "codec"},
		} {
			o := p.Options(1, 0)
			o.Knobs = map[string]string{row.name: row.value}
			if err := p.Check(o); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%s=%s: got error %v, want %q in it", row.name, row.value, err, row.says)
			}
		}
	})
	// Those of the hop reach both of its ends, and none of the front's own does.
	p, err := suite.Find("front-thrift")
	if err != nil {
		t.Fatal(err)
	}
	o := p.Options(50, 0)
	o.Knobs = map[string]string{"codec": "fast", "backend-transport": "framed", "backend-conns": "2", "backend-timeout": "3s"}
	b, err := p.Backend.Options(o)
	if err != nil {
		t.Fatal(err)
	}
	if b.Conns != 2 || b.InFlight != 50 || b.Timeout.Seconds() != 3 || len(b.Knobs) != 1 || b.Knobs["transport"] != "framed" || b.MaxMessage != o.MaxMessage {
		t.Errorf("the hop's options are %+v", b)
	}
	if own := p.Backend.Own(o).Knobs; len(own) != 1 || own["codec"] != "fast" {
		t.Errorf("the front's own options are %v", own)
	}
	if b, err := p.Backend.Options(p.Options(50, 0)); err != nil || b.Conns != 50 {
		t.Errorf("without a number the hop has %d connections and error %v, want what users of thrift open for 50 calls", b.Conns, err)
	}
}

// TestDeadlinesCrossTheHop has the caller's time run out while the backend works: its context ends there too, whichever protocol is
// between, so that no work is done for nobody.
func TestDeadlinesCrossTheHop(t *testing.T) {
	each(t, func(t *testing.T, p protocol.Protocol) {
		arrived, ended := make(chan bool, 100), make(chan error, 100)
		wait := func(ctx context.Context) error {
			arrived <- true
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		}
		client, _ := apart(t, p, servicetest.API{
			OnDataType: func(ctx context.Context, _ service.DataTypeRequest) (service.DataType, error) {
				return service.DataType{}, wait(ctx)
			},
			OnEcho: func(ctx context.Context, _ service.Payload) (service.Payload, error) {
				return service.Payload{}, wait(ctx)
			},
			OnGetFeature: func(ctx context.Context, _ service.Point) (service.Feature, error) {
				return service.Feature{}, wait(ctx)
			},
			OnLogin: func(ctx context.Context, _ service.LoginRequest) (service.Session, error) {
				return service.Session{}, wait(ctx)
			},
			OnListFeatures: func(ctx context.Context, _ service.Rectangle) iter.Seq2[service.Feature, error] {
				return func(yield func(service.Feature, error) bool) { yield(service.Feature{}, wait(ctx)) }
			},
			OnRecordRoute: func(ctx context.Context, _ iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
				return service.RouteSummary{}, wait(ctx)
			},
			OnRouteChat: func(ctx context.Context, _ iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
				return func(yield func(service.RouteNote, error) bool) { yield(service.RouteNote{}, wait(ctx)) }
			},
		}, p.Options(1, 0))
		for name, call := range calls {
			if name == "RouteChat" {
				continue // its WebSocket carries no deadline: the front notices a client that hangs up while it sends, and else the hop's timeout ends it
			}
			for patience, there := 50*time.Millisecond, false; !there; patience *= 2 { // on a busy machine a call may not even come so far
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				err := call(ctx, client)
				cancel()
				var got *service.Error
				if !errors.As(err, &got) || got.Code != service.DeadlineExceeded {
					t.Fatalf("%s: got error %v, want deadline_exceeded", name, err)
				}
				select {
				case there = <-arrived:
				default:
					if patience > 10*time.Second {
						t.Fatalf("%s: the backend is not asked within %v", name, patience)
					}
				}
			}
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: 10 s after its caller's time was over the backend still works", name)
			}
		}
	})
}

// TestHopTimeout ends a call to a backend that does not answer, where its caller has no deadline.
func TestHopTimeout(t *testing.T) {
	each(t, func(t *testing.T, p protocol.Protocol) {
		o := p.Options(1, 0)
		o.Knobs = map[string]string{"backend-timeout": "50ms"}
		over := make(chan struct{})
		client, _ := apart(t, p, servicetest.API{OnDataType: func(ctx context.Context, _ service.DataTypeRequest) (service.DataType, error) {
			<-over // a backend over HTTP is not told
			return service.DataType{}, nil
		}}, o)
		defer close(over)
		var got *service.Error
		if err := calls["DataType"](t.Context(), client); !errors.As(err, &got) || got.Code != service.DeadlineExceeded {
			t.Errorf("got error %v, want deadline_exceeded", err)
		}
		if err := calls["GetFeature"](t.Context(), client); err != nil {
			t.Errorf("after it: %v", err)
		}
	})
}
