package httpclient

import (
	"context"
	"errors"
	"iter"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/fasthttp/websocket"

	"bakeoff/httpapi"
	"bakeoff/service"
)

// RouteChat makes its call when the sequence is read: notes are sent by a goroutine while the answers are yielded.
// The lane's connection becomes a WebSocket with its first chat and stays one for the next. A consumer that stops
// early costs the connection; the goroutine then ends when notes yields again.
func (c *client) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		k, err := c.begin(ctx, true)
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		defer k.drop()
		if k.ws == nil {
			if err := k.upgrade(c.addr, c.host); err != nil {
				yield(service.RouteNote{}, k.fail(err))
				return
			}
		}
		k.chat(notes, yield)
	}
}

// chatOut is the sending half of one chat.
type chatOut struct {
	ws   *websocket.Conn
	done chan struct{}
	// ended says that the end of this side is being sent; with it, done is closed soon.
	ended atomic.Bool
	// fault is an error of the input, which closes the connection and which the caller is to have as it is.
	fault atomic.Pointer[error]
}

func (k *turn) chat(notes iter.Seq2[service.RouteNote, error], yield func(service.RouteNote, error) bool) {
	_ = k.ws.SetWriteDeadline(k.Deadline()) // it is only remembered for the writes
	out := &chatOut{ws: k.ws, done: make(chan struct{})}
	go out.send(k.c, notes)
	for {
		n, end, failed, err := k.note(k.c)
		switch {
		case err != nil:
			if fault := out.fault.Load(); fault != nil {
				k.end(false)
				err = *fault
			} else {
				err = k.fail(err)
			}
			yield(n, err)
			return
		case end || failed != nil:
			// Where the server ended first, notes may still be sent, or waited for: the connection is of no more use.
			good := out.ended.Load()
			if good {
				<-out.done
				good = out.fault.Load() == nil
			}
			k.end(good)
			if failed != nil {
				yield(n, failed)
			}
			return
		case !yield(n, nil):
			k.end(false)
			return
		}
	}
}

// send sends the notes and the end.
func (o *chatOut) send(c *client, notes iter.Seq2[service.RouteNote, error]) {
	defer close(o.done)
	var buf []byte
	for n, err := range notes {
		if err == nil {
			buf, err = c.codec.AppendNote(buf[:0], n)
		}
		if err == nil && len(buf) > c.max {
			err = service.AsError(httpapi.TooLarge("note", c.max))
		}
		if err != nil {
			o.fault.Store(&err)
			_ = o.ws.Close()
			return
		}
		if o.ws.WriteMessage(websocket.TextMessage, buf) != nil {
			return // why, the connection tells the reading half
		}
	}
	o.ended.Store(true)
	_ = o.ws.WriteMessage(websocket.TextMessage, []byte(httpapi.ChatEnd)) // likewise
}

// note reads the server's next message.
func (k *lane) note(c *client) (n service.RouteNote, end bool, failed *service.Error, err error) {
	kind, r, err := k.ws.NextReader()
	if err != nil {
		return n, false, nil, err
	}
	k.taken = true
	if kind != websocket.TextMessage {
		return n, false, nil, malformed(errors.New("a chat's messages are text"))
	}
	if k.in, err = httpapi.ReadMessage(r, k.in[:0], c.max); err != nil {
		return n, false, nil, err
	}
	if n, end, failed, err = c.codec.DecodeChat(k.in); err != nil {
		err = malformed(err)
	}
	return n, end, failed, err
}

// upgrade makes the connection a WebSocket.
func (k *lane) upgrade(addr, host string) error {
	d := websocket.Dialer{
		NetDialContext:  func(context.Context, string, string) (net.Conn, error) { return k.conn, nil },
		ReadBufferSize:  bufferSize,
		WriteBufferSize: bufferSize,
	}
	// The connection has the call's deadline and is closed by its context; the library is given neither.
	ws, resp, err := d.DialContext(context.Background(), "ws://"+addr+httpapi.PathChat, http.Header{"Host": {host}})
	if resp != nil && errors.Is(err, websocket.ErrBadHandshake) && resp.StatusCode >= 400 {
		b, _ := httpapi.ReadMessage(resp.Body, nil, largeBuffer)
		return httpapi.ErrorOf(resp.StatusCode, b)
	}
	if err != nil {
		return err
	}
	k.ws, k.answered = ws, true
	return k.Rearm() // the library took the deadline off
}
