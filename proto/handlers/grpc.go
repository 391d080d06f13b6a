package handlers

import (
	"context"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"bakeoff/proto/inf"
	"bakeoff/proto/routeguide"
	"bakeoff/service"
)

// Register has a gRPC server answer the calls of both services from api.
func Register(server grpc.ServiceRegistrar, api service.API) {
	inf.RegisterDataServer(server, data{Data: Data{api}})
	routeguide.RegisterRouteGuideServer(server, route{Route: Route{api}})
}

type data struct {
	inf.UnsafeDataServer
	Data
}

type route struct {
	routeguide.UnsafeRouteGuideServer
	Route
}

func (r route) ListFeatures(rq *routeguide.Rectangle, stream grpc.ServerStreamingServer[routeguide.Feature]) error {
	return r.Route.ListFeatures(stream.Context(), rq, stream.Send)
}

func (r route) RecordRoute(stream grpc.ClientStreamingServer[routeguide.Point, routeguide.RouteSummary]) error {
	s, err := r.Route.RecordRoute(stream.Context(), receive[routeguide.Point](stream))
	if err != nil {
		return err
	}
	return stream.SendAndClose(s)
}

func (r route) RouteChat(stream grpc.BidiStreamingServer[routeguide.RouteNote, routeguide.RouteNote]) error {
	return r.Route.RouteChat(stream.Context(), receive[routeguide.RouteNote](stream), stream.Send)
}

// receive takes what a client streams. One message takes each in turn.
func receive[M any](stream grpc.ServerStream) func() (*M, error) {
	m := new(M)
	return func() (*M, error) {
		err := stream.RecvMsg(m)
		if err != nil && err != io.EOF {
			err = receiveError(stream.Context(), err)
		}
		return m, err
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
