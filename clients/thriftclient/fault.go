package thriftclient

import (
	"context"
	"errors"

	"bakeoff/protocol"
	"bakeoff/protocol/pool"
	"bakeoff/service"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/stack"
	"bakeoff/thrift/wire"

	"github.com/apache/thrift/lib/go/thrift"
)

// declaredError is what a service answered.
func declaredError(m *inf.ServiceError) error {
	err := wire.DecodeError(m)
	if _, ok := err.(*wire.UnknownCodeError); ok {
		return &protocol.Fault{Kind: protocol.Malformed, Err: err}
	}
	return err
}

// callError says why a call got no answer. The connection is given up whatever it says.
func (k *conn) callError(ctx context.Context, err error) error {
	if gone := protocol.CallError(ctx); gone != nil {
		return gone
	}
	var socket *stack.SocketError
	switch {
	case !errors.As(err, &socket):
		return libraryError(err)
	case errors.Is(err, stack.ErrOverLimit):
		return service.Errorf(service.ResourceExhausted, "the answer: %v", stack.ErrOverLimit)
	}
	if fault := pool.SocketError(err, k.Got() > 0); fault != nil {
		return fault
	}
	return &protocol.Fault{Kind: protocol.Reset, Err: err}
}

// libraryError is what Thrift's layers make of an answer that did arrive.
func libraryError(err error) error {
	var frame thrift.TTransportException
	var message thrift.TProtocolException
	switch {
	case errors.As(err, &frame): // the only thing that the framed transport refuses is the size of a frame
		return service.Errorf(service.ResourceExhausted, "the answer: %v", err)
	case errors.As(err, &message) && message.TypeId() == thrift.SIZE_LIMIT:
		return service.Errorf(service.ResourceExhausted, "the answer: %v", err)
	}
	return &protocol.Fault{Kind: protocol.Malformed, Err: err}
}
