package nethttpclient

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"sync/atomic"

	"bakeoff/httpapi"
	"bakeoff/httpapi/calling"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
)

// ListFeatures makes its call when the sequence is read, and yields each feature as its line arrives. A consumer that stops
// early costs a connection of HTTP/1.1, or resets a stream of HTTP/2.
func (c *client) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return func(yield func(service.Feature, error) bool) {
		k, err := c.conns.Begin(ctx)
		if err != nil {
			yield(service.Feature{}, err)
			return
		}
		defer k.Drop()
		query := append(httpapi.AppendPoint([]byte("lo="), r.Lo), "&hi="...)
		query = httpapi.AppendPoint(query, r.Hi)
		resp, err := k.RoundTrip(c.request(k, http.MethodGet, httpapi.PathFeatures, string(query), c.bare, nil, 0))
		if err != nil {
			yield(service.Feature{}, k.Fail(err))
			return
		}
		defer resp.Body.Close()
		if err := c.features(k, resp, yield); err != nil {
			yield(service.Feature{}, err)
		}
	}
}

// features hands on what the answer brings, ends the call, and returns what is left to yield.
func (c *client) features(k *nethttp.Call, resp *http.Response, yield func(service.Feature, error) bool) error {
	if resp.StatusCode != http.StatusOK {
		b, err := c.read(resp, nil)
		if err != nil {
			return k.Fail(err)
		}
		k.End(!resp.Close)
		return httpapi.ErrorOf(resp.StatusCode, b)
	}
	how, err := calling.Features(c.codec, resp.Body, c.max, yield)
	if how == calling.Broke {
		return k.Fail(err)
	}
	if how == calling.Spoilt {
		_ = resp.Body.Close() // before the call's end: a server that goes on is told
	}
	k.End(how == calling.Whole && !resp.Close)
	return err
}

// answer is what came back of an upload.
type answer struct {
	status int
	body   []byte
	close  bool
	err    error
}

// errLeft ends an upload that nobody goes on with.
var errLeft = errors.New("the upload was left")

// RecordRoute sends the points as the sequence yields them, in pieces of some kilobytes, or after 2 ms when it is slow. It
// notices an answer that comes before the upload is over, and then sends no more.
func (c *client) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (sum service.RouteSummary, err error) {
	k, err := c.conns.Begin(ctx)
	if err != nil {
		return sum, err
	}
	defer k.Drop()
	body, w := io.Pipe()
	var early atomic.Bool // an answer, or the end of the call, came before the end of the upload
	came := make(chan answer, 1)
	go func() {
		a := c.upload(k, body, &early)
		_ = body.CloseWithError(errLeft) // who still sends is told
		came <- a
	}()
	waited := false
	wait := func() answer { waited = true; return <-came }
	defer func() {
		if !waited { // somebody's code has panicked
			_ = w.CloseWithError(errLeft)
			wait()
		}
	}()
	out := httpapi.NewBatch(func(piece []byte) error {
		_, err := w.Write(piece)
		return err
	})
	defer out.Rest() // its timer sends nothing afterwards
	for p, err := range points {
		if err != nil {
			_ = w.CloseWithError(errLeft)
			out.Rest()
			wait()
			k.End(false)
			return sum, err
		}
		if out.Add(func(dst []byte) ([]byte, error) { return c.codec.AppendPoint(dst, p) }) != nil || early.Load() {
			break // why, the answer tells
		}
	}
	whole := out.Close() == nil && !early.Load()
	_ = w.Close()
	a := wait()
	if a.err != nil {
		return sum, k.Fail(a.err)
	}
	good := whole && !a.close
	if a.status != http.StatusOK {
		err = httpapi.ErrorOf(a.status, a.body)
	} else if sum, err = c.codec.DecodeSummary(a.body); err != nil {
		err, good = calling.Malformed(err), false
	}
	k.End(good)
	return sum, err
}

// upload sends the body and reads the answer.
func (c *client) upload(k *nethttp.Call, body io.ReadCloser, early *atomic.Bool) (a answer) {
	resp, err := k.RoundTrip(c.request(k, http.MethodPost, httpapi.PathRoutes, "", c.lines, body, -1))
	early.Store(true)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	a.status, a.close = resp.StatusCode, resp.Close
	a.body, a.err = c.read(resp, nil)
	return a
}
