// Package httpserver serves the API as JSON over HTTP, on fasthttp; /openapi.json describes it. It knows nothing of
// clients, flags or of what is measured.
package httpserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/httpapi/serving"
	"bakeoff/protocol"
	"bakeoff/service"
)

// Knobs are the options of this server.
var Knobs = httpapi.ConnKnobs

// Serve answers HTTP on l until ctx ends. Then it takes no more connections, lets the calls that are in flight
// finish for at most the drain time, ends the rest, and returns nil. Any other error says why it could not serve.
//
// The context of the rules ends with the server, not with its client: fasthttp does not watch a connection while
// its call is being answered. A chat and a stream do notice that their client is gone, and a request that tells how long its client
// will wait (httpapi.HeaderTimeout) has a context with that deadline.
//
// A request has o.ServerIdle to arrive, and an upload may pause as long.
func Serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	return serve(ctx, l, api, o, drainTime)
}

func serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options, drain time.Duration) error {
	o = o.Defaulted()
	set, err := httpapi.ReadConn(o)
	var secure *tls.Config
	if err == nil {
		secure, err = o.ServerTLS(httpapi.ALPN)
	}
	if err != nil {
		_ = l.Close()
		return err
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	// The calls outlive ctx by the time that they are given to drain.
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	conns := newTracker()
	h := &handler{ctx: base, headers: set.Headers, conns: conns,
		rules: &serving.Rules{API: api, Codec: set.Codec, Max: o.MaxMessage, Idle: o.ServerIdle, Compressed: set.Compression}}
	s := library(set, o)
	s.Handler, s.ErrorHandler, s.ConnState = h.serve, h.broken, conns.state
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		// The listener failed, or was closed by somebody else. What is being served is ended the same way.
		conns.drain(s, drain, cancel)
		if err == nil {
			err = net.ErrClosed
		}
		return fmt.Errorf("serving HTTP on %s: %w", l.Addr(), err)
	case <-ctx.Done():
		_ = l.Close() // fasthttp closes only what it has begun to serve
		conns.drain(s, drain, cancel)
		<-served
		return nil
	}
}

// Library is the fasthttp.Server that Serve runs under o, without our handlers: for a server beside this one that is to
// differ from it in its own code alone.
func Library(o protocol.Options) (*fasthttp.Server, error) {
	set, err := httpapi.ReadConn(o)
	if err != nil {
		return nil, err
	}
	return library(set, o.Defaulted()), nil
}

func library(set httpapi.Settings, o protocol.Options) *fasthttp.Server {
	return &fasthttp.Server{
		Logger:             silent{},
		Concurrency:        max(fasthttp.DefaultConcurrency, 2*o.InFlight),
		MaxRequestBodySize: o.MaxMessage,
		DisableKeepalive:   set.Closing,
		// Also the time that a connection may wait before its first request: a pool opens its connections early.
		ReadTimeout:                  o.ServerIdle,
		IdleTimeout:                  o.ServerIdle,
		StreamRequestBody:            true, // for uploads; the handler reads the small bodies at once
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        !set.Headers,
		NoDefaultDate:                !set.Headers,
		NoDefaultContentType:         true, // each answer says what it is
		CloseOnShutdown:              true,
		// How long fasthttp keeps the goroutine of a closed connection for the next, and how late it notices that it
		// was stopped: its own 10 s would outlive the server by as much.
		MaxIdleWorkerDuration: 200 * time.Millisecond,
	}
}

// silent keeps fasthttp from writing to stderr about every client that goes away; what counts reaches the client
// as a problem.
type silent struct{}

func (silent) Printf(string, ...any) {}
