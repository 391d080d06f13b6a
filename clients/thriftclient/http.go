package thriftclient

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"bakeoff/protocol"
	"bakeoff/protocol/gzipped"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/stack"

	"github.com/apache/thrift/lib/go/thrift"
)

// overHTTP is the line whose calls are requests of HTTP/1.1: the library's THttpClient, over connections of our own.
type overHTTP struct {
	conns *nethttp.Client
	url   string
	stack *stack.Stack
	free  chan *post // as many as there are connections: whoever has one of those finds one here
}

func dialHTTP(ctx context.Context, addr string, s *stack.Stack, o protocol.Options) (*overHTTP, error) {
	o = o.Defaulted()
	conns, err := nethttp.Dial(ctx, addr, nethttp.HTTP1, o)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	l := &overHTTP{
		conns: conns, stack: s, free: make(chan *post, o.Conns),
		url: conns.Scheme + "://" + cmp.Or(o.Authority, addr) + stack.Path,
	}
	for range o.Conns {
		k, err := newPost(l)
		if err != nil {
			_ = conns.Close()
			return nil, err
		}
		l.free <- k
	}
	return l, nil
}

func (l *overHTTP) Close() error { return l.conns.Close() }

func (l *overHTTP) begin(ctx context.Context) (turn, error) {
	c, err := l.conns.Begin(ctx)
	if err != nil {
		return nil, err
	}
	k := <-l.free
	k.call, k.body, k.err = c, http.NoBody, nil // the library reads the last body once more
	return k, nil
}

// post is one of the library's clients over HTTP. It is what that one sends its requests with (http.RoundTripper), and the
// body that it reads: whatever goes wrong below the library is kept, since the library drops what it was.
type post struct {
	services
	line *overHTTP
	call *nethttp.Call
	body io.ReadCloser // of the answer
	err  error         // the first that is not the library's

	expanded []byte // room for a compressed answer
}

func newPost(l *overHTTP) (*post, error) {
	k := &post{line: l}
	return k, k.renew()
}

// renew makes the library's client anew.
func (k *post) renew() error {
	lib, err := thrift.NewTHttpClientWithOptions(k.line.url, thrift.THttpClientOptions{Client: &http.Client{
		Transport:     k,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a call is made once
	}})
	if err != nil {
		return fmt.Errorf("the URL of the requests, %s: %w", k.line.url, err)
	}
	if h, ok := lib.(*thrift.THttpClient); ok && k.line.stack.Compressed() {
		h.SetHeader("Accept-Encoding", gzipped.Encoding)
		h.SetHeader("Content-Encoding", gzipped.Encoding)
	}
	k.services = newServices(k.line.stack.Protocols().GetProtocol(lib))
	return nil
}

func (k *post) library() (*services, context.Context) { return &k.services, k.call.Context() }

// RoundTrip refuses every answer but one of Thrift.
func (k *post) RoundTrip(r *http.Request) (*http.Response, error) {
	if k.line.stack.Compressed() {
		r = compress(r)
	}
	resp, err := k.call.RoundTrip(r)
	if err != nil {
		k.err = err
		return nil, err
	}
	most := int64(k.line.stack.MaxMessage())
	k.body = http.MaxBytesReader(nil, resp.Body, most)
	switch {
	case resp.StatusCode == http.StatusRequestEntityTooLarge:
		k.err = service.Errorf(service.ResourceExhausted, "the server takes no request that large")
	case resp.StatusCode != http.StatusOK:
		// A server of TLS has this for a plain request: Fail finds out.
		k.call.Taken = resp.StatusCode != http.StatusBadRequest
		k.err = &protocol.Fault{Kind: protocol.Malformed, Err: fmt.Errorf("POST %s: status %s, and not an answer of Thrift", k.line.url, resp.Status)}
	case resp.ContentLength > most:
		k.err = errAnswerTooLarge
	case k.line.stack.Compressed() && resp.Header.Get("Content-Encoding") == gzipped.Encoding:
		k.expand(int(most))
	}
	if k.err != nil {
		_ = resp.Body.Close()
		return nil, k.err
	}
	resp.Body = k
	return resp, nil
}

// compress is r with its body compressed; its headers say so already.
func compress(r *http.Request) *http.Request {
	plain, _ := io.ReadAll(r.Body) // it is in memory
	zipped := gzipped.Append(make([]byte, 0, len(plain)/2), plain)
	r = r.WithContext(r.Context()) // a copy: a RoundTripper changes no request
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(zipped)), int64(len(zipped)), nil
	return r
}

// expand reads the whole answer, of at most most bytes.
func (k *post) expand(most int) {
	defer k.body.Close()
	k.expanded, k.err = gzipped.Expand(k.expanded[:0], k.body, most)
	if errors.Is(k.err, gzipped.ErrTooLarge) {
		k.err = errAnswerTooLarge
	}
	k.body = io.NopCloser(bytes.NewReader(k.expanded))
}

var errAnswerTooLarge = service.Errorf(service.ResourceExhausted, "the answer: %v", stack.ErrOverLimit)

// Read reads the answer's body.
func (k *post) Read(b []byte) (int, error) {
	n, err := k.body.Read(b)
	if err != nil && err != io.EOF && k.err == nil {
		var large *http.MaxBytesError
		if k.err = err; errors.As(err, &large) {
			k.err = errAnswerTooLarge
		}
	}
	return n, err
}

// Close closes the answer's body.
func (k *post) Close() error { return k.body.Close() }

func (k *post) end(_ context.Context, err error) error {
	declared, ok := err.(*inf.ServiceError)
	switch {
	case k.err == nil && (ok || err == nil):
		k.call.End(k.drained())
		if ok {
			err = declaredError(declared)
		}
	case k.err != nil:
		err = k.call.Fail(k.err)
	case errors.Is(err, io.EOF):
		err = k.call.Fail(&protocol.Fault{Kind: protocol.Malformed, Err: fmt.Errorf("the answer ends in the middle of its message: %w", err)})
	default:
		err = k.call.Fail(libraryError(err))
	}
	if err != nil && !ok {
		_ = k.renew() // a part of the request may be left in it; its URL was good before
	}
	k.line.free <- k
	return err
}

// drained says whether the answer's body ends with its message, as it must before the connection carries another.
func (k *post) drained() bool {
	n, err := io.Copy(io.Discard, k.body)
	_ = k.body.Close()
	return n == 0 && err == nil
}
