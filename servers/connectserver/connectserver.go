// Package connectserver serves the API over Connect with connect-go and net/http: one handler answers Connect's own wire,
// gRPC and gRPC-Web, each with protobuf and with JSON, over HTTP/2 and, but for what streams both ways, over HTTP/1.1. It knows the wire and what a protocol is, not who calls or measures.
package connectserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"bakeoff/proto/connectopts"
	"bakeoff/proto/inf/infconnect"
	"bakeoff/proto/routeguide/routeguideconnect"
	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
)

// Knobs are Connect's own options; both ends know all of them.
var Knobs = connectopts.Knobs

// Serve answers calls on l until ctx ends, then lets calls in flight finish for up to 3 s, cuts off what is left, and
// returns nil. Any other error says why serving stopped: a knob that can't be read, or a listener that failed. l is closed
// in every case.
func Serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	return serve(ctx, l, api, o, nethttp.DrainTime)
}

func serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options, drain time.Duration) error {
	defer l.Close()
	if _, err := connectopts.Parse(o); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	o = o.Defaulted()
	s := nethttp.Server{Version: nethttp.Both, Handler: handler(api, o), Streams: true, Drain: drain}
	if err := s.Serve(ctx, l, o); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

func handler(api service.API, o protocol.Options) http.Handler {
	opts := append(libraryOptions(o), connect.WithInterceptors(statuses{}))
	mux := http.NewServeMux()
	mux.Handle(infconnect.NewDataHandler(newData(api), opts...))
	mux.Handle(routeguideconnect.NewRouteGuideHandler(newRoute(api), opts...))
	return mux
}

// LibraryOptions are those that Serve gives to the library's handlers under o: for a server beside this one that is to
// differ from it in its own code alone.
func LibraryOptions(o protocol.Options) ([]connect.HandlerOption, error) {
	if _, err := connectopts.Parse(o); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return libraryOptions(o.Defaulted()), nil
}

// libraryOptions leave compression to the client, as the library does.
func libraryOptions(o protocol.Options) []connect.HandlerOption {
	return []connect.HandlerOption{connect.WithReadMaxBytes(o.MaxMessage), connect.WithSendMaxBytes(o.MaxMessage)}
}
