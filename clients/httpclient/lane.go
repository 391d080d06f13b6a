package httpclient

import (
	"bufio"
	"context"
	"net"
	"sync"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"bakeoff/protocol/pool"
)

type netConn = net.Conn

// The buffers of a connection, as large as fasthttp's own by default.
const bufferSize = 4096

// largeBuffer is not kept for the next call.
const largeBuffer = 64 << 10

// lane owns one connection. All but Abort is called by whoever holds its lease.
type lane struct {
	dial func(ctx context.Context) (net.Conn, error)
	br   *bufio.Reader
	bw   *bufio.Writer
	ws   *websocket.Conn // set once the connection is one
	out  []byte          // the request's body
	in   []byte          // the chat's message

	used  time.Time // when its latest call began, or it was dialled
	armed time.Time // the deadline on the socket; zero is none
	taken bool      // the server has surely got the request: it began to answer, or a good part of it has gone out

	mu   sync.Mutex // of what follows, which other goroutines reach too
	conn net.Conn   // written by the holder alone, who reads it without the lock
	dead bool       // aborted for good
	cut  bool       // ended by the context of the call under way
	busy <-chan struct{}
	kept watch
	last <-chan struct{} // the context of the latest call
}

// watch is a registration that ends the call under way when its context ends.
type watch struct {
	done <-chan struct{}
	stop func() bool
}

func newLane(ctx context.Context, dial func(ctx context.Context) (net.Conn, error)) (*lane, error) {
	conn, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	return &lane{
		dial: dial, conn: conn, used: time.Now(),
		br: bufio.NewReaderSize(conn, bufferSize), bw: bufio.NewWriterSize(conn, bufferSize),
	}, nil
}

// fit says whether the connection may carry a call of that kind: an old one may be closed by the server at any
// moment, a WebSocket carries chats only. An HTTP connection becomes one by itself.
func (k *lane) fit(now time.Time, chat bool, idle time.Duration) bool {
	return now.Sub(k.used) < idle && (chat || k.ws == nil)
}

// reopen replaces the connection. Nothing was sent on it for this call, so this is no retry.
func (k *lane) reopen(ctx context.Context) error {
	_ = k.conn.Close() // first, so that there are never more connections than lanes
	conn, err := k.dial(ctx)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dead {
		_ = conn.Close()
		return pool.ErrClosed
	}
	k.conn, k.ws, k.armed, k.used = conn, nil, time.Time{}, time.Now()
	k.br.Reset(conn)
	k.bw.Reset(conn)
	return nil
}

// Abort closes the connection for good, from any goroutine.
func (k *lane) Abort() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dead = true
	_ = k.conn.Close()
	k.forget()
}

// begin readies the connection for a call that ends at until (zero: never) or with ctx.
func (k *lane) begin(ctx context.Context, now, until time.Time, exact bool) error {
	k.used, k.taken = now, false
	if err := k.arm(now, until, exact); err != nil {
		return err
	}
	done := ctx.Done()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dead {
		return pool.ErrClosed
	}
	k.busy = done
	if done != nil && done != k.kept.done {
		// Contexts are told apart by what ends them. One that comes again keeps its registration, which is a good
		// part of what a call costs in the client itself.
		k.forget()
		k.kept = watch{done, context.AfterFunc(ctx, func() { k.cancel(done) })}
	}
	return nil
}

// end says whether the connection is still whole. A context that came only once leaves nothing behind.
func (k *lane) end() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.busy != k.last {
		k.last = k.busy
		k.forget()
	}
	k.busy = nil
	return !k.dead && !k.cut
}

// cancel ends the call under way if it is that context's.
func (k *lane) cancel(done <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.busy == done {
		k.cut = true
		_ = k.conn.Close()
	}
	if k.kept.done == done {
		k.kept = watch{}
	}
}

// forget ends the registration; mu is held.
func (k *lane) forget() {
	if k.kept.stop != nil {
		k.kept.stop()
		k.kept = watch{}
	}
}

// arm sets the deadline of one call on the socket: a context's exactly; that of Options.Timeout, which moves on with
// every call, up to a 64th late, so that it need not be set again for each (it costs a good part of a microsecond).
func (k *lane) arm(now, until time.Time, exact bool) error {
	if !exact && !until.IsZero() {
		late := until.Sub(now) / 64
		if !k.armed.Before(until) && !k.armed.After(until.Add(late)) {
			return nil
		}
		until = until.Add(late)
	}
	if until.Equal(k.armed) {
		return nil
	}
	k.armed = until
	return k.conn.SetDeadline(until)
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
	return resp.ReadLimitBody(k.br, max)
}
