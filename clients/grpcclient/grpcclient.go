// Package grpcclient is the API's client over gRPC with grpc-go. It knows the wire and what a protocol is, not the
// server and not who calls.
package grpcclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"bakeoff/proto/grpcopts"
	"bakeoff/protocol"
	"bakeoff/protocol/pool"
)

// Knobs are gRPC's own options; both ends know all of them.
var Knobs = grpcopts.Knobs

// client spreads its calls over its connections in turn. A connection carries any number of calls at a time, so
// nothing here waits for one.
type client struct {
	conns    []*conn
	next     atomic.Uint32
	patience *pool.Patience // nil: no timeout of the client's own
	once     sync.Once
	closed   atomic.Bool
	closeErr error
}

// Dial opens o.Conns connections to addr ("host:port") and returns when gRPC is ready on all of them. If one fails,
// or ctx ends first, it closes the others and returns an error with the address; there is no second try. Names are
// resolved by o.DialContext alone; proxies, retries and service configurations play no part.
//
// A call whose context has a deadline is ended by that. Any other is ended by o.Timeout; see pool.Patience.
func Dial(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	set, err := grpcopts.Parse(o)
	if err != nil {
		return nil, fmt.Errorf("grpc: %w", err)
	}
	o = o.Defaulted()
	c := &client{}
	for range o.Conns {
		n, err := newConn(addr, set, o)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("grpc: dialling %s: %w", addr, err), c.Close())
		}
		c.conns = append(c.conns, n)
	}
	for _, n := range c.conns {
		n.cc.Connect() // all at once, then wait for each
	}
	for _, n := range c.conns {
		if err := n.ready(ctx, addr); err != nil {
			return nil, errors.Join(fmt.Errorf("grpc: dialling %s: %w", addr, err), c.Close())
		}
	}
	c.patience = pool.NewPatience(o.Timeout, o.InFlight)
	return c, nil
}

// Close ends the calls in flight; they and later calls fail with protocol.ErrClosed in a protocol.Fault.
func (c *client) Close() error {
	c.once.Do(func() {
		c.closed.Store(true)
		var errs []error
		for _, n := range c.conns {
			errs = append(errs, n.cc.Close())
		}
		c.patience.Stop()
		c.closeErr = errors.Join(errs...)
	})
	return c.closeErr
}

// conn is the connection for the next call.
func (c *client) conn() *conn {
	if len(c.conns) == 1 {
		return c.conns[0]
	}
	return c.conns[int(c.next.Add(1)%uint32(len(c.conns)))]
}

// bound is the context for a call made with ctx, and what to do when it has ended.
func (c *client) bound(ctx context.Context) (context.Context, func()) {
	return c.patience.Bound(ctx)
}

func dialOptions(set grpcopts.Settings, o protocol.Options) []grpc.DialOption {
	calls := []grpc.CallOption{grpc.MaxCallRecvMsgSize(o.MaxMessage), grpc.MaxCallSendMsgSize(o.MaxMessage)}
	if codec := set.ForcedCodec(); codec != nil {
		calls = append(calls, grpc.ForceCodecV2(codec))
	}
	opts := []grpc.DialOption{
		grpc.WithDefaultCallOptions(calls...),
		grpc.WithNoProxy(),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		// An idle connection is closed before the server would do it; the next call opens it again.
		grpc.WithIdleTimeout(max(o.ServerIdle/2, 1)),
		// A connection that breaks comes back soon after its server does.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
	}
	if o.Authority != "" {
		opts = append(opts, grpc.WithAuthority(o.Authority))
	}
	if set.Compression {
		//lint:ignore SA1019 one that is registered instead is named in a header of every call of every subject, compressed or not
		opts = append(opts, grpc.WithCompressor(grpc.NewGZIPCompressor()), grpc.WithDecompressor(grpc.NewGZIPDecompressor()))
	}
	if set.Window != nil {
		opts = append(opts, grpc.WithStaticStreamWindowSize(*set.Window), grpc.WithStaticConnWindowSize(*set.Window))
	}
	if set.SharedWriteBuffer != nil {
		//lint:ignore SA1019 deprecated because it is on by default now; what off costs is still to be measured
		opts = append(opts, grpc.WithSharedWriteBuffer(*set.SharedWriteBuffer))
	}
	if set.ReadBuffer != nil {
		opts = append(opts, grpc.WithReadBufferSize(*set.ReadBuffer))
	}
	if set.WriteBuffer != nil {
		opts = append(opts, grpc.WithWriteBufferSize(*set.WriteBuffer))
	}
	return opts
}
