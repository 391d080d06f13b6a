package main

import (
	"context"
	"net"

	"github.com/apache/thrift/lib/go/thrift"

	"bakeoff/protocol"
	"bakeoff/thrift/connectivity"
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

func (constantThrift) Echo(context.Context, *inf.Payload) (*inf.Payload, error) {
	return nil, thrift.NewTApplicationException(thrift.UNKNOWN_METHOD, "this server answers DataType alone")
}

// bareThrift has the library's own socket below the same layers. That one has no end for idle connections that would
// not also be an end for slow calls, so it has none here.
func bareThrift(ctx context.Context, l net.Listener, o protocol.Options) error {
	s, err := stack.New(o) // the library's factories, under the same options
	if err != nil {
		return err
	}
	listener := thrift.NewTServerSocketFromFactoryTimeout(func(net.Addr) (net.Listener, error) { return l, nil }, l.Addr(), 0)
	processor := checking{inf.NewDataProcessor(constantThrift{}), connectivity.With(context.Background(), s.Check)}
	server := thrift.NewTSimpleServer4(processor, listener, s.Transports(), s.Protocols())
	return until(ctx, server.Serve, func() { server.Stop() })
}

// checking tells the generated code how often to look whether the client is there. A user of the library would set its
// variable for that, which a test that serves in its own process can't.
type checking struct {
	thrift.TProcessor
	ctx context.Context
}

func (c checking) Process(_ context.Context, in, out thrift.TProtocol) (bool, thrift.TException) {
	return c.TProcessor.Process(c.ctx, in, out)
}
