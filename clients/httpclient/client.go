// Package httpclient calls the API as JSON over HTTP/1.1, with fasthttp's requests and responses. A connection
// carries one call at a time, so the client is a bounded pool of lanes, each of which owns one connection; between
// chats a lane's connection stays a WebSocket. Deadlines are set on the socket and a cancelled context closes it; a
// connection is given up after any doubt of what else would arrive on it. There are no retries, no redirects and no
// proxies.
package httpclient

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/httpapi/calling"
	"bakeoff/protocol"
	"bakeoff/protocol/gzipped"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// Knobs are the options of this client.
var Knobs = httpapi.ConnKnobs

// userAgent is what fasthttp's client sends for those who set nothing.
const userAgent = "fasthttp"

type client struct {
	addr    string
	host    string // what requests call the server
	codec   httpapi.Codec
	headers bool
	zip     bool // requests are compressed, and answers if the server does that
	closing bool // a connection carries one call
	max     int
	timeout time.Duration
	idle    time.Duration // a connection unused for longer is looked at before it carries a call
	pool    *pool.Pool[*lane]
	suspect *pool.Suspect // nil: calls are made over TLS
}

// Dial opens o.Conns connections to addr before it returns, or fails with addr in the error. ctx bounds the
// dialling alone. It sends nothing: whether HTTP is spoken there, the first call finds out.
func Dial(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	set, err := httpapi.ReadConn(o)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	secure, err := o.ClientTLS(addr, httpapi.ALPN)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	o = o.Defaulted()
	c := &client{addr: addr, host: cmp.Or(o.Authority, addr), codec: set.Codec, headers: set.Headers, zip: set.Compression,
		closing: set.Closing, max: o.MaxMessage, timeout: o.Timeout, idle: o.ServerIdle / 2}
	if secure == nil {
		c.suspect = new(pool.Suspect)
	}
	c.pool, err = pool.New(ctx, o.Conns, func(ctx context.Context) (*lane, error) {
		conn, err := o.DialContext(ctx, "tcp", addr)
		if err == nil {
			conn, err = protocol.Secure(ctx, conn, secure)
		}
		if err != nil {
			return nil, err
		}
		return newLane(conn, set.WhenReady), nil
	})
	if err != nil {
		return nil, fmt.Errorf("http: dial %s: %w", addr, pool.DialError(ctx, err))
	}
	if set.Idle > 0 {
		c.pool.Keep(set.Idle)
	}
	return c, nil
}

// Close ends the calls in flight and those that wait.
func (c *client) Close() error {
	c.pool.Close()
	return nil
}

// turn is one call's hold of a lane. It ends once: by end, by fail, or by drop.
type turn struct {
	*lane
	c   *client
	l   *pool.Lease[*lane]
	ctx context.Context
	due time.Time // the deadline of ctx; zero is none
}

// begin draws a lane whose connection is fit for the call, HTTP or a chat, and starts the call on it.
func (c *client) begin(ctx context.Context, chat bool) (turn, error) {
	now := time.Now()
	until, exact := pool.Until(ctx, now, c.timeout)
	l, err := c.pool.Draw(ctx, until, func(k *lane) bool { return k.fit(now, chat, c.idle) })
	if err != nil {
		return turn{}, err
	}
	t := turn{lane: l.Conn, c: c, l: l, ctx: ctx}
	t.taken = false
	if exact {
		t.due = until
	}
	if err := t.Begin(ctx, now, until, exact); err != nil {
		return turn{}, t.fail(err)
	}
	return t, nil
}

// end gives the lane back after an answer. good says that nothing but the next answer can arrive on it.
func (t *turn) end(good bool) {
	whole := t.End()
	t.c.pool.Put(t.l, good && whole && !t.c.closing)
	t.l = nil
}

// fail gives the lane up and says why its call failed.
func (t *turn) fail(err error) error {
	err = t.fault(t.ctx, err)
	if !t.answered && t.c.suspect != nil {
		err = t.c.suspect.Judge(t.ctx, t.c.addr, err)
	}
	t.end(false)
	return err
}

// drop gives the lane up if nothing else has ended the turn: somebody's code has panicked, or left by Goexit.
func (t *turn) drop() {
	if t.l != nil {
		t.end(false)
	}
}

// head fills in what precedes the body.
func (t *turn) head(req *fasthttp.Request, method, contentType string, path []byte) {
	c, h := t.c, &req.Header
	h.SetMethod(method)
	h.SetRequestURIBytes(path)
	h.SetHost(c.host)
	if c.headers {
		h.SetUserAgent(userAgent)
		if contentType != "" {
			h.SetContentType(contentType)
		}
	} else {
		h.SetNoDefaultContentType(true)
	}
	if c.closing {
		h.SetConnectionClose()
	}
	if !t.due.IsZero() {
		var room [16]byte
		h.SetBytesV(httpapi.HeaderTimeout, httpapi.AppendTimeout(room[:0], time.Until(t.due)))
	}
}

// call makes one call: encode writes the body, decode reads the answer's and keeps nothing of it.
func call[T any](ctx context.Context, c *client, method string, path []byte,
	encode func(dst []byte) ([]byte, error), decode func(b []byte) (T, error)) (answer T, err error) {
	k, err := c.begin(ctx, false)
	if err != nil {
		return answer, err
	}
	defer k.drop()
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	contentType := ""
	if encode != nil {
		body, err := encode(k.take())
		k.keep(body)
		if err == nil && len(body) > c.max {
			err = service.AsError(httpapi.TooLarge("request", c.max))
		}
		if err != nil {
			k.end(true) // nothing was sent
			return answer, err
		}
		if c.zip {
			body = gzipped.Append(body[len(body):], body)
			req.Header.Set(fasthttp.HeaderContentEncoding, gzipped.Encoding)
		}
		req.SetBodyRaw(body)
		contentType = httpapi.TypeJSON
	}
	k.head(req, method, contentType, path)
	if c.zip {
		req.Header.Set(fasthttp.HeaderAcceptEncoding, gzipped.Encoding)
	}
	if err := k.roundTrip(req, resp, c.max); err != nil {
		return answer, k.fail(err)
	}
	good := !resp.ConnectionClose()
	body := resp.Body()
	if string(resp.Header.ContentEncoding()) == gzipped.Encoding {
		s := httpapi.GetScratch()
		defer s.Release()
		if s.B, err = calling.Expand(s.B, bytes.NewReader(body), c.max); err != nil {
			k.end(false)
			return answer, err
		}
		body = s.B
	}
	if status := resp.StatusCode(); status != fasthttp.StatusOK {
		err = httpapi.ErrorOf(status, body)
	} else if answer, err = decode(body); err != nil {
		err, good = calling.Malformed(err), false
	}
	k.end(good)
	return answer, err
}

var (
	pathLogin    = []byte(httpapi.PathLogin)
	pathEcho     = []byte(httpapi.PathEcho)
	pathDataType = []byte(httpapi.PathDataType)
	pathRoutes   = []byte(httpapi.PathRoutes)
)

func (c *client) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	return call(ctx, c, fasthttp.MethodPost, pathLogin,
		func(dst []byte) ([]byte, error) { return c.codec.AppendLogin(dst, r) }, c.codec.DecodeSession)
}

func (c *client) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	return call(ctx, c, fasthttp.MethodPost, pathDataType,
		func(dst []byte) ([]byte, error) { return c.codec.AppendDataTypeRequest(dst, r) },
		func(b []byte) (service.DataType, error) { return c.codec.DecodeDataType(b) })
}

func (c *client) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	return call(ctx, c, fasthttp.MethodPost, pathEcho,
		func(dst []byte) ([]byte, error) { return c.codec.AppendPayload(dst, p) }, c.codec.DecodePayload)
}

func (c *client) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	var room [48]byte
	path := httpapi.AppendPoint(append(room[:0], httpapi.PathFeatures+"/"...), p)
	return call(ctx, c, fasthttp.MethodGet, path, nil, func(b []byte) (service.Feature, error) {
		f, failed, err := c.codec.DecodeFeature(b)
		if failed != nil {
			err = failed
		}
		return f, err
	})
}
