package nethttpclient_test

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func TestCalls(t *testing.T) {
	each(t, func(t *testing.T, v version) {
		for _, knobs := range []map[string]string{nil, {"codec": "fast", "headers": "off"}} {
			o := protocol.Options{Conns: 1, Knobs: knobs}
			c := v.client(t, v.start(t, servicetest.API{}, o), o)
			ctx := t.Context()
			s, err := c.Login(ctx, service.LoginRequest{ClientID: "c", Secret: "語"})
			if want := (service.Session{Token: "c/語", Expires: time.UnixMilli(1_900_000_000_123).UTC()}); err != nil || s != want {
				t.Errorf("got %v, %v, want %v", s, err, want)
			}
			d, err := c.DataType(ctx, service.DataTypeRequest{Auth: service.Auth{Token: "t"}, Group: "a<b", Name: "語音\x00"})
			if want := (service.DataType{Token: "t", CodeID: 3, CnName: "a<b|語音\x00"}); err != nil || d != want {
				t.Errorf("got %v, %v, want %v", d, err, want)
			}
			lo, hi := service.Point{Latitude: math.MinInt32, Longitude: 1}, service.Point{Latitude: 2, Longitude: math.MaxInt32}
			f, err := c.GetFeature(ctx, lo)
			if want := (service.Feature{Name: "地點", Location: lo}); err != nil || f != want {
				t.Errorf("got %v, %v, want %v", f, err, want)
			}
			all, err := service.Collect(c.ListFeatures(ctx, service.Rectangle{Lo: lo, Hi: hi}))
			if err != nil || len(all) != 2 || all[0].Location != lo || all[1].Location != hi {
				t.Errorf("got %v, %v", all, err)
			}
			sum, err := c.RecordRoute(ctx, service.All(make([]service.Point, 1000)))
			if err != nil || sum.PointCount != 1000 {
				t.Errorf("got %v, %v, want 1000 points", sum, err)
			}
			if n := c.dials.Load(); n != 1 {
				t.Errorf("%d connections were opened for 5 calls, want 1", n)
			}
		}
	})
}

func TestNoRetries(t *testing.T) {
	for name, call := range map[string]func(c client) error{
		"POST": func(c client) error { return ask(t.Context(), c) },
		"GET":  func(c client) error { _, err := c.GetFeature(t.Context(), service.Point{}); return err },
		"list": func(c client) error {
			_, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{}))
			return err
		},
		"record": func(c client) error {
			_, err := c.RecordRoute(t.Context(), service.All[service.Point](nil))
			return err
		},
		"chat": func(c client) error {
			_, err := service.Collect(c.RouteChat(t.Context(), service.All[service.RouteNote](nil)))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			addr, requests := fake(t, func(_ net.Conn, next func() *http.Request) { drained(next()) })
			c := http1.client(t, addr, protocol.Options{Conns: 2})
			if err := call(c); kindOf(err) != protocol.StaleConn {
				t.Errorf("got error %v, want class stale_conn", err)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests arrived, want 1", n)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	for _, row := range []struct{ name, answer, class string }{
		{"no JSON", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\noops", protocol.Malformed},
		{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{\"codeId\":1", protocol.Reset},
		{"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{\"codeId\":1", protocol.Reset},
		{"a gateway's failure", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>", "unavailable"},
		{"a redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", "internal"},
		{"an interim answer", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "not_found"},
		{"more than the limit", "HTTP/1.1 200 OK\r\nContent-Length: 99000\r\n\r\n{", "resource_exhausted"},
		{"more than the limit, in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" + strings.Repeat(" ", 1024) + "\r\n", "resource_exhausted"},
	} {
		for name, call := range map[string]func(c client) error{
			"call": func(c client) error { return ask(t.Context(), c) },
			"list": func(c client) error {
				_, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{}))
				return err
			},
			"record": func(c client) error {
				_, err := c.RecordRoute(t.Context(), service.All(make([]service.Point, 3)))
				return err
			},
		} {
			if row.class == "resource_exhausted" && name == "list" {
				continue // its lines are held to the limit, not their sum
			}
			addr, requests := fake(t, func(c net.Conn, next func() *http.Request) {
				drained(next())
				_, _ = c.Write([]byte(row.answer))
			})
			err := call(http1.client(t, addr, protocol.Options{Conns: 1, MaxMessage: 1000}))
			var classed interface{ Class() string }
			if !errors.As(err, &classed) || classed.Class() != row.class {
				t.Errorf("%s, %s: got error %v, want class %s", row.name, name, err, row.class)
			}
			if n := requests.Load(); n != 1 {
				t.Errorf("%s, %s: %d requests arrived, want 1", row.name, name, n)
			}
		}
	}
}

func TestProxiesAreBypassed(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	each(t, func(t *testing.T, v version) {
		c := v.client(t, v.start(t, servicetest.API{}, protocol.Options{}), protocol.Options{Conns: 1})
		if err := ask(t.Context(), c); err != nil {
			t.Errorf("call: got error %v", err)
		}
		if _, err := service.Collect(c.RouteChat(t.Context(), service.All(make([]service.RouteNote, 2)))); err != nil {
			t.Errorf("chat: got error %v", err)
		}
	})
}

func BenchmarkDataType(b *testing.B) {
	rq := service.DataTypeRequest{Auth: service.Auth{ClientID: "bench", Token: "token"}, Group: "USER_EVENT", Name: "app_call_connect_success"}
	constant := servicetest.API{OnDataType: func(context.Context, service.DataTypeRequest) (service.DataType, error) {
		return service.DataType{Token: "token", CodeID: 101, CnName: "語音接通"}, nil
	}}
	for name, v := range map[string]version{"HTTP1": http1, "HTTP2": http2} {
		b.Run(name, func(b *testing.B) {
			o := protocol.Options{Conns: 1, Timeout: 10 * time.Second}
			c := v.client(b, v.start(b, constant, o), o)
			b.ReportAllocs()
			for b.Loop() {
				if a, err := c.DataType(b.Context(), rq); err != nil || a.CodeID != 101 {
					b.Fatal(a, err)
				}
			}
		})
	}
}
