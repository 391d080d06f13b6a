package grpcserver

import (
	"context"
	"fmt"
	"net"
	"slices"

	"bakeoff/proto/grpcopts"
	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
)

// ownHTTP2 are the knobs of grpc-go's own HTTP/2.
var ownHTTP2 = []string{"window", "shared-write-buffer", "read-buffer", "write-buffer"}

// KnobsOverHTTP are those of Knobs that hold where net/http speaks HTTP/2: what that has of its own stays as it comes.
var KnobsOverHTTP = slices.DeleteFunc(slices.Clone(grpcopts.Knobs), func(k protocol.Knob) bool { return slices.Contains(ownHTTP2, k.Name) })

// CheckOverHTTP reads the knobs of o, and refuses those that KnobsOverHTTP has not.
func CheckOverHTTP(o protocol.Options) (grpcopts.Settings, error) {
	if _, err := o.Settings(KnobsOverHTTP); err != nil {
		return grpcopts.Settings{}, err
	}
	return grpcopts.Parse(o)
}

// ServeOverHTTP is Serve with net/http's HTTP/2 server in place of grpc-go's own: a gRPC server is a http.Handler too, so
// that it may share its port with others.
func ServeOverHTTP(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	set, err := CheckOverHTTP(o)
	if err != nil {
		_ = l.Close()
		return fmt.Errorf("grpc: %w", err)
	}
	o = o.Defaulted()
	server, state := newServer(api, set, callOptions(set, o))
	defer server.Stop()                            // its standing goroutines; no call is left
	defer context.AfterFunc(ctx, state.Shutdown)() // who watches the health is told before the connections are
	s := nethttp.Server{Version: nethttp.HTTP2, Handler: server, Streams: true, Drain: drainTime}
	if err := s.Serve(ctx, l, o); err != nil {
		return fmt.Errorf("grpc: %w", err)
	}
	return nil
}
