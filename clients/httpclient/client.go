// Package httpclient calls the API as JSON over HTTP/1.1, with fasthttp's requests and responses. A connection
// carries one call at a time, so the client is a bounded pool of lanes, each of which owns one connection; between
// chats a lane's connection stays a WebSocket. Deadlines are set on the socket and a cancelled context closes it; a
// connection is given up after any doubt of what else would arrive on it. There are no retries, no redirects and no
// proxies.
package httpclient

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// Knobs are the options of this client.
var Knobs = httpapi.Knobs

// userAgent is what fasthttp's client sends for those who set nothing.
const userAgent = "fasthttp"

type client struct {
	addr    string
	host    string // what requests call the server
	codec   httpapi.Codec
	headers bool
	max     int
	timeout time.Duration
	idle    time.Duration // a connection unused for longer is looked at before it carries a call
	pool    *pool.Pool[*lane]
	suspect *pool.Suspect // nil: calls are made over TLS
}

// Dial opens o.Conns connections to addr before it returns, or fails with addr in the error. ctx bounds the
// dialling alone. It sends nothing: whether HTTP is spoken there, the first call finds out.
func Dial(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	set, err := httpapi.Read(o)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	secure, err := o.ClientTLS(addr, httpapi.ALPN)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	o = o.Defaulted()
	c := &client{addr: addr, host: cmp.Or(o.Authority, addr), codec: set.Codec, headers: set.Headers, max: o.MaxMessage, timeout: o.Timeout, idle: o.ServerIdle / 2}
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
		return newLane(conn), nil
	})
	if err != nil {
		return nil, fmt.Errorf("http: dial %s: %w", addr, pool.DialError(ctx, err))
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
	if err := t.Begin(ctx, now, until, exact); err != nil {
		return turn{}, t.fail(err)
	}
	return t, nil
}

// end gives the lane back after an answer. good says that nothing but the next answer can arrive on it.
func (t *turn) end(good bool) {
	whole := t.End()
	t.c.pool.Put(t.l, good && whole)
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
func (c *client) head(req *fasthttp.Request, method, contentType string, path []byte) {
	h := &req.Header
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
		req.SetBodyRaw(body)
		contentType = httpapi.TypeJSON
	}
	c.head(req, method, contentType, path)
	if err := k.roundTrip(req, resp, c.max); err != nil {
		return answer, k.fail(err)
	}
	good := !resp.ConnectionClose()
	if status := resp.StatusCode(); status != fasthttp.StatusOK {
		err = httpapi.ErrorOf(status, resp.Body())
	} else if answer, err = decode(resp.Body()); err != nil {
		err, good = malformed(err), false
	}
	k.end(good)
	return answer, err
}

var (
	pathLogin    = []byte(httpapi.PathLogin)
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
