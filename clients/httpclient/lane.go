package httpclient

import (
	"bufio"
	"net"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"bakeoff/protocol/pool"
)

// The buffers of a connection, as large as fasthttp's own by default.
const bufferSize = 4096

// largeBuffer is not kept for the next call.
const largeBuffer = 64 << 10

// lane is one connection, with what ends its calls. All but Abort is called by whoever holds its lease.
type lane struct {
	*pool.Guard
	conn     net.Conn
	br       *bufio.Reader
	bw       *bufio.Writer
	ws       *websocket.Conn // set once the connection is one
	out      []byte          // the request's body
	in       []byte          // the chat's message
	taken    bool            // the server has surely got the request: it began to answer, or a good part of it has gone out
	answered bool            // the connection has brought an answer
}

func newLane(conn net.Conn) *lane {
	return &lane{
		Guard: pool.NewGuard(conn), conn: conn,
		br: bufio.NewReaderSize(conn, bufferSize), bw: bufio.NewWriterSize(conn, bufferSize),
	}
}

// fit says whether the connection may carry a call of that kind: a WebSocket carries chats only. An HTTP connection
// becomes one by itself.
func (k *lane) fit(now time.Time, chat bool, idle time.Duration) bool {
	return (chat || k.ws == nil) && k.Fit(now, idle)
}

// take hands out the buffer for the request's body; keep takes it back.
func (k *lane) take() []byte { return k.out[:0] }

func (k *lane) keep(b []byte) {
	if cap(b) <= largeBuffer {
		k.out = b
	}
}

// roundTrip sends a request and reads the answer, of at most max bytes (a stream's are counted by its reader).
func (k *lane) roundTrip(req *fasthttp.Request, resp *fasthttp.Response, max int) error {
	err := req.Write(k.bw)
	if err == nil {
		err = k.bw.Flush()
	}
	if err != nil {
		// The server may have refused the request before it was sent wholly, and said so.
		if k.answer(resp, max) != nil {
			return err
		}
		resp.SetConnectionClose()
		return nil
	}
	return k.answer(resp, max)
}

// answer reads the answer.
func (k *lane) answer(resp *fasthttp.Response, max int) error {
	if _, err := k.br.Peek(1); err != nil {
		return err
	}
	k.taken = true
	if err := resp.ReadLimitBody(k.br, max); err != nil {
		return err
	}
	k.answered = true
	return nil
}
