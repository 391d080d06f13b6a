package grpcclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/health/grpc_health_v1"

	"bakeoff/proto/grpcopts"
	"bakeoff/proto/inf"
	"bakeoff/proto/routeguide"
	"bakeoff/protocol"
	"bakeoff/protocol/pool"
)

// conn is one connection and the generated clients over it. It remembers why a socket could not be opened the last time,
// since gRPC's statuses tell that in words alone.
type conn struct {
	cc      *grpc.ClientConn
	data    inf.DataClient
	route   routeguide.RouteGuideClient
	dialErr atomic.Pointer[error] // of the last dial or handshake that failed; nil: none has
	plain   bool                  // without TLS
}

// newConn prepares a connection without opening it.
func newConn(addr string, set grpcopts.Settings, o protocol.Options) (*conn, error) {
	c := new(conn)
	dial := func(ctx context.Context, addr string) (net.Conn, error) {
		s, err := o.DialContext(ctx, "tcp", addr)
		if err != nil {
			c.dialErr.Store(&err) // kept after a success: a call may still bring the status of the failure before it
		}
		return s, err
	}
	secure, err := o.ClientTLS(addr, grpcopts.ALPN)
	if err != nil {
		return nil, err
	}
	c.plain = secure == nil
	opts := append(dialOptions(set, o), grpc.WithContextDialer(dial), grpc.WithTransportCredentials(protection(secure, &c.dialErr)))
	cc, err := grpc.NewClient("passthrough:///"+addr, opts...)
	if err != nil {
		return nil, err
	}
	c.cc, c.data, c.route = cc, inf.NewDataClient(cc), routeguide.NewRouteGuideClient(cc)
	return c, nil
}

// ready waits until calls can be made. The first failure is final, although gRPC itself would go on trying.
func (c *conn) ready(ctx context.Context, addr string) error {
	for {
		switch state := c.cc.GetState(); state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure:
			return c.whyNot(ctx, addr)
		default:
			if !c.cc.WaitForStateChange(ctx, state) {
				return fmt.Errorf("gave up while it was %v: %w", state, ctx.Err())
			}
		}
	}
}

// whyNot is why the connection failed: its socket was not opened, or the peer on it does not speak gRPC. The second
// reason is only told to a call.
func (c *conn) whyNot(ctx context.Context, addr string) error {
	if dialled := c.dialErr.Load(); dialled != nil {
		return pool.DialFault(*dialled)
	}
	_, err := grpc_health_v1.NewHealthClient(c.cc).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err == nil {
		err = errors.New("the first connection broke")
	}
	if c.plain && protocol.SpeaksTLS(ctx, addr) {
		return protocol.PlainToTLS(err)
	}
	if strings.Contains(err.Error(), saysAlert) {
		return &protocol.Fault{Kind: protocol.BadTLS, Err: fmt.Errorf("the server refused this client: %w", err)}
	}
	return &protocol.Fault{Kind: protocol.Malformed, Err: fmt.Errorf("no gRPC is spoken there: %w", err)}
}
