package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"testing"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// TestListStopsEarly: it costs the connection, and ends the call at the server.
func TestListStopsEarly(t *testing.T) {
	stopped := make(chan struct{}, 1)
	addr := serve(t, servicetest.API{OnListFeatures: func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
		return func(yield func(service.Feature, error) bool) {
			for yield(service.Feature{Name: "x"}, nil) {
			}
			stopped <- struct{}{}
		}
	}}, protocol.Options{})
	c := dial(t, addr, protocol.Options{Conns: 1})
	for range 3 {
		n := 0
		for _, err := range c.ListFeatures(t.Context(), service.Rectangle{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 1000 {
				break
			}
		}
		<-stopped
	}
	if n := c.dials.Load(); n != 3 { // the first is Dial's; the last one's place is empty
		t.Errorf("got %d dials, want 3", n)
	}
}

// TestConsumerPanics: a lane comes back even if the code between two elements leaves by a panic.
func TestConsumerPanics(t *testing.T) {
	c := dial(t, serve(t, servicetest.API{}, protocol.Options{}), protocol.Options{Conns: 1})
	leave := func(use func()) {
		defer func() { _ = recover() }()
		use()
	}
	for range 2 {
		leave(func() {
			for range c.ListFeatures(t.Context(), service.Rectangle{}) {
				panic("consumer")
			}
		})
		leave(func() {
			for range c.RouteChat(t.Context(), service.All(make([]service.RouteNote, 3))) {
				panic("consumer")
			}
		})
		leave(func() {
			_, _ = c.RecordRoute(t.Context(), func(func(service.Point, error) bool) { panic("producer") })
		})
	}
	if err := ask(t.Context(), c); err != nil {
		t.Errorf("afterwards: got error %v", err)
	}
}

// TestListFails: in the middle of a list the error is the last element, and the connection is kept.
func TestListFails(t *testing.T) {
	want := service.Error{Code: service.Unavailable, Msg: "gone 語"}
	addr := serve(t, servicetest.API{OnListFeatures: func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
		return func(yield func(service.Feature, error) bool) {
			_ = yield(service.Feature{Name: "a"}, nil) && yield(service.Feature{Name: "b"}, nil) && yield(service.Feature{}, &want)
		}
	}}, protocol.Options{})
	c := dial(t, addr, protocol.Options{Conns: 1})
	for range 3 {
		all, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{}))
		var e *service.Error
		if len(all) != 2 || !errors.As(err, &e) || *e != want {
			t.Errorf("got %v, %v, want 2 features and %v", all, err, &want)
		}
	}
	if n := c.dials.Load(); n != 1 {
		t.Errorf("got %d dials, want 1", n)
	}
}

// TestListBroken: a list whose connection breaks is not whole.
func TestListBroken(t *testing.T) {
	const line = `{"name":"a","location":{"latitude":1,"longitude":2}}` + "\n"
	for rest, kind := range map[string]string{"": protocol.Reset, "5\r\n{\"na": protocol.Reset, "6\r\n[1,2]\n\r\n": protocol.Malformed, "zz\r\n": protocol.Malformed} {
		addr, _ := fake(t, func(c net.Conn, next func() *http.Request) {
			drained(next())
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%s", len(line), line, rest)
		})
		all, err := service.Collect(dial(t, addr, protocol.Options{Conns: 1}).ListFeatures(t.Context(), service.Rectangle{}))
		if len(all) != 1 || kindOf(err) != kind {
			t.Errorf("%q: got %v, %v, want a feature and class %s", rest, all, err, kind)
		}
	}
}

// TestUploadGoesAsItIsMade: a point is at the server before the next one is made.
func TestUploadGoesAsItIsMade(t *testing.T) {
	seen := make(chan struct{})
	addr := serve(t, servicetest.API{OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (sum service.RouteSummary, err error) {
		for _, err := range points {
			if err != nil {
				return sum, err
			}
			sum.PointCount++
			seen <- struct{}{}
		}
		return sum, nil
	}}, protocol.Options{})
	c := dial(t, addr, protocol.Options{Conns: 1})
	for range 2 {
		sum, err := c.RecordRoute(t.Context(), func(yield func(service.Point, error) bool) {
			for range 3 {
				if !yield(service.Point{}, nil) {
					return
				}
				<-seen
			}
		})
		if err != nil || sum.PointCount != 3 {
			t.Errorf("got %v, %v, want 3 points", sum, err)
		}
	}
	if n := c.dials.Load(); n != 1 {
		t.Errorf("got %d dials, want 1", n)
	}
}

// TestUploadIsRefused: an upload without end ends when the server has answered.
func TestUploadIsRefused(t *testing.T) {
	want := service.Error{Code: service.InvalidArgument, Msg: "enough"}
	addr := serve(t, servicetest.API{OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
		for range points {
			return service.RouteSummary{}, &want
		}
		return service.RouteSummary{}, nil
	}}, protocol.Options{})
	c := dial(t, addr, protocol.Options{Conns: 1})
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
}

// TestInputErrors: the caller's own error comes back as it is.
func TestInputErrors(t *testing.T) {
	c := dial(t, serve(t, servicetest.API{}, protocol.Options{}), protocol.Options{Conns: 1})
	mine := errors.New("mine")
	for _, n := range []int{0, 1, 1000} {
		_, err := c.RecordRoute(t.Context(), func(yield func(service.Point, error) bool) {
			for range n {
				if !yield(service.Point{}, nil) {
					return
				}
			}
			yield(service.Point{}, mine)
		})
		if !errors.Is(err, mine) {
			t.Errorf("record, after %d points: got error %v", n, err)
		}
		_, err = service.Collect(c.RouteChat(t.Context(), func(yield func(service.RouteNote, error) bool) {
			for range n {
				if !yield(service.RouteNote{}, nil) {
					return
				}
			}
			yield(service.RouteNote{}, mine)
		}))
		if !errors.Is(err, mine) {
			t.Errorf("chat, after %d notes: got error %v", n, err)
		}
	}
}

// TestChatsShareAConnection: many chats go over one WebSocket; a call after them has the connection replaced.
func TestChatsShareAConnection(t *testing.T) {
	refused := service.Error{Code: service.NotFound, Msg: "no"}
	addr := serve(t, servicetest.API{OnRouteChat: func(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
		return func(yield func(service.RouteNote, error) bool) {
			for n, err := range notes {
				if n.Message == "refuse" {
					err = &refused
				}
				if !yield(n, err) || err != nil {
					return
				}
			}
		}
	}}, protocol.Options{})
	c := dial(t, addr, protocol.Options{Conns: 1})
	if err := ask(t.Context(), c); err != nil {
		t.Fatal(err)
	}
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
				t.Errorf("answer %d is %+v", heard, n)
			}
			answers <- n
		}
		if heard != 5 {
			t.Errorf("got %d answers, want 5", heard)
		}
	}
	if n := c.dials.Load(); n != 1 {
		t.Errorf("got %d dials for 10 chats, want that of Dial", n)
	}
	_, err := service.Collect(c.RouteChat(t.Context(), service.All([]service.RouteNote{{Message: "refuse"}, {}, {}})))
	var e *service.Error
	if !errors.As(err, &e) || *e != refused {
		t.Errorf("got error %v, want %v", err, &refused)
	}
	for range 2 {
		if err := ask(t.Context(), c); err != nil {
			t.Errorf("a call after chats: got error %v", err)
		}
	}
	if n := c.dials.Load(); n < 2 || n > 3 {
		t.Errorf("got %d dials, want one more for the calls, and one if the refused chat was still sending", n)
	}
}

// TestChatsAtOnce: 32 chats over 4 connections keep to themselves.
func TestChatsAtOnce(t *testing.T) {
	c := dial(t, serve(t, servicetest.API{}, protocol.Options{}), protocol.Options{Conns: 4})
	errs := make(chan error, 32)
	for i := range cap(errs) {
		go func() {
			notes := make([]service.RouteNote, 50)
			for j := range notes {
				notes[j] = service.RouteNote{Location: service.Point{Latitude: int32(i), Longitude: int32(j)}, Message: fmt.Sprint(i, j)}
			}
			got, err := service.Collect(c.RouteChat(t.Context(), service.All(notes)))
			for j := range got {
				if err == nil && got[j] != notes[j] {
					err = fmt.Errorf("chat %d: got %v, want %v", i, got[j], notes[j])
				}
			}
			if err == nil && len(got) != len(notes) {
				err = fmt.Errorf("chat %d: got %d answers", i, len(got))
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := c.dials.Load(); n != 4 {
		t.Errorf("got %d dials, want 4", n)
	}
}

// TestChatRefused: what a server without chats answers to the upgrade.
func TestChatRefused(t *testing.T) {
	addr, _ := fake(t, func(c net.Conn, next func() *http.Request) {
		for drained(next()) != nil {
			reply(c, "503 Service Unavailable", `{"detail":"no chats","code":"unavailable"}`)
		}
	})
	c := dial(t, addr, protocol.Options{Conns: 1})
	_, err := service.Collect(c.RouteChat(t.Context(), service.All[service.RouteNote](nil)))
	var e *service.Error
	if !errors.As(err, &e) || *e != (service.Error{Code: service.Unavailable, Msg: "no chats"}) {
		t.Errorf("got error %v, want the server's", err)
	}
}
