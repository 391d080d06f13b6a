package main

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	infgateway "bakeoff/proto/grpcgateway/inf"
	"bakeoff/proto/inf"
	"bakeoff/protocol"
)

// bareGateway is the gateway before a gRPC server in the same process, as the library's users write it.
func bareGateway(ctx context.Context, l net.Listener, o protocol.Options) error {
	o = o.Defaulted()
	pipe := bufconn.Listen(256 << 10)
	backend := grpc.NewServer(grpc.MaxRecvMsgSize(o.MaxMessage), grpc.MaxSendMsgSize(o.MaxMessage))
	inf.RegisterDataServer(backend, constantGRPC{})
	served := make(chan error, 1)
	go func() { served <- backend.Serve(pipe) }()
	conn, err := grpc.NewClient("passthrough:///bare",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return pipe.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(o.MaxMessage), grpc.MaxCallSendMsgSize(o.MaxMessage)),
		grpc.WithDisableRetry(), grpc.WithIdleTimeout(0),
	)
	mux := runtime.NewServeMux()
	if err == nil {
		err = infgateway.RegisterDataHandler(context.Background(), mux, conn)
	}
	if err == nil {
		server := &http.Server{
			Handler: mux, Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: math.MaxInt32},
			IdleTimeout: o.ServerIdle,
		}
		server.Protocols.SetUnencryptedHTTP2(true)
		err = until(ctx, func() error { return server.Serve(l) }, func() { _ = server.Close() })
	}
	if conn != nil {
		err = errors.Join(err, conn.Close())
	}
	backend.Stop()
	return errors.Join(err, <-served)
}
