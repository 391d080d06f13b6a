package grpcclient

import (
	"context"
	"io"
	"iter"

	"google.golang.org/grpc"

	"bakeoff/proto/convert"
	"bakeoff/proto/routeguide"
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

// RouteChat makes the call when its answer is read. It reads notes in a goroutine of its own, which is not waited for at
// the end of the answer, because a sequence may be waiting for what the reader of the answer does: it ends at its next
// note. A sequence that waits for something must heed ctx itself.
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
		go func() {
			if err := c.send(ctx, call, n, s, notes); err != nil {
				end(sendError{err})
			}
		}()
		m := new(routeguide.RouteNote)
		for {
			err := s.RecvMsg(m)
			if err == io.EOF {
				return
			}
			var note service.RouteNote
			if err == nil {
				note, err = convert.Note(m)
			} else if sent, ok := context.Cause(call).(sendError); ok {
				err = sent.error
			} else {
				err = c.fail(ctx, call, n, err)
			}
			if !yield(note, err) || err != nil {
				return
			}
		}
	}
}

// sendError is the cause of a call's end that lies in what was to be sent: the sequence's own error, or a note that could
// not go.
type sendError struct{ error }

// send sends notes until they or the call have ended.
func (c *client) send(ctx, call context.Context, n *conn, s chatStream, notes iter.Seq2[service.RouteNote, error]) error {
	for note, err := range notes {
		if err != nil {
			return err
		}
		if err = s.Send(convert.WireNote(note)); err == io.EOF {
			return nil // the call has ended: why, its receiver learns
		} else if err != nil {
			return c.fail(ctx, call, n, err)
		}
	}
	if err := s.CloseSend(); err != nil {
		return c.fail(ctx, call, n, err)
	}
	return nil
}

type chatStream = grpc.BidiStreamingClient[routeguide.RouteNote, routeguide.RouteNote]
