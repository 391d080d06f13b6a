package nethttpclient_test

import (
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func TestStops(t *testing.T) {
	each(t, func(t *testing.T, v version) {
		stopped := make(chan struct{}, 1)
		c := v.client(t, v.start(t, servicetest.API{OnListFeatures: func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				for yield(service.Feature{Name: "x"}, nil) {
				}
				stopped <- struct{}{}
			}
		}}, protocol.Options{}), protocol.Options{Conns: 1})
		leave := func(use func()) {
			defer func() { _ = recover() }()
			use()
		}
		for _, panics := range []bool{false, true, false} {
			leave(func() {
				n := 0
				for _, err := range c.ListFeatures(t.Context(), service.Rectangle{}) {
					if n++; n < 1000 && err == nil {
						continue
					}
					if err != nil {
						t.Error(err)
					}
					if panics {
						panic("consumer")
					}
					break
				}
			})
			<-stopped
			leave(func() {
				for range c.RouteChat(t.Context(), service.All(make([]service.RouteNote, 3))) {
					panic("consumer")
				}
			})
			leave(func() {
				_, _ = c.RecordRoute(t.Context(), func(func(service.Point, error) bool) { panic("producer") })
			})
			if err := ask(t.Context(), c); err != nil {
				t.Errorf("afterwards: got error %v", err)
			}
		}
	})
}

func TestUploads(t *testing.T) {
	want := service.Error{Code: service.InvalidArgument, Msg: "enough"}
	each(t, func(t *testing.T, v version) {
		seen := make(chan struct{}, 1)
		c := v.client(t, v.start(t, servicetest.API{OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (sum service.RouteSummary, err error) {
			for p, err := range points {
				if err != nil {
					return sum, err
				}
				if p.Latitude != 0 {
					return sum, &want
				}
				sum.PointCount++
				seen <- struct{}{}
			}
			return sum, nil
		}}, protocol.Options{}), protocol.Options{Conns: 1})
		for range 2 {
			sum, err := c.RecordRoute(t.Context(), func(yield func(service.Point, error) bool) {
				for range 3 {
					if !yield(service.Point{}, nil) {
						return
					}
					<-seen
				}
			})
			if err != nil || sum.PointCount != 3 || c.dials.Load() != 1 {
				t.Errorf("got %v, %v over %d connections, want 3 points over 1", sum, err, c.dials.Load())
			}
		}
		for range 3 {
			made := 0
			_, err := c.RecordRoute(t.Context(), func(yield func(service.Point, error) bool) {
				for yield(service.Point{Latitude: 1 << 30, Longitude: -1 << 30}, nil) {
					made++
				}
			})
			var e *service.Error
			if !errors.As(err, &e) || *e != want {
				t.Errorf("got error %v after %d points, want %v", err, made, &want)
			}
		}
		if err := ask(t.Context(), c); err != nil {
			t.Errorf("afterwards: got error %v", err)
		}
	})
}

func TestEndedStreams(t *testing.T) {
	hanging := servicetest.API{
		OnListFeatures: func(ctx context.Context, _ service.Rectangle) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				if yield(service.Feature{}, nil) {
					<-ctx.Done()
				}
			}
		},
		OnRecordRoute: func(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
			for range points {
				<-ctx.Done()
			}
			return service.RouteSummary{}, ctx.Err()
		},
	}
	streams := map[string]func(ctx context.Context, c client, end func()) error{
		"list": func(ctx context.Context, c client, end func()) (err error) {
			for _, err = range c.ListFeatures(ctx, service.Rectangle{}) {
				end()
			}
			return err
		},
		"record": func(ctx context.Context, c client, end func()) error {
			_, err := c.RecordRoute(ctx, func(yield func(service.Point, error) bool) {
				for n := 0; yield(service.Point{}, nil); n++ {
					if n == 1000 {
						end()
					}
				}
			})
			return err
		},
		"chat": func(ctx context.Context, c client, end func()) (err error) {
			over := make(chan struct{})
			defer close(over)
			for _, err = range c.RouteChat(ctx, func(yield func(service.RouteNote, error) bool) {
				yield(service.RouteNote{}, nil)
				<-over
			}) {
				end()
			}
			return err
		},
	}
	each(t, func(t *testing.T, v version) {
		addr := v.start(t, hanging, protocol.Options{})
		for name, call := range streams {
			c := v.client(t, addr, protocol.Options{Conns: 1})
			ctx, cancel := context.WithCancel(t.Context())
			if err := call(ctx, c, cancel); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled: got error %v", name, err)
			}
			if err := ask(t.Context(), c); err != nil {
				t.Errorf("%s, afterwards: got error %v", name, err)
			}
			if err := call(t.Context(), c, func() { c.Close() }); !errors.Is(err, protocol.ErrClosed) || kindOf(err) != protocol.Local {
				t.Errorf("%s, closed: got error %v", name, err)
			}
			short := v.client(t, addr, protocol.Options{Conns: 1, Timeout: 50 * time.Millisecond})
			var late *service.Error
			if err := call(context.Background(), short, func() {}); !errors.As(err, &late) || late.Code != service.DeadlineExceeded {
				t.Errorf("%s, past the client's timeout: got error %v", name, err)
			}
		}
	})
}

func TestChats(t *testing.T) {
	for _, row := range []struct {
		name string
		version
		least, most int64 // dials
	}{{"HTTP1", http1, 2, 2}, {"HTTP2", http2, 1, 1}} {
		c := row.client(t, row.start(t, servicetest.API{}, protocol.Options{}), protocol.Options{Conns: 1})
		for i := range 10 {
			// Each note is made of the answer to the one before: both directions are open at a time.
			answers := make(chan service.RouteNote, 1)
			heard := 0
			for n, err := range c.RouteChat(t.Context(), func(yield func(service.RouteNote, error) bool) {
				n := service.RouteNote{Location: service.Point{Latitude: int32(i)}, Message: "語"}
				for range 5 {
					if !yield(n, nil) {
						return
					}
					n = <-answers
					n.Message += "+"
				}
			}) {
				if err != nil {
					t.Fatal(err)
				}
				if heard++; len(n.Message) != len("語")+heard-1 || n.Location.Latitude != int32(i) {
					t.Errorf("%s: answer %d is %+v", row.name, heard, n)
				}
				answers <- n
			}
			if heard != 5 || c.dials.Load() != 1 {
				t.Errorf("%s: got %d answers over %d connections, want 5 over 1", row.name, heard, c.dials.Load())
			}
		}
		_, err := service.Collect(c.RouteChat(t.Context(), service.All([]service.RouteNote{{Message: "a\xff"}})))
		if e := service.AsError(err); err == nil || e.Code != service.InvalidArgument {
			t.Errorf("%s: a note that is not UTF-8: got error %v", row.name, err)
		}
		if err := ask(t.Context(), c); err != nil {
			t.Errorf("%s: a call after chats: got error %v", row.name, err)
		}
		if n := c.dials.Load(); n < row.least || n > row.most {
			t.Errorf("%s: got %d dials, want %d", row.name, n, row.most)
		}
	}
}

func TestChatRefused(t *testing.T) {
	addr, _ := fake(t, func(c net.Conn, next func() *http.Request) {
		for drained(next()) != nil {
			reply(c, "503 Service Unavailable", `{"detail":"no chats","code":"unavailable"}`)
		}
	})
	c := http1.client(t, addr, protocol.Options{Conns: 1})
	_, err := service.Collect(c.RouteChat(t.Context(), service.All[service.RouteNote](nil)))
	var e *service.Error
	if !errors.As(err, &e) || *e != (service.Error{Code: service.Unavailable, Msg: "no chats"}) {
		t.Errorf("got error %v, want the server's", err)
	}
}
