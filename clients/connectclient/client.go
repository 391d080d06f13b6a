// Package connectclient is the API's client over Connect with connect-go and net/http's HTTP/2. It knows the wire and what
// a protocol is, not the server and not who calls.
package connectclient

import (
	"cmp"
	"context"
	"fmt"

	"connectrpc.com/connect"

	"bakeoff/proto/connectopts"
	"bakeoff/proto/inf/infconnect"
	"bakeoff/proto/routeguide/routeguideconnect"
	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
)

// Knobs are Connect's own options; both ends know all of them.
var Knobs = connectopts.Knobs

type client struct {
	http  *nethttp.Client
	data  infconnect.DataClient
	route routeguideconnect.RouteGuideClient
}

// Dial opens o.Conns connections to addr ("host:port") before it returns, or fails with the address in the error. ctx
// bounds the dialling alone. Whether HTTP/2 is spoken there, the first call finds out.
//
// A call whose context has a deadline is ended by that. Any other is ended by o.Timeout; see pool.Patience.
func Dial(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	set, err := connectopts.Parse(o)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	o = o.Defaulted()
	h, err := nethttp.Dial(ctx, addr, nethttp.HTTP2, o)
	if err != nil {
		return nil, fmt.Errorf("connect: dial %s: %w", addr, err)
	}
	url, sender, opts := h.Scheme+"://"+addr, sender{host: cmp.Or(o.Authority, addr)}, clientOptions(set, o)
	return &client{
		http:  h,
		data:  infconnect.NewDataClient(sender, url, opts...),
		route: routeguideconnect.NewRouteGuideClient(sender, url, opts...),
	}, nil
}

// Close ends the calls in flight; they and later calls fail with protocol.ErrClosed in a protocol.Fault.
func (c *client) Close() error { return c.http.Close() }

func clientOptions(set connectopts.Settings, o protocol.Options) []connect.ClientOption {
	opts := []connect.ClientOption{connect.WithReadMaxBytes(o.MaxMessage), connect.WithSendMaxBytes(o.MaxMessage)}
	switch set.Wire {
	case connectopts.GRPC:
		opts = append(opts, connect.WithGRPC())
	case connectopts.GRPCWeb:
		opts = append(opts, connect.WithGRPCWeb())
	}
	if set.JSON {
		opts = append(opts, connect.WithProtoJSON())
	}
	if set.Compression {
		return append(opts, connect.WithSendGzip())
	}
	return append(opts, connect.WithAcceptCompression(protocol.Gzip, nil, nil))
}
