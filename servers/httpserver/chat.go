package httpserver

import (
	"errors"
	"io"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/service"
)

// chat makes the connection a WebSocket, on which one chat follows another.
func (h *handler) chat(rc *fasthttp.RequestCtx) {
	up := websocket.FastHTTPUpgrader{
		Error: func(rc *fasthttp.RequestCtx, status int, reason error) {
			code := service.InvalidArgument
			if status == fasthttp.StatusForbidden {
				code = service.Unauthenticated
			}
			h.problem(rc, httpapi.ProblemWith(status, service.Errorf(code, "%v: %s is a WebSocket", reason, httpapi.PathChat)))
			rc.Response.Header.Set("Sec-WebSocket-Version", "13")
		},
	}
	conn := rc.Conn()
	_ = up.Upgrade(rc, func(ws *websocket.Conn) { // a refusal has been answered
		if !h.conns.join(conn, ws) {
			return
		}
		defer h.conns.leave(ws)
		c := &chats{h: h, ws: ws}
		for c.wait() && c.one() && h.conns.chatting(ws, false) {
		}
	})
}

// chats is one WebSocket. A chat's messages are read and written by one goroutine: the rules pull a note, and
// answer it.
type chats struct {
	h   *handler
	ws  *websocket.Conn
	in  []byte // the message that was read last
	out []byte
	// ended says that the client's side of this chat is over; broken, that the connection is.
	ended, broken bool
	// ahead says that in holds the first message of a chat, unless aheadErr says why not.
	ahead    bool
	aheadErr error
}

// wait waits for the first message of the next chat.
func (c *chats) wait() bool {
	c.ended = false
	if c.aheadErr = c.read(); c.aheadErr != nil && c.aheadErr != errLargeNote {
		return false
	}
	c.ahead = true
	return c.h.conns.chatting(c.ws, true)
}

// one serves one chat, and says whether another may follow.
func (c *chats) one() bool {
	failed := false
	for n, err := range c.h.api.RouteChat(c.h.ctx, c.notes) {
		if c.broken {
			return false
		}
		if err == nil {
			c.out, err = c.h.codec.AppendNote(c.out[:0], n)
		}
		if err == nil && len(c.out) > c.h.max {
			err = httpapi.TooLarge("note", c.h.max)
		}
		if err != nil {
			failed = true
			c.out = httpapi.AppendFailure(c.out[:0], err)
		}
		if !c.write(c.out) {
			return false
		}
		if failed {
			break
		}
	}
	if c.broken || !failed && !c.write([]byte(httpapi.ChatEnd)) {
		return false
	}
	// What the rules did not want to hear is skipped, up to the end of the client's side.
	for !c.ended {
		c.next()
	}
	return !c.broken
}

// notes is the sequence for the rules.
func (c *chats) notes(yield func(service.RouteNote, error) bool) {
	for {
		n, err := c.next()
		if err == io.EOF || !yield(n, err) || err != nil {
			return
		}
	}
}

// next returns the client's next note; io.EOF is the end of its side.
func (c *chats) next() (service.RouteNote, error) {
	if c.ended {
		return service.RouteNote{}, io.EOF
	}
	err := c.aheadErr
	if !c.ahead {
		err = c.read()
	}
	c.ahead = false
	if errors.Is(err, errLargeNote) {
		return service.RouteNote{}, httpapi.TooLarge("note", c.h.max)
	}
	if err != nil {
		c.broken, c.ended = true, true
		return service.RouteNote{}, service.Errorf(service.Unavailable, "the chat's connection broke: %v", err)
	}
	n, end, failed, err := c.h.codec.DecodeChat(c.in)
	switch {
	case err != nil:
		return n, err
	case failed != nil:
		c.ended = true
		return n, failed
	case end:
		c.ended = true
		return n, io.EOF
	}
	return n, nil
}

var errLargeNote = errors.New("a note is over the limit")

// read reads one message into c.in. What is over the limit is left for the WebSocket to skip.
func (c *chats) read() error {
	if err := c.ws.SetReadDeadline(time.Now().Add(c.h.idle)); err != nil {
		return err
	}
	kind, r, err := c.ws.NextReader()
	if err != nil {
		return err
	}
	if kind != websocket.TextMessage {
		return errors.New("a chat's messages are text")
	}
	c.in, err = httpapi.ReadMessage(r, c.in[:0], c.h.max)
	if errors.Is(err, httpapi.ErrLineTooLong) {
		return errLargeNote
	}
	return err
}

// write writes one message; a client that does not read is given the idle time.
func (c *chats) write(b []byte) bool {
	if c.ws.SetWriteDeadline(time.Now().Add(c.h.idle)) != nil || c.ws.WriteMessage(websocket.TextMessage, b) != nil {
		c.broken = true
	}
	return !c.broken
}
