package connectserver

import (
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"
	"google.golang.org/grpc/status"

	"bakeoff/proto/handlers"
	"bakeoff/proto/routeguide"
	"bakeoff/service"
)

func newData(api service.DataAPI) handlers.Data { return handlers.Data{API: api} }

// route hands the library's streams to the handlers that all servers share.
type route struct{ handlers.Route }

func newRoute(api service.RouteAPI) route { return route{handlers.Route{API: api}} }

func (r route) ListFeatures(ctx context.Context, rq *routeguide.Rectangle, s *connect.ServerStream[routeguide.Feature]) error {
	return r.Route.ListFeatures(ctx, rq, s.Send)
}

func (r route) RecordRoute(ctx context.Context, s *connect.ClientStream[routeguide.Point]) (*routeguide.RouteSummary, error) {
	return r.Route.RecordRoute(ctx, func() (*routeguide.Point, error) {
		if s.Receive() {
			return s.Msg(), nil
		}
		if err := s.Err(); err != nil {
			return nil, receiveError(ctx, err)
		}
		return nil, io.EOF
	})
}

func (r route) RouteChat(ctx context.Context, s *connect.BidiStream[routeguide.RouteNote, routeguide.RouteNote]) error {
	return r.Route.RouteChat(ctx, func() (*routeguide.RouteNote, error) {
		m, err := s.Receive()
		if err != nil {
			return nil, receiveError(ctx, err)
		}
		return m, nil
	}, s.Send)
}

// receiveError is why a streamed message could not be had: the client has sent all, it is over the limit, it is no message,
// or the call has ended.
func receiveError(ctx context.Context, err error) error {
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	var ce *connect.Error
	if errors.As(err, &ce) {
		switch ce.Code() {
		case connect.CodeResourceExhausted:
			return service.Errorf(service.ResourceExhausted, "%s", ce.Message())
		case connect.CodeInvalidArgument:
			return service.Errorf(service.InvalidArgument, "a streamed message: %s", ce.Message())
		}
	}
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	return err
}

// statuses makes the library's errors of the statuses that the handlers answer with: the same code, message and details.
type statuses struct{}

func (statuses) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, rq connect.AnyRequest) (connect.AnyResponse, error) {
		rp, err := next(ctx, rq)
		if err != nil {
			return nil, connectError(err)
		}
		return rp, nil
	}
}

func (statuses) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return connectError(next(ctx, conn))
	}
}

// WrapStreamingClient is for clients.
func (statuses) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// connectError leaves errors alone that are no status: the library's own.
func connectError(err error) error {
	if err == nil {
		return nil
	}
	var own *connect.Error
	st, ok := status.FromError(err)
	if !ok || errors.As(err, &own) {
		return err
	}
	ce := connect.NewError(connect.Code(st.Code()), errors.New(st.Message()))
	for _, packed := range st.Proto().GetDetails() {
		d, err := connect.NewErrorDetail(packed)
		if err != nil {
			return err
		}
		ce.AddDetail(d)
	}
	return ce
}
