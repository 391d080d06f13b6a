package httpserver

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/httpapi/serving"
	"bakeoff/protocol/gzipped"
	"bakeoff/service"
)

// handler carries requests to the rules, and their answers back. It is used by all connections at once.
type handler struct {
	rules   *serving.Rules
	ctx     context.Context // of every call; ends with the server
	headers bool
	conns   *tracker
}

// serve finds what a path means. A short path is made a string without a copy that lasts.
func (h *handler) serve(rc *fasthttp.RequestCtx) {
	path := rc.Path()
	op := serving.Find(string(path))
	no := serving.Check(op, rc.Method(), path, rc.Request.Header.ContentType())
	if no == nil {
		no = serving.Encoded(op, rc.Request.Header.Peek(fasthttp.HeaderContentEncoding))
	}
	if no != nil {
		h.problem(rc, no.Problem)
		if no.Allow != "" {
			rc.Response.Header.Set(fasthttp.HeaderAllow, no.Allow)
		}
		return
	}
	end := noEnd
	if op != serving.Chat { // which goes on after its request
		var err error
		if h, end, err = h.within(rc); err != nil {
			h.fail(rc, err)
			return
		}
		if op != serving.ListFeatures {
			defer end()
		}
	}
	switch op {
	case serving.DataType, serving.Login, serving.Echo:
		h.body(rc, op)
	case serving.GetFeature:
		s := httpapi.GetScratch()
		defer s.Release()
		s.B = h.unary(rc, op, serving.Place(path), s.B)
	case serving.ListFeatures:
		h.listFeatures(rc, end)
	case serving.RecordRoute:
		h.recordRoute(rc)
	case serving.Chat:
		h.chat(rc)
	case serving.OpenAPI:
		rc.SetContentType(httpapi.TypeJSON)
		rc.SetBody(httpapi.OpenAPI)
	case serving.Health:
		rc.SetContentType(httpapi.TypeJSON)
		rc.SetBodyString(serving.Healthy)
	}
}

// body reads a JSON body and answers it. The answer goes behind the body, which is still needed while it is made.
func (h *handler) body(rc *fasthttp.RequestCtx, op serving.Op) {
	s := httpapi.GetScratch()
	defer s.Release()
	if r := rc.RequestBodyStream(); r != nil { // else neither a length nor chunks: no body
		read := h.rules.Read
		if len(rc.Request.Header.Peek(fasthttp.HeaderContentEncoding)) > 0 {
			read = h.rules.ReadZipped
		}
		var err error
		if s.B, err = read(r, rc.Request.Header.ContentLength(), s.B); err != nil {
			h.badBody(rc, err)
			return
		}
	}
	h.unary(rc, op, s.B, s.B[len(s.B):])
}

// unary answers with JSON, which it has written to out, and returns that.
func (h *handler) unary(rc *fasthttp.RequestCtx, op serving.Op, in, out []byte) []byte {
	answer, set, err := h.rules.Unary(h.ctx, op, in, out, func() string { return tokenOf(rc) })
	if err != nil {
		h.fail(rc, err)
		return out
	}
	if set.Token != "" {
		setToken(rc, set)
	}
	h.answer(rc, answer)
	return answer
}

// answer sends JSON.
func (h *handler) answer(rc *fasthttp.RequestCtx, out []byte) {
	if h.headers {
		rc.SetContentType(httpapi.TypeJSON)
	}
	if h.rules.Compressed {
		var zipped bool
		if out, zipped = h.rules.Compress(string(rc.Request.Header.Peek(fasthttp.HeaderAcceptEncoding)), out); zipped {
			rc.Response.Header.SetContentEncoding(gzipped.Encoding)
		}
	}
	rc.SetBody(out)
}

// within is the handler of a request whose client says how long it will wait; end is called when the answer is over.
func (h *handler) within(rc *fasthttp.RequestCtx) (within *handler, end func(), err error) {
	text := rc.Request.Header.Peek(httpapi.HeaderTimeout)
	if len(text) == 0 {
		return h, noEnd, nil
	}
	d, ok := httpapi.ParseTimeout(text)
	if !ok {
		return h, noEnd, service.Errorf(service.InvalidArgument, "the header %s is %.20q: write it as 500m, with a unit of H, M, S, m, u, n", httpapi.HeaderTimeout, text)
	}
	one := *h
	one.ctx, end = context.WithTimeout(h.ctx, d)
	return &one, end, nil
}

func noEnd() {}

// listFeatures calls end when the list is over, which is after it has returned.
func (h *handler) listFeatures(rc *fasthttp.RequestCtx, end func()) {
	list, err := h.rules.List(h.ctx, func(name string) string { return string(rc.QueryArgs().Peek(name)) })
	if err != nil {
		end()
		h.fail(rc, err)
		return
	}
	if h.headers {
		rc.SetContentType(httpapi.TypeNDJSON)
	}
	if list.Empty || rc.IsHead() {
		end()
		list.Stop()
		rc.Response.SkipBody = rc.IsHead()
		return
	}
	// From here on rc is not touched: the stream is written while fasthttp sends it.
	rc.SetBodyStreamWriter(func(w *bufio.Writer) {
		defer end()
		list.Send(func(piece []byte) error {
			if _, err := w.Write(piece); err != nil {
				return err
			}
			return w.Flush()
		})
	})
}

// recordRoute has the points read as they arrive.
func (h *handler) recordRoute(rc *fasthttp.RequestCtx) {
	var body io.Reader
	if r := rc.RequestBodyStream(); r != nil {
		body = &serving.Patient{Body: r, Idle: h.rules.Idle, Extend: rc.SetReadDeadline}
		h.conns.upload(rc.Conn(), true, h.rules.Idle)
		defer h.conns.upload(rc.Conn(), false, 0)
	}
	s := httpapi.GetScratch()
	defer s.Release()
	var err error
	s.B, err = h.rules.Record(h.ctx, body, s.B)
	var arrived *serving.Arrived
	switch {
	case errors.As(err, &arrived):
		h.badBody(rc, arrived.Err)
	case err != nil:
		h.fail(rc, err)
	default:
		h.answer(rc, s.B)
	}
}

// chat makes the connection a WebSocket.
func (h *handler) chat(rc *fasthttp.RequestCtx) {
	up := websocket.FastHTTPUpgrader{
		Error: func(rc *fasthttp.RequestCtx, status int, reason error) {
			h.problem(rc, serving.UpgradeProblem(status, reason))
			rc.Response.Header.Set("Sec-WebSocket-Version", "13")
		},
	}
	conn := rc.Conn()
	_ = up.Upgrade(rc, func(ws *websocket.Conn) { // a refusal has been answered
		h.conns.forget(conn)
		h.conns.chats.Serve(h.ctx, h.rules, ws)
	})
}

// badBody answers a request whose body did not arrive as it should.
func (h *handler) badBody(rc *fasthttp.RequestCtx, err error) {
	p, closed := h.rules.BadBody(rc.RequestBodyStream(), err)
	if closed {
		rc.SetConnectionClose()
		rc.Response.Reset()
	}
	h.problem(rc, p)
}

// broken is fasthttp's hook for a request that could not be read; it closes the connection itself.
func (h *handler) broken(rc *fasthttp.RequestCtx, err error) {
	var small *fasthttp.ErrSmallBuffer
	rc.Response.Reset()
	if errors.As(err, &small) {
		h.problem(rc, httpapi.ProblemWith(http.StatusRequestHeaderFieldsTooLarge,
			service.Errorf(service.ResourceExhausted, "the request's headers are too large")))
		return
	}
	h.problem(rc, h.rules.Broken(err))
}

// fail answers with the problem of any error.
func (h *handler) fail(rc *fasthttp.RequestCtx, err error) {
	h.problem(rc, httpapi.NewProblem(err))
}

func (h *handler) problem(rc *fasthttp.RequestCtx, p httpapi.Problem) {
	rc.SetStatusCode(p.Status)
	rc.SetContentType(httpapi.TypeProblem)
	rc.SetBody(httpapi.AppendProblem(nil, p))
	if p.Status == http.StatusUnauthorized {
		rc.Response.Header.Set(fasthttp.HeaderWWWAuthenticate, serving.Challenge)
	}
}

// tokenOf is the token that a request carries outside its body: the cookie's, or else the bearer's.
func tokenOf(rc *fasthttp.RequestCtx) string {
	if c := rc.Request.Header.Cookie(httpapi.TokenCookie); len(c) > 0 {
		return string(c)
	}
	return serving.Bearer(rc.Request.Header.Peek(fasthttp.HeaderAuthorization))
}

// setToken hands the token out as a cookie too.
func setToken(rc *fasthttp.RequestCtx, set serving.Cookie) {
	c := fasthttp.AcquireCookie()
	defer fasthttp.ReleaseCookie(c)
	c.SetKey(httpapi.TokenCookie)
	c.SetValue(set.Token)
	c.SetPath("/")
	c.SetHTTPOnly(true)
	c.SetSameSite(fasthttp.CookieSameSiteLaxMode)
	if !set.Expires.IsZero() {
		c.SetExpire(set.Expires)
	}
	rc.Response.Header.SetCookie(c)
}
