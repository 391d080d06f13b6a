// Package grpcserver serves the API over gRPC with grpc-go: Data, RouteGuide, the health service and, where the knob
// says so, reflection. It knows the wire and what a protocol is, not who calls or measures.
package grpcserver

import (
	"context"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"bakeoff/proto/grpcopts"
	"bakeoff/proto/handlers"
	"bakeoff/proto/inf"
	"bakeoff/proto/routeguide"
	"bakeoff/protocol"
	"bakeoff/service"
)

// Knobs are gRPC's own options; both ends know all of them.
var Knobs = grpcopts.Knobs

// drainTime is how long calls in flight may go on after the end of Serve's context. It also bounds the handshake of a
// connection, which grpc-go's own two minutes would not: what newcomers can't tell at the end must not hold it up.
const drainTime = 3 * time.Second

// Serve answers calls on l until ctx ends, then lets calls in flight finish for up to 3 s, cuts off what is left,
// and returns nil. Any other error says why serving stopped: a knob that can't be read, or a listener that failed.
// l is closed in every case.
func Serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	return serve(ctx, l, api, o, drainTime)
}

func serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options, drain time.Duration) error {
	defer l.Close()
	set, err := grpcopts.Parse(o)
	if err != nil {
		return fmt.Errorf("grpc: %w", err)
	}
	opts, err := serverOptions(set, o.Defaulted(), drain)
	if err != nil {
		return err
	}
	server, state := newServer(api, set, opts)
	arriving := &newcomers{Listener: l, patience: drain}
	served := make(chan error, 1)
	go func() { served <- server.Serve(arriving) }()
	select {
	case err := <-served:
		server.Stop()
		return fmt.Errorf("grpc: serving on %v ended: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	state.Shutdown() // who watches the health is told before the connections are
	arriving.stop()
	stop(server, drain)
	<-served
	return nil
}

// newServer is a server of all services, and the state of their health.
func newServer(api service.API, set grpcopts.Settings, opts []grpc.ServerOption) (*grpc.Server, *health.Server) {
	server := grpc.NewServer(opts...)
	handlers.Register(server, api)
	state := health.NewServer()
	for _, name := range []string{inf.Data_ServiceDesc.ServiceName, routeguide.RouteGuide_ServiceDesc.ServiceName} {
		state.SetServingStatus(name, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	grpc_health_v1.RegisterHealthServer(server, state)
	if set.Reflection {
		reflection.Register(server)
	}
	return server, state
}

// stop waits for the calls in flight, then ends those that are left. It does not wait for a handler that ignores the
// end of its context.
func stop(server *grpc.Server, drain time.Duration) {
	graceful := make(chan struct{})
	go func() {
		server.GracefulStop()
		close(graceful)
	}()
	late := time.NewTimer(drain)
	defer late.Stop()
	select {
	case <-graceful:
	case <-late.C:
		server.Stop()
	}
}

// LibraryOptions are those that Serve gives to grpc.NewServer under o: for a server beside this one that is to differ
// from it in its own code alone.
func LibraryOptions(o protocol.Options) ([]grpc.ServerOption, error) {
	set, err := grpcopts.Parse(o)
	if err != nil {
		return nil, fmt.Errorf("grpc: %w", err)
	}
	return serverOptions(set, o.Defaulted(), drainTime)
}

// serverOptions leaves MaxConcurrentStreams alone: grpc-go's default is no limit, so calls in flight meet none here.
func serverOptions(set grpcopts.Settings, o protocol.Options, handshake time.Duration) ([]grpc.ServerOption, error) {
	secure, err := o.ServerTLS(grpcopts.ALPN)
	if err != nil {
		return nil, fmt.Errorf("grpc: %w", err)
	}
	opts := append(callOptions(set, o),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: o.ServerIdle}),
		grpc.ConnectionTimeout(handshake),
	)
	if secure != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(secure)))
	}
	if set.Window != nil {
		opts = append(opts, grpc.StaticStreamWindowSize(*set.Window), grpc.StaticConnWindowSize(*set.Window))
	}
	if set.SharedWriteBuffer != nil {
		//lint:ignore SA1019 deprecated because it is on by default now; what off costs is still to be measured
		opts = append(opts, grpc.SharedWriteBuffer(*set.SharedWriteBuffer))
	}
	if set.ReadBuffer != nil {
		opts = append(opts, grpc.ReadBufferSize(*set.ReadBuffer))
	}
	if set.WriteBuffer != nil {
		opts = append(opts, grpc.WriteBufferSize(*set.WriteBuffer))
	}
	return opts, nil
}

// callOptions are those that hold whoever speaks HTTP/2.
func callOptions(set grpcopts.Settings, o protocol.Options) []grpc.ServerOption {
	opts := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(o.MaxMessage),
		grpc.MaxSendMsgSize(o.MaxMessage),
		grpc.NumStreamWorkers(set.StreamWorkers),
	}
	if codec := set.ForcedCodec(); codec != nil {
		opts = append(opts, grpc.ForceServerCodecV2(codec))
	}
	if set.Compression {
		//lint:ignore SA1019 see the client's
		opts = append(opts, grpc.RPCCompressor(grpc.NewGZIPCompressor()), grpc.RPCDecompressor(grpc.NewGZIPDecompressor()))
	}
	return opts
}
