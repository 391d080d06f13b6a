package suite

import (
	"context"
	"fmt"
	"iter"
	"net"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// TestStreamsOutlastTheIdleTime: how long an idle connection is kept bounds no stream that is alive, in neither direction.
func TestStreamsOutlastTheIdleTime(t *testing.T) {
	const idle = 250 * time.Millisecond
	api := servicetest.API{
		OnListFeatures: func(ctx context.Context, _ service.Rectangle) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				tick := time.NewTicker(idle / 10)
				defer tick.Stop()
				for range 30 { // 3 x idle
					select {
					case <-tick.C:
					case <-ctx.Done():
						yield(service.Feature{}, ctx.Err())
						return
					}
					if !yield(service.Feature{Name: "one"}, nil) {
						return
					}
				}
			}
		},
	}
	for _, name := range []string{"grpc", "grpc-http", "grpc-gateway", "connect", "http", "http-std", "http2"} {
		p, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			o := p.Options(1, 1)
			o.Timeout = time.Minute // and the usual idle time, else a client would replace connections by itself
			served := o
			served.ServerIdle = idle
			addr, _ := servicetest.Serve(t, func(ctx context.Context, l net.Listener) error { return p.Serve(ctx, l, api, served) })
			streams := []struct {
				name string
				run  func(c protocol.Client) error
			}{
				{"down", func(c protocol.Client) error { return list(t.Context(), c, 30) }},
				{"up", func(c protocol.Client) error { return record(t.Context(), c, 3*idle, idle/10) }},
				{"both ways", func(c protocol.Client) error { return chat(t.Context(), c, 3*idle) }},
			}
			for _, s := range streams {
				c, err := p.Dial(t.Context(), addr, o)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.run(c); err != nil {
					t.Errorf("%s: %v", s.name, err)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func list(ctx context.Context, c protocol.Client, want int) error {
	n := 0
	for _, err := range c.ListFeatures(ctx, service.Rectangle{}) {
		if err != nil {
			return fmt.Errorf("after %d features: %w", n, err)
		}
		n++
	}
	if n != want {
		return fmt.Errorf("%d features came, want %d", n, want)
	}
	return nil
}

// record sends points for so long, one every so often.
func record(ctx context.Context, c protocol.Client, d, every time.Duration) error {
	n := int32(0)
	sum, err := c.RecordRoute(ctx, func(yield func(service.Point, error) bool) {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for start := time.Now(); time.Since(start) < d && yield(service.Point{}, nil); n++ {
			<-tick.C
		}
	})
	if err != nil {
		return fmt.Errorf("after %d points: %w", n, err)
	}
	if sum.PointCount != n {
		return fmt.Errorf("%d points arrived, want %d", sum.PointCount, n)
	}
	return nil
}

// chat sends a note as the one before has come back, for so long.
func chat(ctx context.Context, c protocol.Client, d time.Duration) error {
	start, back, sent, came := time.Now(), make(chan struct{}, 1), 0, 0
	for _, err := range c.RouteChat(ctx, func(yield func(service.RouteNote, error) bool) {
		for ; time.Since(start) < d && yield(service.RouteNote{Message: "note"}, nil); <-back {
			sent++
		}
	}) {
		if err != nil {
			return fmt.Errorf("after %d notes: %w", came, err)
		}
		came++
		back <- struct{}{}
	}
	if came == 0 {
		return fmt.Errorf("no note came")
	}
	return nil
}
