package nethttpclient

import (
	"context"
	"io"
	"iter"
	"net/http"

	"bakeoff/httpapi"
	"bakeoff/httpapi/calling"
	"bakeoff/protocol/nethttp"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// client1 chats over a WebSocket.
type client1 struct{ *client }

// RouteChat makes its call when the sequence is read: notes are sent by a goroutine while the answers are yielded. It draws
// a connection that carries no requests: one that was just dialled becomes a WebSocket with its first chat and stays one. A
// consumer that stops early costs the connection; the goroutine then ends when notes yields again.
func (c client1) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		k, err := c.conns.BeginOther(ctx)
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		defer k.Drop()
		if k.Other == nil {
			talk, err := calling.NewTalk(k.Conn, c.addr, c.host, c.codec, c.max)
			if err == nil {
				k.Other, k.Answered = talk, true
				err = k.Rearm() // the library took the deadline off
			}
			if err != nil {
				yield(service.RouteNote{}, k.Fail(err, false))
				return
			}
		}
		how, err := k.Other.(*calling.Talk).Chat(k.Deadline(), notes, yield)
		if how == calling.Broke {
			err = k.Fail(err, false)
		} else {
			k.End(how == calling.Whole)
		}
		if err != nil {
			yield(service.RouteNote{}, err)
		}
	}
}

// client2 chats over a stream of lines.
type client2 struct{ *client }

// RouteChat makes its call when the sequence is read: notes are sent by a goroutine while the answers are yielded. A
// consumer that stops early resets the stream; the goroutine then ends when notes yields again.
func (c client2) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		k, err := c.conns.Begin(ctx)
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		defer k.Drop()
		call, end := context.WithCancelCause(k.Context())
		defer end(nil)
		body, w := io.Pipe()
		// Who still sends is told when the call ends; and so is net/http, which heeds no context while it reads a body.
		defer context.AfterFunc(call, func() { _ = body.CloseWithError(errLeft) })()
		defer body.Close()
		x := &exchange{c: c.client, k: k, w: w}
		defer x.close()
		r := c.request(k, http.MethodPost, httpapi.PathChat, "", c.lines, body, -1).WithContext(call)
		pool.Exchange(call, end, notes, x.send, x.closeSend, func() (service.RouteNote, error) { return x.receive(r) }, yield)
	}
}

// exchange is one chat over HTTP/2. One goroutine sends and another receives.
type exchange struct {
	c     *client
	k     *nethttp.Call
	w     *io.PipeWriter
	buf   []byte
	resp  *http.Response
	lines *httpapi.Lines
}

// send sends a note. A call that has ended tells why by what is received.
func (x *exchange) send(n service.RouteNote) (err error) {
	if x.buf, err = calling.Note(x.c.codec, x.buf[:0], n, x.c.max); err != nil {
		return err
	}
	return x.write(append(x.buf, '\n'))
}

func (x *exchange) closeSend() error {
	err := x.write([]byte(httpapi.ChatEnd + "\n"))
	_ = x.w.Close()
	return err
}

func (x *exchange) write(b []byte) error {
	if _, err := x.w.Write(b); err != nil {
		return io.EOF
	}
	return nil
}

// receive reads the server's next note; io.EOF is the end. The first brings the head of the answer.
func (x *exchange) receive(r *http.Request) (n service.RouteNote, err error) {
	if x.resp == nil {
		if x.resp, err = x.k.RoundTrip(r); err != nil {
			return n, x.k.Fail(err)
		}
		if x.resp.StatusCode != http.StatusOK {
			b, err := x.c.read(x.resp, nil)
			if err != nil {
				return n, x.k.Fail(err)
			}
			x.k.End(false)
			return n, httpapi.ErrorOf(x.resp.StatusCode, b)
		}
		x.lines = httpapi.NewLines(x.resp.Body, x.c.max)
	}
	line, err := x.lines.Next()
	switch {
	case err == io.EOF:
		return n, x.k.Fail(io.ErrUnexpectedEOF) // without a word
	case err == httpapi.ErrLineTooLong:
		return n, x.k.Fail(calling.LargeAnswer())
	case err != nil:
		return n, x.k.Fail(err)
	}
	n, ended, failed, err := x.c.codec.DecodeChat(line)
	switch {
	case err != nil:
		return n, x.k.Fail(calling.Malformed(err))
	case failed != nil:
		return n, failed
	case ended:
		return n, io.EOF
	}
	return n, nil
}

func (x *exchange) close() {
	if x.resp != nil {
		_ = x.resp.Body.Close()
	}
}
