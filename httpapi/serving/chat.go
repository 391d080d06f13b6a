package serving

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/fasthttp/websocket"

	"bakeoff/httpapi"
	"bakeoff/service"
)

// talk is one side of a connection over which chats are held. A chat's messages are read and written by one goroutine, where
// the rules pull a note and answer it, or by two: an API may pull notes in another one than that of its answers, if it
// has stopped when these have ended.
type talk struct {
	r   *Rules
	ctx context.Context
	// read reads one message, which is valid until the next. io.EOF is the end of the client's side, errLargeNote a
	// message over the limit, which is skipped; any other error is the connection's.
	read func() ([]byte, error)
	// write writes one message.
	write func([]byte) error

	out []byte
	// ended says that the client's side of this chat is over; broken, that the connection is, which both sides notice.
	ended  bool
	broken atomic.Bool
	// ahead says that there is a first message of a chat, unless aheadErr says why not.
	ahead    bool
	aheadMsg []byte
	aheadErr error
}

var errLargeNote = errors.New("a note is over the limit")

// one serves one chat, and says whether another may follow.
func (c *talk) one() bool {
	failed := false
	for n, err := range c.r.API.RouteChat(c.ctx, c.notes) {
		if c.broken.Load() {
			return false
		}
		if err == nil {
			c.out, err = c.r.Codec.AppendNote(c.out[:0], n)
		}
		if err == nil && len(c.out) > c.r.Max {
			err = httpapi.TooLarge("note", c.r.Max)
		}
		if err != nil {
			failed = true
			c.out = httpapi.AppendFailure(c.out[:0], err)
		}
		if !c.say(c.out) {
			return false
		}
		if failed {
			break
		}
	}
	if c.broken.Load() || !failed && !c.say([]byte(httpapi.ChatEnd)) {
		return false
	}
	// What the rules did not want to hear is skipped, up to the end of the client's side.
	for !c.ended {
		c.next()
	}
	return !c.broken.Load()
}

func (c *talk) say(b []byte) bool {
	if c.write(b) != nil {
		c.broken.Store(true)
	}
	return !c.broken.Load()
}

// notes is the sequence for the rules.
func (c *talk) notes(yield func(service.RouteNote, error) bool) {
	for {
		n, err := c.next()
		if err == io.EOF || !yield(n, err) || err != nil {
			return
		}
	}
}

// next returns the client's next note; io.EOF is the end of its side.
func (c *talk) next() (service.RouteNote, error) {
	if c.ended {
		return service.RouteNote{}, io.EOF
	}
	in, err := c.aheadMsg, c.aheadErr
	if !c.ahead {
		in, err = c.read()
	}
	c.ahead = false
	switch {
	case errors.Is(err, errLargeNote):
		return service.RouteNote{}, httpapi.TooLarge("note", c.r.Max)
	case err == io.EOF:
		c.ended = true
		return service.RouteNote{}, io.EOF
	case err != nil:
		c.ended = true
		c.broken.Store(true)
		return service.RouteNote{}, service.Errorf(service.Unavailable, "the chat's connection broke: %v", err)
	}
	n, end, failed, err := c.r.Codec.DecodeChat(in)
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

// ChatLines serves one chat whose messages are lines: the client's in body, the answers handed to send, each with its end.
// The end of the body is the end of the client's side.
func (r *Rules) ChatLines(ctx context.Context, body io.Reader, send func(line []byte) error) {
	lines := httpapi.NewLines(body, r.Max)
	c := &talk{r: r, ctx: ctx, read: func() ([]byte, error) {
		line, err := lines.Next()
		if errors.Is(err, httpapi.ErrLineTooLong) {
			return nil, errLargeNote // what follows of it is skipped as lines that are none
		}
		return line, err
	}}
	var line []byte
	c.write = func(b []byte) error {
		line = append(append(line[:0], b...), '\n')
		return send(line)
	}
	c.one()
}

// chats is one WebSocket, on which one chat follows another.
type chats struct {
	talk
	ws *websocket.Conn
	in []byte // the message that was read last
}

// wait waits for the first message of the next chat.
func (c *chats) wait() bool {
	c.ended = false
	if c.aheadMsg, c.aheadErr = c.hear(); c.aheadErr != nil && c.aheadErr != errLargeNote {
		return false
	}
	c.ahead = true
	return true
}

// hear reads one message into c.in. What is over the limit is left for the WebSocket to skip.
func (c *chats) hear() ([]byte, error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(c.r.Idle)); err != nil {
		return nil, err
	}
	kind, r, err := c.ws.NextReader()
	if err == nil && kind != websocket.TextMessage {
		err = errors.New("a chat's messages are text")
	}
	if err != nil {
		return nil, noEOF(err)
	}
	c.in, err = httpapi.ReadMessage(r, c.in[:0], c.r.Max)
	if errors.Is(err, httpapi.ErrLineTooLong) {
		return nil, errLargeNote
	}
	return c.in, noEOF(err)
}

// noEOF keeps the end of a connection apart from the end of the client's side.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// tell writes one message; a client that does not read is given the idle time.
func (c *chats) tell(b []byte) error {
	if err := c.ws.SetWriteDeadline(time.Now().Add(c.r.Idle)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.TextMessage, b)
}
