package thriftclient

import (
	"net"

	"bakeoff/protocol/pool"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/gen/routeguide"
	"bakeoff/thrift/stack"

	"github.com/apache/thrift/lib/go/thrift"
)

// conn is one connection with the library's clients of both services on it, and with what ends their calls. All
// but Abort is called by whoever holds its lease.
type conn struct {
	*pool.Guard
	stack.Socket
	data  *inf.DataClient
	route *routeguide.RouteGuideClient
	// answered says that it has brought an answer.
	answered bool
}

func newConn(s *stack.Stack, raw net.Conn) (*conn, error) {
	k := &conn{Guard: pool.NewGuard(raw), Socket: s.NewSocket(raw)}
	p, err := s.Protocol(&k.Socket)
	if err != nil {
		raw.Close()
		return nil, err
	}
	lib := thrift.NewTStandardClient(p, p)
	k.data, k.route = inf.NewDataClient(lib), routeguide.NewRouteGuideClient(lib)
	return k, nil
}
