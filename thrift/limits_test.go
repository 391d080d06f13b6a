package thrift_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"bakeoff/protocol"
	"bakeoff/service"
)

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
		if o.Knobs["transport"] == "http" {
			t.Skip("net/http has buffers of its own")
		}
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
