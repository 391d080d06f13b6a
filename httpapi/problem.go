package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"bakeoff/service"
)

// Problem is the body of every answer that is not a success (RFC 9457), and what ends a stream that fails in the
// middle. Code and Cause are our members: the name of the service.Code, and the cause where the service knows one.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Cause  string `json:"cause,omitempty"`
}

var statuses = map[service.Code]int{
	service.InvalidArgument:   http.StatusBadRequest,
	service.Unauthenticated:   http.StatusUnauthorized,
	service.NotFound:          http.StatusNotFound,
	service.Unavailable:       http.StatusServiceUnavailable,
	service.DeadlineExceeded:  http.StatusGatewayTimeout,
	service.ResourceExhausted: http.StatusTooManyRequests,
	service.Internal:          http.StatusInternalServerError,
}

// Status is the HTTP status of a code; of a code that is none, 500. A message over the limit has 413 instead of
// ResourceExhausted's 429: see NewProblem.
func Status(c service.Code) int {
	if s, ok := statuses[c]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// NewProblem is the problem of an error, with the status of its code; that of TooLarge is 413 wherever it comes from: a
// body, an upload, an answer or a chat.
func NewProblem(err error) Problem {
	e := service.AsError(err)
	if IsTooLarge(err) {
		return ProblemWith(http.StatusRequestEntityTooLarge, e)
	}
	return ProblemWith(Status(e.Code), e)
}

// ProblemWith is the problem of an error under a status of one's own: 405, 408, 415.
func ProblemWith(status int, e *service.Error) Problem {
	return Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: e.Msg,
		Code: e.Code.String(), Cause: service.CleanCause(e.Cause)}
}

// Error is the error that the problem reports. Its code counts; a problem of somebody else's, which has none of
// ours, is judged by its status.
func (p Problem) Error() *service.Error {
	msg := p.Detail
	if p.Code == "" && msg == "" {
		msg = p.Title
	}
	for _, c := range service.Codes() {
		if c.String() == p.Code {
			return &service.Error{Code: c, Msg: msg, Cause: service.CleanCause(p.Cause)}
		}
	}
	return &service.Error{Code: codeOf(p.Status), Msg: msg}
}

// codeOf is the code of a status that came without a problem of ours: from a gateway, or another server.
func codeOf(status int) service.Code {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return service.Unauthenticated
	case http.StatusNotFound, http.StatusGone:
		return service.NotFound
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return service.Unavailable
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return service.DeadlineExceeded
	case http.StatusTooManyRequests, http.StatusRequestEntityTooLarge, http.StatusRequestHeaderFieldsTooLarge:
		return service.ResourceExhausted
	}
	if status >= 400 && status < 500 {
		return service.InvalidArgument
	}
	return service.Internal
}

// AppendProblem writes p as JSON.
func AppendProblem(dst []byte, p Problem) []byte {
	b, err := json.Marshal(p)
	if err != nil { // no field of a Problem can fail
		return append(dst, `{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"","code":"internal"}`...)
	}
	return append(dst, b...)
}

// AppendFailure writes the message that ends a stream with a failure: {"error":{problem}}.
func AppendFailure(dst []byte, err error) []byte {
	dst = append(dst, `{"error":`...)
	return append(AppendProblem(dst, NewProblem(err)), '}')
}

// ErrorOf is the error of an answer whose status is no success. A body that is no problem counts as text.
func ErrorOf(status int, body []byte) *service.Error {
	p := Problem{Status: status}
	if json.Unmarshal(TrimBOM(body), &p) != nil || p.Detail == "" && p.Code == "" {
		p = Problem{Status: status, Title: http.StatusText(status)}
		if len(body) > 0 {
			p.Detail = "status " + p.Title + ": " + quoteShort(string(body))
		}
	}
	p.Status = status
	return p.Error()
}

// TooLarge is the error of a message over Options.MaxMessage, at whichever end it is noticed. A *service.Error is in its
// chain; the error itself says more than that can: which status it has.
func TooLarge(what string, limit int) error {
	return &tooLarge{service.Errorf(service.ResourceExhausted, "the %s is larger than the limit of %d bytes", what, limit)}
}

// IsTooLarge says whether err came from TooLarge, also by way of the rules, which pass on what a sequence fails with.
func IsTooLarge(err error) bool {
	var large *tooLarge
	return errors.As(err, &large)
}

type tooLarge struct{ err *service.Error }

func (l *tooLarge) Error() string { return l.err.Error() }
func (l *tooLarge) Unwrap() error { return l.err }
