package grpcserver

import (
	"context"
	"io"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"bakeoff/proto/convert"
	"bakeoff/proto/inf"
	"bakeoff/proto/routeguide"
	"bakeoff/service"
)

type data struct {
	inf.UnimplementedDataServer
	api service.DataAPI
}

func (d data) Login(ctx context.Context, rq *inf.LoginRq) (*inf.LoginRp, error) {
	r, err := convert.Login(rq)
	if err != nil {
		return nil, convert.Status(err)
	}
	s, err := d.api.Login(ctx, r)
	if err != nil {
		return nil, convert.Status(err)
	}
	return convert.WireSession(s), nil
}

func (d data) DataType(ctx context.Context, rq *inf.DataTypeRq) (*inf.DataTypeRp, error) {
	r, err := convert.DataTypeRequest(rq)
	if err != nil {
		return nil, convert.Status(err)
	}
	a, err := d.api.DataType(ctx, r)
	if err != nil {
		return nil, convert.Status(err)
	}
	return convert.WireDataType(a), nil
}

type route struct {
	routeguide.UnimplementedRouteGuideServer
	api service.RouteAPI
}

func (r route) GetFeature(ctx context.Context, rq *routeguide.Point) (*routeguide.Feature, error) {
	f, err := r.api.GetFeature(ctx, convert.Point(rq))
	if err != nil {
		return nil, convert.Status(err)
	}
	return convert.WireFeature(f), nil
}

func (r route) ListFeatures(rq *routeguide.Rectangle, stream grpc.ServerStreamingServer[routeguide.Feature]) error {
	for f, err := range r.api.ListFeatures(stream.Context(), convert.Rectangle(rq)) {
		if err != nil {
			return convert.Status(err)
		}
		if err := stream.Send(convert.WireFeature(f)); err != nil {
			return err
		}
	}
	return nil
}

func (r route) RecordRoute(stream grpc.ClientStreamingServer[routeguide.Point, routeguide.RouteSummary]) error {
	points := received(stream, func(m *routeguide.Point) (service.Point, error) { return convert.Point(m), nil })
	s, err := r.api.RecordRoute(stream.Context(), points)
	if err != nil {
		return convert.Status(err)
	}
	return stream.SendAndClose(convert.WireSummary(s))
}

func (r route) RouteChat(stream grpc.BidiStreamingServer[routeguide.RouteNote, routeguide.RouteNote]) error {
	for n, err := range r.api.RouteChat(stream.Context(), received(stream, convert.Note)) {
		if err != nil {
			return convert.Status(err)
		}
		if err := stream.Send(convert.WireNote(n)); err != nil {
			return err
		}
	}
	return nil
}

// received is what a client streams, until it has sent all or the call breaks. One message takes each in turn: nothing
// of it is kept beyond the conversion.
func received[M, T any](stream grpc.ServerStream, read func(*M) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		m := new(M)
		for {
			err := stream.RecvMsg(m)
			if err == io.EOF {
				return
			}
			var v T
			if err == nil {
				v, err = read(m)
			} else {
				err = receiveError(stream.Context(), err)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// receiveError is why a streamed message could not be had: it is over the limit, it is no message, or the call has
// ended. grpc-go has sent its own status for the first two by now, and ended the context over it, so that the status
// is asked before the context is.
func receiveError(ctx context.Context, err error) error {
	st := status.Convert(err)
	switch st.Code() {
	case codes.ResourceExhausted:
		return service.Errorf(service.ResourceExhausted, "%s", st.Message())
	case codes.Internal:
		return service.Errorf(service.InvalidArgument, "a streamed message: %s", st.Message())
	}
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	return err
}
