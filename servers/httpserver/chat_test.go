package httpserver_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func dialChat(t *testing.T, addr string) *websocket.Conn {
	t.Helper()
	ws, _, err := (&websocket.Dialer{}).DialContext(t.Context(), "ws://"+addr+"/v1/chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func say(t *testing.T, ws *websocket.Conn, msg string) {
	t.Helper()
	if err := ws.WriteMessage(websocket.TextMessage, []byte(msg)); err != nil {
		t.Fatal(err)
	}
}

// hear wants the next message to have that beginning.
func hear(t *testing.T, ws *websocket.Conn, want string) {
	t.Helper()
	if err := ws.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, b, err := ws.ReadMessage()
	if err != nil || !strings.HasPrefix(string(b), want) {
		t.Fatalf("got message %.300q, %v, want %q", b, err, want)
	}
}

const end = `{"end":true}`

// TestChats has one chat after another on one WebSocket, and the ways in which one fails without the others.
func TestChats(t *testing.T) {
	const limit = 1000
	s := serve(t, servicetest.API{OnRouteChat: func(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
		return func(yield func(service.RouteNote, error) bool) {
			for n, err := range notes {
				switch {
				case n.Message == "fail":
					err = service.Errorf(service.NotFound, "as asked")
				case n.Message == "enough":
					return
				case n.Message == "large":
					n.Message = strings.Repeat("x", limit)
				}
				if !yield(n, err) || err != nil {
					return
				}
			}
		}
	}}, protocol.Options{MaxMessage: limit})
	ws := dialChat(t, s.addr)
	note := func(msg string) string { return `{"location":{"latitude":1,"longitude":2},"message":"` + msg + `"}` }
	failure := func(code string) string { return `{"error":{"type":"about:blank","title":"` + code }
	for range 2 {
		// Notes are answered as they come, not at the end.
		for i := range 3 {
			say(t, ws, note(fmt.Sprint(i)))
			hear(t, ws, note(fmt.Sprint(i)))
		}
		say(t, ws, end)
		hear(t, ws, end)
		// No notes at all.
		say(t, ws, end)
		hear(t, ws, end)
		// A note in which nothing is set is one of zeros.
		say(t, ws, `{}`)
		hear(t, ws, `{"location":{"latitude":0,"longitude":0},"message":""}`)
		say(t, ws, end)
		hear(t, ws, end)
		// A failure: what the client had still sent is skipped.
		say(t, ws, note("fail"))
		hear(t, ws, failure("Not Found"))
		say(t, ws, note("more"))
		say(t, ws, end)
		// A server that has heard enough.
		say(t, ws, note("enough"))
		hear(t, ws, end)
		say(t, ws, note("more"))
		say(t, ws, end)
		// What is no note, and what is over the limit: first in a chat and later.
		for _, bad := range []struct{ msg, title string }{
			{`{"location":{"latitude":1.5}}`, "Bad Request"}, {`[`, "Bad Request"},
			{`null`, "Bad Request"}, {`{"location":null}`, "Bad Request"},
			{note(strings.Repeat("x", limit)), "Request Entity Too Large"}, {note("large"), "Request Entity Too Large"},
		} {
			say(t, ws, bad.msg)
			hear(t, ws, failure(bad.title))
			say(t, ws, end)
			say(t, ws, note("a"))
			hear(t, ws, note("a"))
			say(t, ws, bad.msg)
			hear(t, ws, failure(bad.title))
			say(t, ws, end)
		}
		// A failure of the client's.
		say(t, ws, note("a"))
		hear(t, ws, note("a"))
		say(t, ws, `{"error":{"detail":"mine","code":"unavailable"}}`)
		hear(t, ws, failure("Service Unavailable"))
	}
	if err := ws.WriteMessage(websocket.BinaryMessage, []byte(end)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.ReadMessage(); err == nil {
		t.Error("a binary message was answered")
	}
}

// TestChatNeedsWebSocket: others are told so.
func TestChatNeedsWebSocket(t *testing.T) {
	s := serve(t, echo, protocol.Options{})
	for _, header := range [][]string{nil, {"Connection", "Upgrade", "Upgrade", "h2c"},
		{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "12"}} {
		a := do(t, "GET", s.addr+"/v1/chat", "", header...)
		if p := a.problem(t); a.status != 400 || p.Code != "invalid_argument" || a.header.Get("Sec-WebSocket-Version") != "13" {
			t.Errorf("%q: got status %d, %+v, want 400", header, a.status, p)
		}
	}
	a := do(t, "GET", s.addr+"/v1/chat", "", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
		"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Origin", "http://elsewhere.example")
	if p := a.problem(t); a.status != 403 || p.Code != "unauthenticated" {
		t.Errorf("from elsewhere: got status %d, %+v, want 403", a.status, p)
	}
}

// TestChatIdle: a WebSocket on which nothing is said is closed like any idle connection.
func TestChatIdle(t *testing.T) {
	s := serve(t, echo, protocol.Options{ServerIdle: 50 * time.Millisecond})
	ws := dialChat(t, s.addr)
	say(t, ws, end)
	hear(t, ws, end)
	start := time.Now()
	if _, _, err := ws.ReadMessage(); err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("got error %v after %v, want a closed connection after 50 ms", err, time.Since(start))
	}
}
