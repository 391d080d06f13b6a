// Package grpcgateway serves the API as JSON over HTTP with grpc-gateway: generated code translates each request into a
// call to a gRPC server of grpc-go in the same process, over a real connection of gRPC that is a pipe in memory, since the
// library's way without a connection has no streams. It knows the wires and what a protocol is, not who calls or measures.
package grpcgateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	infgateway "bakeoff/proto/grpcgateway/inf"
	routegateway "bakeoff/proto/grpcgateway/routeguide"
	"bakeoff/proto/handlers"
	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
)

// Knobs are this protocol's own options: it has none.
var Knobs []protocol.Knob

// Check refuses options that grpc-gateway does not have.
func Check(o protocol.Options) (struct{}, error) {
	_, err := o.Settings(Knobs)
	return struct{}{}, err
}

// Serve answers requests on l until ctx ends, then lets calls in flight finish for up to 3 s, cuts off what is left, and
// returns nil. Any other error says why serving stopped. l is closed in every case.
func Serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	return serve(ctx, l, api, o, nethttp.DrainTime)
}

func serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options, drain time.Duration) (err error) {
	defer l.Close()
	if _, err := Check(o); err != nil {
		return fmt.Errorf("grpc-gateway: %w", err)
	}
	o = o.Defaulted()
	b, err := newBackend(api, o)
	if err != nil {
		return fmt.Errorf("grpc-gateway: %w", err)
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	h, err := b.handler(o)
	if err != nil {
		return fmt.Errorf("grpc-gateway: %w", err)
	}
	s := nethttp.Server{Version: nethttp.Both, Handler: h, Streams: true, Drain: drain}
	if err := s.Serve(ctx, l, o); err != nil {
		return fmt.Errorf("grpc-gateway: %w", err)
	}
	return nil
}

// backend is the gRPC server that the requests are calls to, and the connection to it.
type backend struct {
	server *grpc.Server
	conn   *grpc.ClientConn
	served chan error
}

// pipeSize is what the connection in memory holds in each direction: as much as grpc-go writes at a time, and more.
const pipeSize = 256 << 10

func newBackend(api service.API, o protocol.Options) (*backend, error) {
	pipe := bufconn.Listen(pipeSize)
	conn, err := grpc.NewClient("passthrough:///grpc-gateway",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return pipe.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(o.MaxMessage), grpc.MaxCallSendMsgSize(o.MaxMessage)),
		grpc.WithNoProxy(), grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(),
		grpc.WithIdleTimeout(0), // it is never closed for want of calls
	)
	if err != nil {
		return nil, err
	}
	b := &backend{
		server: grpc.NewServer(grpc.MaxRecvMsgSize(o.MaxMessage), grpc.MaxSendMsgSize(o.MaxMessage)),
		conn:   conn, served: make(chan error, 1),
	}
	handlers.Register(b.server, api)
	go func() { b.served <- b.server.Serve(pipe) }()
	conn.Connect()
	return b, nil
}

// stop ends the connection and the server. Requests are answered or ended by now.
func (b *backend) stop() error {
	err := b.conn.Close()
	b.server.Stop()
	return errors.Join(err, <-b.served)
}

// handler is the generated code over the connection.
func (b *backend) handler(o protocol.Options) (http.Handler, error) {
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, newMarshaler(o.MaxMessage)),
		runtime.WithErrorHandler(answerError),
		runtime.WithStreamErrorHandler(streamError),
	)
	// The context would end the registration with a connection of its own; this connection is ended by stop.
	ctx := context.Background()
	if err := errors.Join(infgateway.RegisterDataHandler(ctx, mux, b.conn), routegateway.RegisterRouteGuideHandler(ctx, mux, b.conn)); err != nil {
		return nil, err
	}
	return bodies(mux), nil
}
