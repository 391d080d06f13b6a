// Package nethttpserver serves the API as JSON on net/http: over HTTP/1.1, with the very paths and messages of
// servers/httpserver, or over HTTP/2, where the chat is a stream of lines instead of a WebSocket. /openapi.json describes
// what is served. It knows nothing of clients, flags or of what is measured.
package nethttpserver

import (
	"context"
	"net"
	"time"

	"bakeoff/httpapi"
	"bakeoff/httpapi/serving"
	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
)

// Serve1 answers HTTP/1.1 on l until ctx ends. Then it takes no more connections, lets the calls that are in flight finish
// for at most 3 s, ends the rest, and returns nil. Any other error says why it could not serve. l is closed in every case.
//
// The context of the rules ends with the client's connection, and with the server. A request has o.ServerIdle to arrive, and
// an upload may pause as long.
func Serve1(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	return serve(ctx, l, api, o, nethttp.HTTP1, nethttp.DrainTime)
}

// Serve2 is Serve1 over HTTP/2, and over nothing else; without TLS with prior knowledge. The context of the rules ends with
// the call's stream.
func Serve2(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	return serve(ctx, l, api, o, nethttp.HTTP2, nethttp.DrainTime)
}

func serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options, v nethttp.Version, drain time.Duration) error {
	o = o.Defaulted()
	set, err := httpapi.Read(o)
	if err != nil {
		_ = l.Close()
		return err
	}
	h := &handler{
		rules:   &serving.Rules{API: api, Codec: set.Codec, Max: o.MaxMessage, Idle: o.ServerIdle, Compressed: set.Compression},
		headers: set.Headers,
		openAPI: httpapi.OpenAPI,
		lines:   v == nethttp.HTTP2,
		chats:   serving.NewChats(),
	}
	if h.lines {
		h.openAPI = httpapi.OpenAPI2()
	}
	s := nethttp.Server{Version: v, Handler: h, Drain: drain, Hijacked: h.chats}
	return s.Serve(ctx, l, o)
}
