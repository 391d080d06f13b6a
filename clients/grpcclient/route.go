package grpcclient

import (
	"context"
	"io"
	"iter"

	"bakeoff/proto/convert"
	"bakeoff/proto/routeguide"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

func (c *client) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	call, release := c.bound(ctx)
	defer release()
	n := c.conn()
	f, err := n.route.GetFeature(call, convert.WirePoint(p))
	if err != nil {
		return service.Feature{}, c.fail(ctx, call, n, err)
	}
	return convert.Feature(f), nil
}

// stream is the context of one streamed call: ending it before the call has ended tells the server, and frees what
// gRPC holds for the call.
func (c *client) stream(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	bound, release := c.bound(ctx)
	call, end := context.WithCancelCause(bound)
	return call, func(cause error) {
		end(cause)
		release()
	}
}

// ListFeatures makes the call when the sequence is read.
func (c *client) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return func(yield func(service.Feature, error) bool) {
		call, end := c.stream(ctx)
		defer end(nil)
		n := c.conn()
		s, err := n.route.ListFeatures(call, convert.WireRectangle(r))
		if err != nil {
			yield(service.Feature{}, c.fail(ctx, call, n, err))
			return
		}
		m := new(routeguide.Feature) // takes each message in turn: nothing of it is kept
		for {
			switch err := s.RecvMsg(m); {
			case err == io.EOF:
				return
			case err != nil:
				yield(service.Feature{}, c.fail(ctx, call, n, err))
				return
			}
			if !yield(convert.Feature(m), nil) {
				return
			}
		}
	}
}

// RecordRoute reads points in the caller's goroutine. A sequence that waits for something must heed ctx itself.
func (c *client) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	call, end := c.stream(ctx)
	defer end(nil)
	n := c.conn()
	s, err := n.route.RecordRoute(call)
	if err != nil {
		return service.RouteSummary{}, c.fail(ctx, call, n, err)
	}
	for p, err := range points {
		if err != nil {
			return service.RouteSummary{}, err
		}
		if err = s.Send(convert.WirePoint(p)); err == io.EOF {
			break // the server has answered already: with what, the answer says
		} else if err != nil {
			return service.RouteSummary{}, c.fail(ctx, call, n, err)
		}
	}
	rp, err := s.CloseAndRecv()
	if err != nil {
		return service.RouteSummary{}, c.fail(ctx, call, n, err)
	}
	return convert.Summary(rp), nil
}

// RouteChat makes the call when its answer is read; see pool.Exchange for how it reads notes.
func (c *client) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		call, end := c.stream(ctx)
		defer end(nil)
		n := c.conn()
		s, err := n.route.RouteChat(call)
		if err != nil {
			yield(service.RouteNote{}, c.fail(ctx, call, n, err))
			return
		}
		failed := func(err error) error {
			if err == nil || err == io.EOF {
				return err
			}
			return c.fail(ctx, call, n, err)
		}
		m := new(routeguide.RouteNote)
		pool.Exchange(call, end, notes,
			func(note service.RouteNote) error { return failed(s.Send(convert.WireNote(note))) },
			func() error { return failed(s.CloseSend()) },
			func() (service.RouteNote, error) {
				if err := s.RecvMsg(m); err != nil {
					return service.RouteNote{}, failed(err)
				}
				return convert.Note(m)
			}, yield)
	}
}
