package connectclient

import (
	"context"
	"errors"
	"io"
	"iter"

	"bakeoff/proto/convert"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// ListFeatures makes the call when the sequence is read.
func (c *client) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return func(yield func(service.Feature, error) bool) {
		k, bound, end, err := c.stream(ctx)
		if err != nil {
			yield(service.Feature{}, err)
			return
		}
		defer k.Drop()
		defer end(nil)
		s, err := c.route.ListFeatures(bound, convert.WireRectangle(r))
		if err != nil {
			yield(service.Feature{}, k.fail(err))
			return
		}
		for s.Receive() {
			if !yield(convert.Feature(s.Msg()), nil) {
				return
			}
		}
		if err := s.Err(); err != nil {
			yield(service.Feature{}, k.fail(err))
		}
	}
}

// RecordRoute reads points in the caller's goroutine. A sequence that waits for something must heed ctx itself.
func (c *client) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	k, bound, end, err := c.stream(ctx)
	if err != nil {
		return service.RouteSummary{}, err
	}
	defer k.Drop()
	defer end(nil)
	s, err := c.route.RecordRoute(bound)
	if err != nil {
		return service.RouteSummary{}, k.fail(err)
	}
	for p, err := range points {
		if err != nil {
			return service.RouteSummary{}, err
		}
		if err = s.Send(convert.WirePoint(p)); errors.Is(err, io.EOF) {
			break // the server has answered already: with what, the answer says
		} else if err != nil {
			return service.RouteSummary{}, k.fail(err)
		}
	}
	rp, err := s.CloseAndReceive()
	if err != nil {
		return service.RouteSummary{}, k.fail(err)
	}
	return convert.Summary(rp), nil
}

// RouteChat makes the call when its answer is read; see pool.Exchange for how it reads notes.
func (c *client) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		k, bound, end, err := c.stream(ctx)
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		defer k.Drop()
		defer end(nil)
		s, err := c.route.RouteChat(bound)
		if err != nil {
			yield(service.RouteNote{}, k.fail(err))
			return
		}
		pool.Exchange(bound, end, notes,
			func(note service.RouteNote) error { return sent(s.Send(convert.WireNote(note))) },
			func() error { return sent(s.CloseRequest()) },
			func() (service.RouteNote, error) {
				m, err := s.Receive()
				if err != nil {
					return service.RouteNote{}, k.failed(err)
				}
				return convert.Note(m)
			}, yield)
	}
}
