package httpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/service"
)

// handler answers requests. It is used by all connections at once.
type handler struct {
	api     service.API
	ctx     context.Context // of every call; ends with the server
	codec   httpapi.Codec
	headers bool
	max     int
	idle    time.Duration
	conns   *tracker
}

// scratch is where a body is read to, and then where the answer is written. Nothing decoded from it points into it.
type scratch struct{ b []byte }

var scratches = sync.Pool{New: func() any { return &scratch{b: make([]byte, 0, 1024)} }}

// largeScratch is not kept: a burst of 1 MiB bodies would stay in memory.
const largeScratch = 64 << 10

func release(s *scratch) {
	if cap(s.b) <= largeScratch {
		scratches.Put(s)
	}
}

// serve finds what a path means. The hot one stands first.
func (h *handler) serve(rc *fasthttp.RequestCtx) {
	switch path := rc.Path(); string(path) {
	case httpapi.PathDataType:
		h.body(rc, h.dataType)
	case httpapi.PathLogin:
		h.body(rc, h.login)
	case httpapi.PathFeatures:
		if h.get(rc) {
			h.listFeatures(rc)
		}
	case httpapi.PathRoutes:
		if h.post(rc, httpapi.TypeNDJSON) {
			h.recordRoute(rc)
		}
	case httpapi.PathChat:
		if h.get(rc) {
			h.chat(rc)
		}
	case httpapi.PathOpenAPI:
		if h.get(rc) {
			rc.SetContentType(httpapi.TypeJSON)
			rc.SetBody(httpapi.OpenAPI)
		}
	case httpapi.PathHealth:
		if h.get(rc) {
			rc.SetContentType(httpapi.TypeJSON)
			rc.SetBodyString(`{"status":"ok"}`)
		}
	default:
		if at, ok := bytes.CutPrefix(path, []byte(httpapi.PathFeatures+"/")); ok && len(at) > 0 {
			if h.get(rc) {
				h.getFeature(rc, string(at))
			}
			return
		}
		h.fail(rc, service.Errorf(service.NotFound, "there is nothing at %.80q; %s lists the paths", path, httpapi.PathOpenAPI))
	}
}

// body reads a JSON body of at most max bytes and hands it on. do returns the answer, written over what it was
// given.
func (h *handler) body(rc *fasthttp.RequestCtx, do func(rc *fasthttp.RequestCtx, in, out []byte) ([]byte, error)) {
	if !h.post(rc, httpapi.TypeJSON) {
		return
	}
	s := scratches.Get().(*scratch)
	defer release(s)
	var err error
	if s.b, err = h.read(rc, s.b[:0]); err != nil {
		h.failRead(rc, err)
		return
	}
	// The answer goes behind the body, which is still needed while it is made.
	in := len(s.b)
	out, err := do(rc, s.b, s.b[in:])
	if err != nil {
		h.fail(rc, err)
		return
	}
	h.answer(rc, out)
}

// answer sends JSON.
func (h *handler) answer(rc *fasthttp.RequestCtx, out []byte) {
	if len(out) > h.max {
		h.fail(rc, httpapi.TooLarge("answer", h.max))
		return
	}
	if h.headers {
		rc.SetContentType(httpapi.TypeJSON)
	}
	rc.SetBody(out)
}

// read appends the whole body to dst.
func (h *handler) read(rc *fasthttp.RequestCtx, dst []byte) ([]byte, error) {
	r := rc.RequestBodyStream()
	if r == nil { // neither a length nor chunks: no body
		return dst, nil
	}
	if rc.Request.Header.ContentLength() > h.max {
		return dst, httpapi.TooLarge("request", h.max)
	}
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if len(dst) > h.max {
			return dst, httpapi.TooLarge("request", h.max)
		}
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}

// failRead answers a request whose body did not arrive as it should.
func (h *handler) failRead(rc *fasthttp.RequestCtx, err error) {
	var e *service.Error
	if errors.As(err, &e) {
		if httpapi.IsTooLarge(err) {
			h.skip(rc)
		}
		h.fail(rc, err)
		return
	}
	rc.SetConnectionClose()
	h.broken(rc, err)
}

// skipLimit is how much of a body that is too large is read all the same: a client that is still sending when the
// connection is closed may never see the answer.
const skipLimit = 4 << 20

func (h *handler) skip(rc *fasthttp.RequestCtx) {
	if r := rc.RequestBodyStream(); r != nil {
		_, _ = io.CopyN(io.Discard, r, skipLimit)
	}
}

// broken is also fasthttp's hook for a request that could not be read; it closes the connection itself.
func (h *handler) broken(rc *fasthttp.RequestCtx, err error) {
	var small *fasthttp.ErrSmallBuffer
	var timeout net.Error
	rc.Response.Reset()
	switch {
	case errors.As(err, &small):
		h.problem(rc, httpapi.ProblemWith(http.StatusRequestHeaderFieldsTooLarge,
			service.Errorf(service.ResourceExhausted, "the request's headers are too large")))
	case errors.As(err, &timeout) && timeout.Timeout():
		h.problem(rc, httpapi.ProblemWith(http.StatusRequestTimeout,
			service.Errorf(service.DeadlineExceeded, "the request did not arrive within %v", h.idle)))
	default:
		h.fail(rc, service.Errorf(service.InvalidArgument, "the request is no HTTP: %.200q", err.Error()))
	}
}

// get lets GET and HEAD through, and answers others.
func (h *handler) get(rc *fasthttp.RequestCtx) bool {
	if rc.IsGet() || rc.IsHead() {
		return true
	}
	h.wrongMethod(rc, "GET, HEAD")
	return false
}

// post lets POST with a body of the given type through, or one of no named type, and answers others.
func (h *handler) post(rc *fasthttp.RequestCtx, want string) bool {
	if !rc.IsPost() {
		h.wrongMethod(rc, "POST")
		return false
	}
	given := rc.Request.Header.ContentType()
	if len(given) == 0 || string(given) == want {
		return true
	}
	media, _, _ := bytes.Cut(given, []byte{';'})
	if strings.EqualFold(string(bytes.TrimSpace(media)), want) {
		return true
	}
	h.problem(rc, httpapi.ProblemWith(http.StatusUnsupportedMediaType,
		service.Errorf(service.InvalidArgument, "the content type is %.80q: send %s", given, want)))
	return false
}

func (h *handler) wrongMethod(rc *fasthttp.RequestCtx, allow string) {
	err := service.Errorf(service.InvalidArgument, "the method is %.20q: %s takes %s", rc.Method(), rc.Path(), allow)
	h.problem(rc, httpapi.ProblemWith(http.StatusMethodNotAllowed, err))
	rc.Response.Header.Set(fasthttp.HeaderAllow, allow)
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
		rc.Response.Header.Set(fasthttp.HeaderWWWAuthenticate, `Bearer realm="bakeoff"`)
	}
}
