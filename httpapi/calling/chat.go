package calling

import (
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/fasthttp/websocket"

	"bakeoff/httpapi"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// bufferSize is that of each of a WebSocket's buffers.
const bufferSize = 4096

// largeProblem is more than a refusal of the server's takes.
const largeProblem = 64 << 10

// Talk is the client's end of a WebSocket, over which one chat follows another. It belongs to one call at a time.
type Talk struct {
	ws    *websocket.Conn
	codec httpapi.Codec
	max   int
	in    []byte // the message that was read last
}

// NewTalk makes conn a WebSocket of the server at addr, which its requests call host. Its messages have at most max bytes.
// It takes the deadline off conn. A refusal is the server's own error; after any, conn is of no more use.
func NewTalk(conn net.Conn, addr, host string, codec httpapi.Codec, max int) (*Talk, error) {
	d := websocket.Dialer{
		NetDialContext:  func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		ReadBufferSize:  bufferSize,
		WriteBufferSize: bufferSize,
	}
	// The connection has the call's deadline and is closed by its context; the library is given neither.
	ws, resp, err := d.DialContext(context.Background(), "ws://"+addr+httpapi.PathChat, http.Header{"Host": {host}})
	if resp != nil && errors.Is(err, websocket.ErrBadHandshake) && resp.StatusCode >= 400 {
		b, _ := httpapi.ReadMessage(resp.Body, nil, largeProblem)
		return nil, httpapi.ErrorOf(resp.StatusCode, b)
	}
	if err != nil {
		return nil, err
	}
	return &Talk{ws: ws, codec: codec, max: max}, nil
}

// chatOut is the sending half of one chat.
type chatOut struct {
	t    *Talk
	done chan struct{}
	// ended says that the end of this side is being sent; with it, done is closed soon.
	ended atomic.Bool
	// fault is an error of the input, which closes the connection and which the caller is to have as it is.
	fault atomic.Pointer[error]
}

// Chat holds one chat: notes are sent by a goroutine while the answers are yielded, but not the error that ends it, which it
// returns. Where the caller stops early, the goroutine ends when notes yields again. deadline is that of the connection.
func (t *Talk) Chat(deadline time.Time, notes iter.Seq2[service.RouteNote, error], yield func(service.RouteNote, error) bool) (End, error) {
	_ = t.ws.SetWriteDeadline(deadline) // it is only remembered for the writes
	out := &chatOut{t: t, done: make(chan struct{})}
	go out.send(notes)
	for taken := false; ; taken = true {
		n, end, failed, err := t.hear(taken)
		switch {
		case err != nil:
			if fault := out.fault.Load(); fault != nil {
				return Spoilt, *fault
			}
			return Broke, err
		case end || failed != nil:
			// Where the server ended first, notes may still be sent, or waited for: the connection is of no more use.
			how := Spoilt
			if out.ended.Load() {
				if <-out.done; out.fault.Load() == nil {
					how = Whole
				}
			}
			if failed != nil {
				return how, failed
			}
			return how, nil
		case !yield(n, nil):
			return Spoilt, nil
		}
	}
}

// send sends the notes and the end.
func (o *chatOut) send(notes iter.Seq2[service.RouteNote, error]) {
	defer close(o.done)
	var buf []byte
	for n, err := range notes {
		if err == nil {
			buf, err = Note(o.t.codec, buf[:0], n, o.t.max)
		}
		if err != nil {
			o.fault.Store(&err)
			_ = o.t.ws.Close()
			return
		}
		if o.t.ws.WriteMessage(websocket.TextMessage, buf) != nil {
			return // why, the connection tells the reading half
		}
	}
	o.ended.Store(true)
	_ = o.t.ws.WriteMessage(websocket.TextMessage, []byte(httpapi.ChatEnd)) // likewise
}

// Note appends a note of at most max bytes to dst.
func Note(c httpapi.Codec, dst []byte, n service.RouteNote, max int) ([]byte, error) {
	before := len(dst)
	dst, err := c.AppendNote(dst, n)
	if err == nil && len(dst)-before > max {
		err = service.AsError(httpapi.TooLarge("note", max))
	}
	return dst, err
}

// hear reads the server's next message.
func (t *Talk) hear(taken bool) (n service.RouteNote, end bool, failed *service.Error, err error) {
	kind, r, err := t.ws.NextReader()
	if err == nil && kind != websocket.TextMessage {
		err = Malformed(errors.New("a chat's messages are text"))
	}
	if err == nil {
		t.in, err = httpapi.ReadMessage(r, t.in[:0], t.max)
	}
	if err != nil {
		return n, false, nil, broken(err, taken)
	}
	if n, end, failed, err = t.codec.DecodeChat(t.in); err != nil {
		err = Malformed(err)
	}
	return n, end, failed, err
}

// broken says what the library's error means where the connection's own can't tell; taken, that the server has answered.
func broken(err error, taken bool) error {
	var closed *websocket.CloseError
	switch {
	case errors.Is(err, httpapi.ErrLineTooLong):
		return LargeAnswer()
	case errors.As(err, &closed) && closed.Code == websocket.CloseMessageTooBig:
		return service.Errorf(service.ResourceExhausted, "the server: a message is over the limit")
	case errors.As(err, &closed):
		return pool.HungUp(err, taken)
	case taken:
		if fault := pool.SocketError(err, taken); fault != nil {
			return fault
		}
	}
	return err
}
