package httpclient_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// serveHanging starts a server whose calls begin, and end with the test.
func serveHanging(t *testing.T, begun chan struct{}) (addr string) {
	over := make(chan struct{})
	addr = serve(t, hang(begun, over), protocol.Options{})
	t.Cleanup(func() { close(over) }) // before the server is stopped
	return addr
}

func hang(begun, over chan struct{}) servicetest.API {
	wait := func(context.Context) error {
		begun <- struct{}{}
		<-over
		return errors.New("over")
	}
	return servicetest.API{
		OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
			if r.Name == "n" {
				return service.DataType{}, nil
			}
			return service.DataType{}, wait(ctx)
		},
		OnListFeatures: func(ctx context.Context, _ service.Rectangle) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				if yield(service.Feature{Name: "first"}, nil) {
					yield(service.Feature{}, wait(ctx))
				}
			}
		},
		OnRecordRoute: func(ctx context.Context, _ iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
			return service.RouteSummary{}, wait(ctx)
		},
		OnRouteChat: func(ctx context.Context, _ iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
			return func(yield func(service.RouteNote, error) bool) { yield(service.RouteNote{}, wait(ctx)) }
		},
	}
}

// hanging are the calls that hang answers late, if at all.
var hanging = map[string]func(ctx context.Context, c client) error{
	"call": func(ctx context.Context, c client) error {
		_, err := c.DataType(ctx, service.DataTypeRequest{Name: "hang"})
		return err
	},
	"list": func(ctx context.Context, c client) error {
		_, err := service.Collect(c.ListFeatures(ctx, service.Rectangle{}))
		return err
	},
	"record": func(ctx context.Context, c client) error {
		_, err := c.RecordRoute(ctx, service.All(make([]service.Point, 3)))
		return err
	},
	"chat": func(ctx context.Context, c client) error {
		_, err := service.Collect(c.RouteChat(ctx, service.All(make([]service.RouteNote, 3))))
		return err
	},
}

// TestEndsInTime: the deadline of a context and that of the options end every kind of call, and a cancelled context
// does; the client works after it.
func TestEndsInTime(t *testing.T) {
	for name, call := range hanging {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{}, 8)
			addr := serveHanging(t, begun)
			for _, row := range []struct {
				name    string
				timeout time.Duration
				ctx     func() (context.Context, context.CancelFunc)
				want    error
			}{
				// The next call has this time too, on however busy a machine.
				{"options", 300 * time.Millisecond, func() (context.Context, context.CancelFunc) { return t.Context(), func() {} }, context.DeadlineExceeded},
				{"context", time.Minute, func() (context.Context, context.CancelFunc) {
					return context.WithTimeout(t.Context(), 50*time.Millisecond)
				}, context.DeadlineExceeded},
				{"cancel", time.Minute, func() (context.Context, context.CancelFunc) {
					ctx, cancel := context.WithCancel(t.Context())
					go func() { <-begun; cancel() }()
					return ctx, cancel
				}, context.Canceled},
			} {
				c := dial(t, addr, protocol.Options{Conns: 1, Timeout: row.timeout})
				ctx, cancel := row.ctx()
				start := time.Now()
				err := call(ctx, c)
				took := time.Since(start)
				cancel()
				if !errors.Is(err, row.want) || took > 5*time.Second {
					t.Errorf("%s: got error %v after %v, want %v soon", row.name, err, took, row.want)
				}
				if err := ask(t.Context(), c); err != nil {
					t.Errorf("%s: the next call: got error %v", row.name, err)
				}
				for len(begun) > 0 {
					<-begun
				}
			}
		})
	}
}

// TestWaitingEndsInTime: so do calls that wait for a connection.
func TestWaitingEndsInTime(t *testing.T) {
	begun := make(chan struct{}, 8)
	c := dial(t, serveHanging(t, begun), protocol.Options{Conns: 1, Timeout: 200 * time.Millisecond})
	busy, free := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { // holds the connection: its context's deadline goes before the options'
		held, cancel := context.WithTimeout(busy, time.Minute)
		defer cancel()
		done <- hanging["call"](held, c)
	}()
	<-begun
	if err := ask(t.Context(), c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the options' deadline: got error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: got error %v", err)
	}
	free()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the call in flight: got error %v", err)
	}
	if err := ask(t.Context(), c); err != nil {
		t.Errorf("afterwards: got error %v", err)
	}
}

// TestContextsComeAgain: a context may be that of many calls, of one, or end between two; it ends the call under way
// and no other, and costs the connection only then.
func TestContextsComeAgain(t *testing.T) {
	begun := make(chan struct{}, 8)
	c := dial(t, serveHanging(t, begun), protocol.Options{Conns: 1})
	dials := int64(1)
	check := func(step string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: got error %v, want %v", step, err, want)
		}
		if n := c.dials.Load(); n != dials {
			t.Errorf("%s: got %d dials, want %d", step, n, dials)
		}
	}
	for range 3 {
		again, cancelAgain := context.WithCancel(t.Context())
		for range 5 {
			check("a context that comes again", ask(again, c), nil)
			once, cancel := context.WithTimeout(t.Context(), time.Minute)
			check("one that comes once", ask(once, c), nil)
			cancel()
			check("after it", ask(again, c), nil)
			check("and again", ask(again, c), nil)
		}
		check("another", ask(t.Context(), c), nil)
		cancelAgain() // while the connection is idle
		check("one that is over", ask(again, c), context.Canceled)
		check("another, after one has ended", ask(t.Context(), c), nil)

		ctx, cancel := context.WithCancel(t.Context())
		check("the first call", ask(ctx, c), nil)
		check("the second call", ask(ctx, c), nil)
		go func() { <-begun; cancel() }()
		check("cancelled in its third", hanging["call"](ctx, c), context.Canceled)
		dials++
		check("the connection was replaced", ask(t.Context(), c), nil)
	}
}
