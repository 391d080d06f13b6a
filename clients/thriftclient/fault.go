package thriftclient

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

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

// dialError says why there is no connection for a call: ctx ended, the client was closed, or dialling failed.
func dialError(ctx context.Context, err error) error {
	if gone := protocol.CallError(ctx); gone != nil {
		return gone
	}
	switch {
	case errors.Is(err, pool.ErrClosed):
		return closedError()
	case errors.Is(err, syscall.ECONNREFUSED):
		return &protocol.Fault{Kind: protocol.Refused, Err: err}
	case local(err):
		return &protocol.Fault{Kind: protocol.Local, Err: err}
	case timeout(err):
		return &protocol.Fault{Kind: protocol.Timeout, Err: err}
	}
	return &protocol.Fault{Kind: protocol.Reset, Err: err}
}

// callError says why a call got no answer. The connection is given up whatever it says.
func (k *conn) callError(ctx context.Context, err error) error {
	if gone := protocol.CallError(ctx); gone != nil {
		return gone
	}
	var socket *stack.SocketError
	switch {
	case errors.Is(err, net.ErrClosed): // nobody closes a connection in use but the client's Close
		return closedError()
	case !errors.As(err, &socket):
		return libraryError(err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return service.Errorf(service.DeadlineExceeded, "the client's deadline passed")
	case errors.Is(err, stack.ErrOverLimit):
		return service.Errorf(service.ResourceExhausted, "the answer: %v", stack.ErrOverLimit)
	case local(err):
		return &protocol.Fault{Kind: protocol.Local, Err: err}
	case k.Got() == 0 && hungUp(err):
		return &protocol.Fault{Kind: protocol.StaleConn, Err: err}
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

func closedError() error { return &protocol.Fault{Kind: protocol.Local, Err: pool.ErrClosed} }

// local says whether this machine ran out of something.
func local(err error) bool {
	for _, e := range []error{syscall.EADDRNOTAVAIL, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// hungUp says whether err is what a connection reports that the peer has closed.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

func timeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
