package grpcgatewayclient

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strconv"

	"google.golang.org/protobuf/proto"

	"bakeoff/httpapi"
	"bakeoff/proto/convert"
	"bakeoff/proto/routeguide"
	"bakeoff/protocol/nethttp"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// query names a rectangle's corners.
func query(r service.Rectangle) string {
	q := make([]byte, 0, 128)
	for i, f := range []struct {
		name string
		n    int32
	}{{"lo.latitude", r.Lo.Latitude}, {"lo.longitude", r.Lo.Longitude}, {"hi.latitude", r.Hi.Latitude}, {"hi.longitude", r.Hi.Longitude}} {
		q = append(q, "?&"[min(i, 1)])
		q = append(append(q, f.name...), '=')
		q = strconv.AppendInt(q, int64(f.n), 10)
	}
	return string(q)
}

// ListFeatures makes the call when the sequence is read. A consumer that stops early resets the stream.
func (c *client) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return func(yield func(service.Feature, error) bool) {
		k, err := c.http.Begin(ctx)
		if err != nil {
			yield(service.Feature{}, err)
			return
		}
		defer k.Drop()
		if err := c.features(k, r, yield); err != nil {
			yield(service.Feature{}, k.Fail(err))
		}
	}
}

func (c *client) features(k *nethttp.Call, r service.Rectangle, yield func(service.Feature, error) bool) error {
	rq, err := c.request(k.Context(), http.MethodGet, pathFeatures+query(r), nil, 0)
	if err != nil {
		return err
	}
	resp, err := k.RoundTrip(rq)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	s, err := c.open(resp)
	if err != nil {
		return err
	}
	m := new(routeguide.Feature) // takes each message in turn: nothing of it is kept
	for {
		switch err := s.next(m); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case !yield(convert.Feature(m), nil):
			return nil
		}
	}
}

// up is the body of a call that streams: one message a line.
type up struct {
	c *client
	r *io.PipeReader
	w *io.PipeWriter
}

// uploading makes a streamed request of k's. Its body is closed when its context ends: net/http heeds no context while it
// reads one.
func (c *client) uploading(ctx context.Context, path string) (up, *http.Request, error) {
	u := up{c: c}
	u.r, u.w = io.Pipe()
	rq, err := c.request(ctx, http.MethodPost, path, u.r, -1)
	context.AfterFunc(ctx, func() { _ = u.r.Close() })
	return u, rq, err
}

// errGone is what a writer meets when its call has ended.
var errGone = errors.New("the call has ended")

// add appends a message to dst.
func (u up) add(dst []byte, m proto.Message) ([]byte, error) {
	b, err := u.c.encode(m)
	return append(dst, b...), err
}

// send sends one message. io.EOF is a call that has ended: why, its answer tells.
func (u up) send(m proto.Message) error {
	b, err := u.add(nil, m)
	if err != nil {
		return err
	}
	if u.write(append(b, '\n')) != nil {
		return io.EOF
	}
	return nil
}

// write fails with errGone alone.
func (u up) write(b []byte) error {
	if _, err := u.w.Write(b); err != nil {
		return errGone
	}
	return nil
}

// RecordRoute reads points in the caller's goroutine, and sends them in pieces of some kilobytes, or after 2 ms when they
// come slowly. A sequence that waits for something must heed ctx itself.
func (c *client) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	k, err := c.http.Begin(ctx)
	if err != nil {
		return service.RouteSummary{}, err
	}
	defer k.Drop()
	call, end := context.WithCancel(k.Context())
	defer end()
	u, rq, err := c.uploading(call, pathRoutes)
	if err != nil {
		return service.RouteSummary{}, k.Fail(err)
	}
	type head struct {
		*http.Response
		err error
	}
	answered := make(chan head, 1)
	go func() {
		resp, err := k.RoundTrip(rq)
		_ = u.r.Close() // an answer before the end of the upload is an error: no more is sent
		answered <- head{resp, err}
	}()
	own := u.sendAll(points)
	if own != nil {
		end()
	}
	h := <-answered
	switch {
	case own != nil:
		if h.Response != nil {
			_ = h.Body.Close()
		}
		return service.RouteSummary{}, own
	case h.err != nil:
		return service.RouteSummary{}, k.Fail(h.err)
	}
	rp := new(routeguide.RouteSummary)
	if err := c.answer(k, h.Response, rp); err != nil {
		return service.RouteSummary{}, err
	}
	return convert.Summary(rp), nil
}

// sendAll sends points until they or the call have ended. An error is the points' own, or of one that could not go.
func (u up) sendAll(points iter.Seq2[service.Point, error]) error {
	batch := httpapi.NewBatch(u.write)
	defer batch.Rest()
	for p, err := range points {
		if err == nil {
			err = batch.Add(func(dst []byte) ([]byte, error) { return u.add(dst, convert.WirePoint(p)) })
		}
		if errors.Is(err, errGone) {
			return nil // why, the answer tells
		}
		if err != nil {
			return err
		}
	}
	if err := batch.Close(); err != nil && !errors.Is(err, errGone) {
		return err
	}
	return u.w.Close()
}

// RouteChat makes the call when its answer is read; see pool.Exchange for how it reads notes.
func (c *client) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		k, err := c.http.Begin(ctx)
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		defer k.Drop()
		call, end := context.WithCancelCause(k.Context())
		defer end(nil)
		u, rq, err := c.uploading(call, pathChat)
		if err != nil {
			yield(service.RouteNote{}, k.Fail(err))
			return
		}
		x := &chat{c: c, k: k, rq: rq}
		defer x.close()
		pool.Exchange(call, end, notes,
			func(n service.RouteNote) error { return u.send(convert.WireNote(n)) }, u.w.Close, x.receive, yield)
	}
}

// chat is the receiving side of one.
type chat struct {
	c    *client
	k    *nethttp.Call
	rq   *http.Request
	resp *http.Response
	s    stream
	m    routeguide.RouteNote // takes each message in turn
}

// receive reads the next note; io.EOF is the end. The first brings the head of the answer.
func (x *chat) receive() (service.RouteNote, error) {
	var err error
	if x.resp == nil {
		if x.resp, err = x.k.RoundTrip(x.rq); err == nil {
			x.s, err = x.c.open(x.resp)
		}
	}
	if err == nil {
		err = x.s.next(&x.m)
	}
	switch err {
	case nil:
		return convert.Note(&x.m)
	case io.EOF:
		return service.RouteNote{}, io.EOF
	}
	return service.RouteNote{}, x.k.Fail(err)
}

func (x *chat) close() {
	if x.resp != nil {
		_ = x.resp.Body.Close()
	}
}
