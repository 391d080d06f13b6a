package grpcclient

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"bakeoff/proto/convert"
	"bakeoff/protocol"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// fail is what a call's error means to its caller. ctx is the caller's context, call the one that the call was made with.
// The service's own answer counts before all else, then the reasons of this side, then what gRPC says.
func (c *client) fail(ctx, call context.Context, n *conn, err error) error {
	st := status.Convert(err)
	if own := convert.ServiceError(st); own != nil {
		return own
	}
	if given := protocol.CallError(ctx); given != nil {
		return given
	}
	if late := c.patience.Late(call); late != nil {
		return late
	}
	if c.closed.Load() {
		return pool.Closed()
	}
	return fromStatus(st, n.dialErr.Load())
}

// The words by which grpc-go's statuses tell what their codes do not. The tests meet each of them, so that a version
// that changes its words is noticed.
const (
	saysDialling    = "Error while dialing"             // there is no connection, and none could be made
	saysHandshaking = "authentication handshake failed" // likewise, at its TLS
	saysAlert       = "remote error: tls: "             // the server refused this client after its handshake
	saysDraining    = "draining"                        // the server was closing the connection before the call was sent
	saysRefused     = "REFUSED_STREAM"                  // it did so as the call arrived
	saysBrokenOff   = "stream terminated by RST_STREAM" // the server broke this call off
	saysMarshalling = "grpc: error while marshaling"    // this side could not write the message
)

// fromStatus is what a status means that no service made. dialErr is why the connection's last dial that failed did so, or nil.
func fromStatus(st *status.Status, dialErr *error) error {
	msg := st.Message()
	fault := func(kind string) error {
		return &protocol.Fault{Kind: kind, Err: fmt.Errorf("grpc: %v: %s", st.Code(), msg)}
	}
	if st.Code() == codes.DeadlineExceeded { // in whatever words: a server that gives up at the deadline breaks the stream off
		return &service.Error{Code: service.DeadlineExceeded, Msg: msg}
	}
	if strings.HasPrefix(msg, saysBrokenOff) {
		if strings.Contains(msg, saysRefused) {
			return fault(protocol.StaleConn)
		}
		return fault(protocol.Reset)
	}
	switch st.Code() {
	case codes.Unavailable:
		switch {
		case strings.Contains(msg, saysAlert):
			return fault(protocol.BadTLS)
		case (strings.Contains(msg, saysDialling) || strings.Contains(msg, saysHandshaking)) && dialErr != nil:
			return fault(pool.DialKind(*dialErr))
		case strings.Contains(msg, saysDraining):
			return fault(protocol.StaleConn)
		}
		return fault(protocol.Reset)
	case codes.Canceled:
		return fault(protocol.Reset) // not by this side: fail has asked the context
	case codes.Internal:
		if strings.HasPrefix(msg, saysMarshalling) {
			return &service.Error{Code: service.InvalidArgument, Msg: msg}
		}
		return fault(protocol.Malformed)
	}
	if code, ok := convert.Code(st.Code()); ok {
		return &service.Error{Code: code, Msg: msg} // a limit of gRPC's on either side, or a server that sends no detail
	}
	return fault(protocol.Malformed)
}
