package main

import (
	"context"
	"net"

	"github.com/apache/thrift/lib/go/thrift"

	"bakeoff/protocol"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/stack"
)

type constantThrift struct{}

// thriftAnswer is one for all calls: encoding only reads it.
var thriftAnswer = &inf.DataTypeRp{Authrp: &inf.AuthRp{}, CodeId: answer.CodeID, CnName: answer.CnName}

func (constantThrift) DataType(context.Context, *inf.DataTypeRq) (*inf.DataTypeRp, error) {
	return thriftAnswer, nil
}

func (constantThrift) Login(context.Context, *inf.LoginRq) (*inf.LoginRp, error) {
	return nil, thrift.NewTApplicationException(thrift.UNKNOWN_METHOD, "this server answers DataType alone")
}

// bareThrift has the library's own socket below the same layers. That one has no end for idle connections that would
// not also be an end for slow calls, so it has none here.
func bareThrift(ctx context.Context, l net.Listener, o protocol.Options) error {
	s, err := stack.New(o) // the library's factories, under the same options
	if err != nil {
		return err
	}
	// Where a user of the library sets it: a variable of the process.
	thrift.ServerConnectivityCheckInterval = s.Check
	listener := thrift.NewTServerSocketFromFactoryTimeout(func(net.Addr) (net.Listener, error) { return l, nil }, l.Addr(), 0)
	server := thrift.NewTSimpleServer4(inf.NewDataProcessor(constantThrift{}), listener, s.Transports(), s.Protocols())
	return until(ctx, server.Serve, func() { server.Stop() })
}
