package connectclient

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"bakeoff/protocol/nethttp"
)

// call is one call's hold of a connection, which the library finds in the context of its request.
type call struct{ *nethttp.Call }

type callKey struct{}

// begin draws a connection for a call. The context is that for the library.
func (c *client) begin(ctx context.Context) (call, context.Context, error) {
	k, err := c.http.Begin(ctx)
	if err != nil {
		return call{}, nil, err
	}
	return call{k}, context.WithValue(k.Context(), callKey{}, k), nil
}

// stream begins a call of more than one message. Ending its context before the call has ended tells the server, and frees
// what is held for the call.
func (c *client) stream(ctx context.Context) (call, context.Context, context.CancelCauseFunc, error) {
	k, bound, err := c.begin(ctx)
	if err != nil {
		return k, nil, nil, err
	}
	bound, end := context.WithCancelCause(bound)
	return k, bound, end, nil
}

// sender makes the library's requests.
type sender struct{ host string }

// timeoutHeader is where Connect's own wire tells the server how many milliseconds are left.
const timeoutHeader = "Connect-Timeout-Ms"

// Do makes one request, on the connection of its call. It rounds the time that is left up: the library cuts it to whole
// milliseconds, with which the server would give a call up before its deadline.
func (s sender) Do(r *http.Request) (*http.Response, error) {
	k, ok := r.Context().Value(callKey{}).(*nethttp.Call)
	if !ok {
		return nil, errors.New("a request that belongs to no call")
	}
	if h := r.Header[timeoutHeader]; len(h) > 0 {
		if until, ok := r.Context().Deadline(); ok {
			left := max((time.Until(until)+time.Millisecond-1)/time.Millisecond, 1)
			h[0] = strconv.FormatInt(int64(left), 10)
		}
	}
	r.Host = s.host
	if r.ContentLength < 0 {
		// net/http heeds no context while it reads a body, which waits for what the caller sends.
		context.AfterFunc(r.Context(), func() { _ = r.Body.Close() })
	}
	resp, err := k.RoundTrip(r)
	if err != nil {
		return nil, transportError{err}
	}
	resp.Body = &body{resp.Body}
	return resp, nil
}

// transportError marks what net/http says, so that it can be told from what the library makes of an answer.
type transportError struct{ error }

func (e transportError) Unwrap() error { return e.error }

// body marks the errors of an answer's body.
type body struct{ io.ReadCloser }

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = transportError{err}
	}
	return n, err
}
