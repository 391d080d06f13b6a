// Package thriftserver serves the API over Thrift: both services on one port, without multiplexed names, so that
// clients of the published IDL find Data.DataType where they look for it. The library's TSimpleServer does the
// serving, a goroutine or two a connection; what this package adds is the listener below it, the handler above
// it, an end to idle connections and a stop that drains. Over HTTP it is the library's handler, served by net/http.
// Thrift has no streams: see thrift/routeguide.thrift.
package thriftserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/thrift/connectivity"
	"bakeoff/thrift/stack"

	"github.com/apache/thrift/lib/go/thrift"
)

// Knobs are the options that Serve reads of protocol.Options.Knobs.
var Knobs = stack.Knobs

// How long a stop waits for calls in flight, and then, when their contexts are cancelled and their connections
// closed, for their handlers.
const (
	drainTime = 3 * time.Second
	graceTime = 2 * time.Second
)

// Serve answers calls on l until ctx ends, then takes no new ones, lets those in flight end (for three seconds,
// then cuts them), closes l and returns nil. Handlers run under a context that outlives ctx by that drain, and
// ends earlier where the connectivity check finds the client gone. An idle connection, or one that takes longer
// than that to bring its request or take its answer, is closed after o.ServerIdle, at most half as long late.
func Serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
	return serve(ctx, l, api, o, drainTime, graceTime)
}

func serve(ctx context.Context, l net.Listener, api service.API, o protocol.Options, drain, grace time.Duration) error {
	s, err := stack.New(o)
	if err == nil && s.HTTP() {
		return serveHTTP(ctx, l, api, s, o, drain)
	}
	var secure *tls.Config
	if err == nil {
		secure, err = o.ServerTLS()
	}
	if err != nil {
		l.Close()
		return fmt.Errorf("thrift: %w", err)
	}
	if secure != nil {
		l = tls.NewListener(l, secure) // the handshake comes with the first read, which is the connection's own goroutine's
	}
	o = o.Defaulted()
	calls, cancel := context.WithCancel(connectivity.With(context.WithoutCancel(ctx), s.Check))
	defer cancel()

	a := newAcceptor(ctx, l, s)
	server := thrift.NewTSimpleServerFactory4(processors{calls, api, s}, a, s.Transports(), s.Protocols())
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve() // its error is swallowed by the library; the acceptor keeps it
	}()
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		a.sweep(calls, o.ServerIdle)
	}()
	defer func() { cancel(); <-swept }()

	select {
	case <-ctx.Done():
	case <-served:
	}
	a.drain()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		server.Stop()
		<-served
	}()
	if !ended(stopped, drain) {
		cancel()
		a.cutAll()
		if !ended(stopped, grace) {
			return fmt.Errorf("thrift: serve %s: handlers still run %s after they were cancelled", l.Addr(), grace)
		}
	}
	if err := a.failure(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("thrift: serve %s: %w", l.Addr(), err)
	}
	return nil
}

// ended says whether done is closed within d.
func ended(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

var errStopped = errors.New("the server is stopping")
