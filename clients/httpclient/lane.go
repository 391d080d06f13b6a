package httpclient

import (
	"bufio"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi/calling"
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
	prompt   *pool.Prompt // conn, where its answers are waited for before they are read; else nil
	br       *bufio.Reader
	bw       *bufio.Writer
	talk     *calling.Talk // set once the connection is a WebSocket
	out      []byte        // the request's body
	taken    bool          // the server has surely got the request: it began to answer, or a good part of it has gone out
	answered bool          // the connection has brought an answer
}

func newLane(conn net.Conn, whenReady bool) *lane {
	k := &lane{Guard: pool.NewGuard(conn), conn: conn}
	if whenReady {
		if k.prompt = pool.NewPrompt(conn); k.prompt != nil {
			conn = k.prompt
		}
	}
	k.br, k.bw = bufio.NewReaderSize(conn, bufferSize), bufio.NewWriterSize(conn, bufferSize)
	return k
}

// fit says whether the connection may carry a call of that kind: a WebSocket carries chats only. An HTTP connection
// becomes one by itself.
func (k *lane) fit(now time.Time, chat bool, idle time.Duration) bool {
	return (chat || k.talk == nil) && k.Fit(now, idle)
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
		if k.prompt != nil && k.bw.Buffered() > 0 && k.br.Buffered() == 0 {
			k.prompt.Hold() // what is left in bw is the end of the request, and stays there until the answer has begun
		}
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
	refused := k.prompt != nil && k.prompt.Refused()
	if err := resp.ReadLimitBody(k.br, max); err != nil {
		return err
	}
	k.answered = true
	if refused {
		resp.SetConnectionClose()
	}
	return nil
}
