package nethttp

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"bakeoff/protocol"
)

// How a server stops: calls have DrainTime to finish; ended ones have graceTime to notice that they were ended.
const (
	DrainTime = 3 * time.Second
	graceTime = time.Second
	kickEvery = 20 * time.Millisecond
)

// Server serves HTTP with net/http.
type Server struct {
	Version Version
	// Handler answers requests. Their contexts end with their client's connection or stream, and with the server.
	Handler http.Handler
	// Streams says that requests may take as long as they like to arrive, as those do that are streams; only their heads are waited for no longer
	// than o.ServerIdle.
	Streams bool
	// Drain is how long calls may go on after the end of Serve's context; 0 is DrainTime.
	Drain time.Duration
	// Hijacked are the connections that the handler took away from net/http; nil: it takes none.
	Hijacked Hijacked
}

// Hijacked are connections that net/http knows no more.
type Hijacked interface {
	// Kick ends those that carry no call, and lets none begin. It is called again and again while the server drains.
	Kick()
	// Wait waits until there are none.
	Wait()
	// CloseAll ends all.
	CloseAll()
}

// Serve answers HTTP on l until ctx ends. Then it takes no more connections, lets the calls in flight finish for at most
// the drain time, ends the rest, and returns nil. Any other error says why it could not serve. l is closed in every case.
//
// A request has o.ServerIdle to arrive, but for Streams; a handler may give it more with
// http.ResponseController.SetReadDeadline.
func (s *Server) Serve(ctx context.Context, l net.Listener, o protocol.Options) error {
	defer l.Close()
	o = o.Defaulted()
	secure, err := o.ServerTLS(s.Version.alpn()...)
	if err != nil {
		return err
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	// The calls outlive ctx by the time that they are given to drain.
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var calls atomic.Int64
	fresh := new(newcomers)
	server := &http.Server{
		Protocols: s.Version.protocols(),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			defer calls.Add(-1)
			s.Handler.ServeHTTP(w, r)
		}),
		// Also the time that a connection may wait before its first request: a pool opens its connections early.
		ReadTimeout: o.ServerIdle,
		IdleTimeout: o.ServerIdle,
		// net/http's own 250 would have calls wait in the client that gRPC, with no limit, carries.
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: max(250, o.InFlight)},
		BaseContext: func(net.Listener) context.Context { return base },
		ConnState:   fresh.state,
		ErrorLog:    log.New(io.Discard, "", 0), // clients that go away; what counts reaches the client
	}
	if s.Streams {
		server.ReadTimeout, server.ReadHeaderTimeout = 0, o.ServerIdle
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err = <-served:
		// The listener failed, or was closed by somebody else. What is being served is ended the same way.
		err = fmt.Errorf("serving HTTP on %s: %w", l.Addr(), err)
	case <-ctx.Done():
		defer func() { <-served }()
	}
	fresh.stop()
	s.drain(server, &calls, cancel)
	return err
}

// drain stops the server: no new connections, idle ones are closed, calls get the patience to finish, then their
// connections are closed and cancel ends their context.
func (s *Server) drain(server *http.Server, calls *atomic.Int64, cancel context.CancelFunc) {
	patience := s.Drain
	if patience == 0 {
		patience = DrainTime
	}
	kick := func() {}
	if s.Hijacked != nil {
		kick = s.Hijacked.Kick
	}
	kick()
	limit, stop := context.WithTimeout(context.Background(), patience+graceTime)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Shutdown(limit)
		if s.Hijacked != nil {
			s.Hijacked.Wait()
		}
	}()
	hard := time.NewTimer(patience)
	defer hard.Stop()
	tick := time.NewTicker(kickEvery)
	defer tick.Stop()
	for cut := false; ; {
		select {
		case <-done:
			if !cut || calls.Load() == 0 {
				return
			}
			done = nil // the connections are closed; the handlers notice
		case <-tick.C:
			kick()
			if done == nil && calls.Load() == 0 {
				return
			}
		case <-hard.C:
			cut = true
			_ = server.Close() // before their context ends, so that none of them is answered as if it had come to its end
			cancel()
			if s.Hijacked != nil {
				s.Hijacked.CloseAll()
			}
		case <-limit.Done(): // a rule that ignores its context is left behind
			return
		}
	}
}

// newcomers are the connections that have not carried a call yet. net/http would wait 5 s for each before it stops.
type newcomers struct {
	conns   sync.Map // net.Conn
	stopped atomic.Bool
}

// state is net/http's hook. On the measured path it looks into a map that is read without locks.
func (n *newcomers) state(c net.Conn, s http.ConnState) {
	if s != http.StateNew {
		if _, is := n.conns.Load(c); is {
			n.conns.Delete(c)
		}
		return
	}
	n.conns.Store(c, struct{}{})
	if n.stopped.Load() {
		_ = protocol.Cut(c)
	}
}

// stop closes them, and those that come.
func (n *newcomers) stop() {
	n.stopped.Store(true)
	n.conns.Range(func(c, _ any) bool {
		_ = protocol.Cut(c.(net.Conn))
		return true
	})
}
