package httpserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/service"
)

// listFeatures answers with one feature a line, as the rules find them. A failure before the first is an answer of
// its own; a later one is the last line.
func (h *handler) listFeatures(rc *fasthttp.RequestCtx) {
	var area service.Rectangle
	for _, q := range []struct {
		name string
		to   *service.Point
	}{{"lo", &area.Lo}, {"hi", &area.Hi}} {
		p, err := httpapi.ParsePoint("query "+q.name, string(rc.QueryArgs().Peek(q.name)))
		if err != nil {
			h.fail(rc, err)
			return
		}
		*q.to = p
	}
	next, stop := iter.Pull2(h.api.ListFeatures(h.ctx, area))
	f, err, more := next()
	if err != nil {
		stop()
		h.fail(rc, err)
		return
	}
	if h.headers {
		rc.SetContentType(httpapi.TypeNDJSON)
	}
	if !more {
		stop()
		return
	}
	if rc.IsHead() {
		stop()
		rc.Response.SkipBody = true
		return
	}
	// From here on rc is not touched: the stream is written while fasthttp sends it.
	rc.SetBodyStreamWriter(func(w *bufio.Writer) {
		defer stop()
		out := httpapi.NewBatch(func(piece []byte) error {
			if _, err := w.Write(piece); err != nil {
				return err
			}
			return w.Flush()
		})
		defer out.Close()
		for more {
			if err != nil {
				_ = out.Add(func(dst []byte) ([]byte, error) { return httpapi.AppendFailure(dst, err), nil })
				return
			}
			if out.Add(func(dst []byte) ([]byte, error) { return h.codec.AppendFeature(dst, f) }) != nil {
				return // the client is gone
			}
			f, err, more = next()
		}
	})
}

// recordRoute reads the points as they arrive.
func (h *handler) recordRoute(rc *fasthttp.RequestCtx) {
	up := &upload{rc: rc, h: h}
	sum, err := h.api.RecordRoute(h.ctx, up.points)
	switch {
	case up.err != nil:
		// Whatever the rules made of it, what arrived was at fault.
		h.failRead(rc, up.err)
		return
	case err != nil:
		h.fail(rc, err)
		return
	}
	s := scratches.Get().(*scratch)
	defer release(s)
	if s.b, err = h.codec.AppendSummary(s.b[:0], sum); err != nil {
		h.fail(rc, err)
		return
	}
	h.answer(rc, s.b)
}

// upload is the request of one RecordRoute call.
type upload struct {
	rc  *fasthttp.RequestCtx
	h   *handler
	err error
	// armed is when the deadline of the connection was last set.
	armed time.Time
}

// Read reads the body, and gives the client the idle time anew, now and then, as long as it keeps sending.
func (u *upload) Read(b []byte) (int, error) {
	if now := time.Now(); now.Sub(u.armed) > u.h.idle/16 {
		if !u.armed.IsZero() {
			_ = u.rc.SetReadDeadline(now.Add(u.h.idle))
		}
		u.armed = now
	}
	return u.rc.RequestBodyStream().Read(b)
}

// points is the sequence for the rules.
func (u *upload) points(yield func(service.Point, error) bool) {
	if u.rc.RequestBodyStream() == nil {
		return // no body is no points
	}
	u.h.conns.upload(u.rc.Conn(), true, u.h.idle)
	defer u.h.conns.upload(u.rc.Conn(), false, 0)
	lines := httpapi.NewLines(u, u.h.max)
	for {
		line, err := lines.Next()
		var p service.Point
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return
		case errors.Is(err, httpapi.ErrLineTooLong):
			err = httpapi.TooLarge(fmt.Sprintf("point in line %d", lines.N), u.h.max)
		case err == nil:
			if p, err = u.h.codec.DecodePoint(line); err != nil {
				err = service.Errorf(service.InvalidArgument, "message %d: %s", lines.N, service.AsError(err).Msg)
			}
		}
		if err != nil {
			u.err = err
			yield(service.Point{}, err)
			return
		}
		if !yield(p, nil) {
			return
		}
	}
}
