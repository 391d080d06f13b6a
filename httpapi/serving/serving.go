// Package serving has the rules of the HTTP API that every server of it shares: what a path means, what is refused and
// with which problem, what is read and what is answered. A server's own part is to carry requests and answers as its
// library does. It knows no library but that of WebSockets, which fits all.
package serving

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"bakeoff/httpapi"
	"bakeoff/service"
)

// Rules answer requests. They are used by all connections at once.
type Rules struct {
	API   service.API
	Codec httpapi.Codec
	Max   int           // bytes of a message
	Idle  time.Duration // how long what arrives may pause
	// Compressed has answers compressed for those who accept that.
	Compressed bool
}

// Op is what a path stands for.
type Op int

// The operations.
const (
	Nothing Op = iota
	DataType
	Login
	Echo
	GetFeature
	ListFeatures
	RecordRoute
	Chat
	OpenAPI
	Health
)

// Healthy is the answer of Health.
const Healthy = `{"status":"ok"}`

// place is what stands before a feature's place in its path.
const place = httpapi.PathFeatures + "/"

// Find is what a path stands for. The hot one stands first.
func Find(path string) Op {
	switch path {
	case httpapi.PathDataType:
		return DataType
	case httpapi.PathLogin:
		return Login
	case httpapi.PathEcho:
		return Echo
	case httpapi.PathFeatures:
		return ListFeatures
	case httpapi.PathRoutes:
		return RecordRoute
	case httpapi.PathChat:
		return Chat
	case httpapi.PathOpenAPI:
		return OpenAPI
	case httpapi.PathHealth:
		return Health
	}
	if len(path) > len(place) && strings.HasPrefix(path, place) {
		return GetFeature
	}
	return Nothing
}

// Place is the place in the path of a GetFeature.
func Place[T ~string | ~[]byte](path T) T { return path[len(place):] }

// takes is the media type of what is posted; empty: the operation is a GET.
func (op Op) takes() string {
	switch op {
	case DataType, Login, Echo:
		return httpapi.TypeJSON
	case RecordRoute:
		return httpapi.TypeNDJSON
	}
	return ""
}

// Refusal is the answer to a request whose head is wrong.
type Refusal struct {
	httpapi.Problem
	Allow string // the header of that name, where there is one
}

// Check is what is wrong with the head of a request for op; nil is nothing.
func Check[T ~string | ~[]byte](op Op, method, path, contentType T) *Refusal {
	if op == Nothing {
		return &Refusal{Problem: httpapi.NewProblem(service.Errorf(service.NotFound, "there is nothing at %.80q; %s lists the paths", path, httpapi.PathOpenAPI))}
	}
	want := op.takes()
	if want == "" {
		return Get(method, path)
	}
	return Post(method, path, contentType, want)
}

// Get lets GET and HEAD through.
func Get[T ~string | ~[]byte](method, path T) *Refusal {
	if string(method) == http.MethodGet || string(method) == http.MethodHead {
		return nil
	}
	return wrongMethod(method, path, "GET, HEAD")
}

// Post lets POST with a body of the media type want through, or one of no named type.
func Post[T ~string | ~[]byte](method, path, contentType T, want string) *Refusal {
	if string(method) != http.MethodPost {
		return wrongMethod(method, path, "POST")
	}
	if len(contentType) == 0 || string(contentType) == want {
		return nil
	}
	media, _, _ := strings.Cut(string(contentType), ";")
	if strings.EqualFold(strings.TrimSpace(media), want) {
		return nil
	}
	return &Refusal{Problem: httpapi.ProblemWith(http.StatusUnsupportedMediaType,
		service.Errorf(service.InvalidArgument, "the content type is %.80q: send %s", contentType, want))}
}

func wrongMethod[T ~string | ~[]byte](method, path T, allow string) *Refusal {
	return &Refusal{Allow: allow, Problem: httpapi.ProblemWith(http.StatusMethodNotAllowed,
		service.Errorf(service.InvalidArgument, "the method is %.20q: %s takes %s", method, path, allow))}
}

// Challenge is the header WWW-Authenticate of an answer with status 401.
const Challenge = `Bearer realm="bakeoff"`

// Read appends the whole body to dst. length is what the head says that it is, or below 0.
func (r *Rules) Read(body io.Reader, length int, dst []byte) ([]byte, error) {
	if length > r.Max {
		return dst, httpapi.TooLarge("request", r.Max)
	}
	dst, err := httpapi.ReadMessage(body, dst, r.Max)
	if errors.Is(err, httpapi.ErrLineTooLong) {
		err = httpapi.TooLarge("request", r.Max)
	}
	return dst, err
}

// skipLimit is how much of a body that is too large is read all the same: a client that is still sending when the
// connection is closed may never see the answer.
const skipLimit = 4 << 20

// BadBody is the problem of a body that did not arrive as it should, or is no message. What is left of it is skipped. closed says that the
// connection can't be used any more.
func (r *Rules) BadBody(body io.Reader, err error) (p httpapi.Problem, closed bool) {
	var e *service.Error
	if errors.As(err, &e) {
		if body != nil {
			_, _ = io.CopyN(io.Discard, body, skipLimit)
		}
		return httpapi.NewProblem(err), false
	}
	return r.Broken(err), true
}

// Broken is the problem of a request that could not be read.
func (r *Rules) Broken(err error) httpapi.Problem {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return httpapi.ProblemWith(http.StatusRequestTimeout,
			service.Errorf(service.DeadlineExceeded, "the request did not arrive within %v", r.Idle))
	}
	return httpapi.NewProblem(service.Errorf(service.InvalidArgument, "the request is no HTTP: %.200q", err.Error()))
}

// Cookie is a token to hand out as a cookie; the zero value is none.
type Cookie struct {
	Token string
	// Expires is zero for a cookie that ends with the browser's session.
	Expires time.Time
}

// Unary answers DataType, Login, Echo and GetFeature. in is the request's body, or the place; the answer is written to
// out, which may lie behind in. outside is asked for the token that the request carries outside its body.
func (r *Rules) Unary(ctx context.Context, op Op, in, out []byte, outside func() string) (answer []byte, set Cookie, err error) {
	switch op {
	case DataType:
		answer, set, err = r.dataType(ctx, in, out, outside)
	case Login:
		answer, set, err = r.login(ctx, in, out)
	case Echo:
		answer, err = r.echo(ctx, in, out)
	default:
		answer, err = r.getFeature(ctx, in, out)
	}
	if err == nil && len(answer) > r.Max {
		err = httpapi.TooLarge("answer", r.Max)
	}
	return answer, set, err
}

func (r *Rules) dataType(ctx context.Context, in, out []byte, outside func() string) ([]byte, Cookie, error) {
	rq, err := r.Codec.DecodeDataTypeRequest(in)
	if err != nil {
		return nil, Cookie{}, err
	}
	if rq.Auth.Token == "" {
		rq.Auth.Token = outside()
	}
	d, err := r.API.DataType(ctx, rq)
	if err != nil {
		return nil, Cookie{}, err
	}
	var set Cookie
	if d.Token != rq.Auth.Token {
		set.Token = d.Token // how long the renewed one lives is its own secret: until the browser ends
	}
	answer, err := r.Codec.AppendDataType(out, d)
	return answer, set, err
}

func (r *Rules) login(ctx context.Context, in, out []byte) ([]byte, Cookie, error) {
	rq, err := r.Codec.DecodeLogin(in)
	if err != nil {
		return nil, Cookie{}, err
	}
	s, err := r.API.Login(ctx, rq)
	if err != nil {
		return nil, Cookie{}, err
	}
	answer, err := r.Codec.AppendSession(out, s)
	return answer, Cookie{s.Token, s.Expires}, err
}

func (r *Rules) echo(ctx context.Context, in, out []byte) ([]byte, error) {
	p, err := r.Codec.DecodePayload(in)
	if err != nil {
		return nil, err
	}
	if p, err = r.API.Echo(ctx, p); err != nil {
		return nil, err
	}
	return r.Codec.AppendPayload(out, p)
}

func (r *Rules) getFeature(ctx context.Context, at, out []byte) ([]byte, error) {
	p, err := httpapi.ParsePoint("path", string(at))
	if err != nil {
		return nil, err
	}
	f, err := r.API.GetFeature(ctx, p)
	if err != nil {
		return nil, err
	}
	return r.Codec.AppendFeature(out, f)
}

// Bearer is the token of an Authorization header, or empty.
func Bearer[T ~string | ~[]byte](header T) string {
	const bearer = "Bearer "
	if len(header) > len(bearer) && strings.EqualFold(string(header[:len(bearer)]), bearer) {
		return string(header[len(bearer):])
	}
	return ""
}
