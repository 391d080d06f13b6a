package connectclient

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/grpc/codes"

	"bakeoff/proto/convert"
	"bakeoff/protocol"
	"bakeoff/service"
)

// fail ends a call and says what its error means to its caller. The service's own answer counts before all else, then the
// reasons of this side and of the transport, then what Connect says.
func (k call) fail(err error) error {
	var ce *connect.Error
	if errors.As(err, &ce) {
		if own := serviceError(ce); own != nil {
			k.End(true)
			return own
		}
	}
	if ce != nil && ce.Code() == connect.CodeDeadlineExceeded { // a server that gives up at the deadline may break the stream off
		k.End(false)
		return &service.Error{Code: service.DeadlineExceeded, Msg: ce.Message()}
	}
	var broke transportError
	if ce == nil || errors.As(err, &broke) || k.Context().Err() != nil {
		return k.Fail(err)
	}
	k.End(true)
	return fromCode(ce)
}

// failed is fail for a stream, whose end it lets through.
func (k call) failed(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return k.fail(err)
}

// sent is what the error of a sent message means while another goroutine receives: io.EOF is left to that, be it the end
// of the call or of its context. It does not end the call.
func sent(err error) error {
	var ce *connect.Error
	var broke transportError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &ce) || errors.As(err, &broke) || errors.Is(err, io.EOF):
		return io.EOF
	case ce.Code() == connect.CodeCanceled || ce.Code() == connect.CodeDeadlineExceeded:
		return io.EOF
	}
	return fromCode(ce)
}

// serviceError is the error that the service itself answered with, or nil.
func serviceError(ce *connect.Error) *service.Error {
	for _, d := range ce.Details() {
		if m, err := d.Value(); err == nil {
			if e := convert.Detail(m); e != nil {
				return e
			}
		}
	}
	return nil
}

// saysMarshalling begins the library's error of a message that it could not write. A test meets it.
const saysMarshalling = "marshal message"

// fromCode is what an error means that no service made: Connect itself did, on the server or, where it is not of the wire,
// here.
func fromCode(ce *connect.Error) error {
	code, known := convert.Code(codes.Code(ce.Code()))
	own := !connect.IsWireError(ce)
	switch {
	case own && strings.HasPrefix(ce.Message(), saysMarshalling):
		return &service.Error{Code: service.InvalidArgument, Msg: ce.Message()}
	case own && code != service.ResourceExhausted && code != service.DeadlineExceeded, !known:
		return &protocol.Fault{Kind: protocol.Malformed, Err: fmt.Errorf("connect: %w", ce)}
	}
	return &service.Error{Code: code, Msg: ce.Message()}
}
