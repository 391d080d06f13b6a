package httpclient

import (
	"context"
	"io"
	"iter"
	"net/http/httputil"
	"sync/atomic"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/httpapi/calling"
	"bakeoff/service"
)

// ListFeatures makes its call when the sequence is read, and yields each feature as its line arrives. A consumer
// that stops early costs the connection.
func (c *client) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return func(yield func(service.Feature, error) bool) {
		k, err := c.begin(ctx, false)
		if err != nil {
			yield(service.Feature{}, err)
			return
		}
		defer k.drop()
		req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(req)
		defer fasthttp.ReleaseResponse(resp)
		path := append(k.take(), httpapi.PathFeatures+"?lo="...)
		path = append(httpapi.AppendPoint(path, r.Lo), "&hi="...)
		path = httpapi.AppendPoint(path, r.Hi)
		k.keep(path)
		k.head(req, fasthttp.MethodGet, "", path)
		resp.StreamBody = true
		if err := k.roundTrip(req, resp, c.max); err != nil {
			yield(service.Feature{}, k.fail(err))
			return
		}
		k.features(resp, yield)
	}
}

// features hands on what the answer brings, and ends the call.
func (k *turn) features(resp *fasthttp.Response, yield func(service.Feature, error) bool) {
	body := resp.BodyStream()
	if body == nil { // a status that has no body
		k.end(false)
		yield(service.Feature{}, httpapi.ErrorOf(resp.StatusCode(), nil))
		return
	}
	if status := resp.StatusCode(); status != fasthttp.StatusOK {
		b, err := httpapi.ReadMessage(body, nil, k.c.max)
		if err != nil {
			err = k.fail(err)
		} else {
			k.end(!resp.ConnectionClose())
			err = httpapi.ErrorOf(status, b)
		}
		yield(service.Feature{}, err)
		return
	}
	how, err := calling.Features(k.c.codec, body, k.c.max, yield)
	if err := k.leave(how, !resp.ConnectionClose(), err); err != nil {
		yield(service.Feature{}, err)
	}
}

// RecordRoute sends the points as the sequence yields them, in pieces of some kilobytes, or after 2 ms when it is slow. It
// notices an answer that comes before the upload is over, and then sends no more.
func (c *client) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	var none service.RouteSummary
	k, err := c.begin(ctx, false)
	if err != nil {
		return none, err
	}
	defer k.drop()
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	k.head(req, fasthttp.MethodPost, httpapi.TypeNDJSON, pathRoutes)
	req.Header.SetContentLength(-1) // chunked
	up := newUpload(k.lane)
	defer up.batch.Rest() // whatever happens, its timer sends nothing afterwards
	if err := req.Header.Write(k.bw); err != nil {
		return none, k.fail(err)
	}
	var sent error
	for p, err := range points {
		if err != nil {
			k.end(false)
			up.wait()
			return none, err
		}
		if sent = up.batch.Add(func(dst []byte) ([]byte, error) { return c.codec.AppendPoint(dst, p) }); sent != nil || up.answered.Load() {
			break
		}
	}
	whole := sent == nil && !up.answered.Load()
	if sent == nil {
		sent = up.finish()
	}
	up.batch.Rest() // from here on its timer sends nothing
	k.taken = up.pieces > 1
	// Even if it could not be sent wholly, there may be an answer that says why.
	err = k.answer(resp, c.max)
	up.wait()
	if err != nil {
		if sent != nil {
			err = sent
		}
		return none, k.fail(err)
	}
	good := whole && sent == nil && !resp.ConnectionClose()
	sum, err := none, error(nil)
	if status := resp.StatusCode(); status != fasthttp.StatusOK {
		err = httpapi.ErrorOf(status, resp.Body())
	} else if sum, err = c.codec.DecodeSummary(resp.Body()); err != nil {
		err, good = calling.Malformed(err), false
	}
	k.end(good)
	return sum, err
}

// upload is the body of one RecordRoute call.
type upload struct {
	k        *lane
	batch    *httpapi.Batch
	chunks   io.WriteCloser
	pieces   int
	answered atomic.Bool   // an answer, or the end of the connection, came before the end of the upload
	watched  chan struct{} // closed when nobody watches for that any more; nil if nobody does
}

func newUpload(k *lane) *upload {
	u := &upload{k: k, chunks: httputil.NewChunkedWriter(k.bw)}
	u.batch = httpapi.NewBatch(u.send)
	return u
}

// send sends one piece. A second one says that the upload is long: from then on an early answer is watched for.
func (u *upload) send(piece []byte) error {
	if _, err := u.chunks.Write(piece); err != nil {
		return err
	}
	if u.pieces++; u.pieces == 2 {
		u.watched = make(chan struct{})
		go func() {
			defer close(u.watched)
			_, _ = u.k.br.Peek(1)
			u.answered.Store(true)
		}()
	}
	return u.k.bw.Flush()
}

// finish sends what is left and the end. The watcher is waited for: the answer is read next.
func (u *upload) finish() error {
	_, err := u.chunks.Write(u.batch.Rest())
	if err == nil && !u.answered.Load() {
		if err = u.chunks.Close(); err == nil {
			_, err = u.k.bw.WriteString("\r\n")
		}
	}
	if err == nil {
		err = u.k.bw.Flush()
	}
	u.wait()
	return err
}

func (u *upload) wait() {
	u.batch.Rest()
	if u.watched != nil {
		<-u.watched
	}
}
