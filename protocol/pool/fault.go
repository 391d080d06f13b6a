package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

// DialError says why there is no connection for a call, or for a client. ctx is what bounds the dialling.
//
// A dialler that keeps the context's deadline on the socket may report it as a timeout of its own, some microseconds
// before the context says that it has ended. So a timeout at or after the deadline is the deadline, whatever ctx says.
func DialError(ctx context.Context, err error) error {
	if gone := protocol.CallError(ctx); gone != nil {
		return gone
	}
	if errors.Is(err, protocol.ErrClosed) {
		return Closed()
	}
	kind := DialKind(err)
	if deadline, ok := ctx.Deadline(); ok && kind == protocol.Timeout && !time.Now().Before(deadline) {
		return late()
	}
	return DialFault(err)
}

// DialFault is the fault of a dial that failed with err while its context lived; of a handshake it is there already.
func DialFault(err error) *protocol.Fault {
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		return fault
	}
	return &protocol.Fault{Kind: DialKind(err), Err: err}
}

// DialKind is the protocol.Fault.Kind of a dial that failed with err while its context lived.
func DialKind(err error) string {
	var fault *protocol.Fault
	switch {
	case errors.As(err, &fault):
		return fault.Kind
	case exhausted(err):
		return protocol.Local
	case errors.Is(err, syscall.ECONNREFUSED):
		return protocol.Refused
	case timedOut(err) || errors.Is(err, syscall.ETIMEDOUT):
		return protocol.Timeout
	}
	return protocol.Reset
}

// SocketError says why a call on a guarded connection got no answer, as far as the socket tells: it is nil for an error
// of a layer above. Ask protocol.CallError first. taken says that the server has surely got the call.
func SocketError(err error, taken bool) error {
	var socket *net.OpError
	switch {
	case errors.Is(err, protocol.ErrClosed) || errors.Is(err, net.ErrClosed): // nobody else closes a connection in use
		return Closed()
	case timedOut(err): // the guard has set the deadline
		return late()
	case exhausted(err):
		return &protocol.Fault{Kind: protocol.Local, Err: err}
	case protocol.Alert(err):
		return &protocol.Fault{Kind: protocol.BadTLS, Err: fmt.Errorf("the server refused this client: %w", err)}
	case oneOf(err, io.EOF, io.ErrUnexpectedEOF, syscall.EPIPE, syscall.ECONNRESET):
		return HungUp(err, taken)
	case errors.As(err, &socket):
		return &protocol.Fault{Kind: protocol.Reset, Err: err}
	}
	return nil
}

// HungUp is the fault of a call whose connection the peer has closed. As in other clients, whether a server closed it
// just before the call came, or gave up just after, looks the same while the call is not known to be taken.
func HungUp(err error, taken bool) error {
	if taken {
		return &protocol.Fault{Kind: protocol.Reset, Err: err}
	}
	return &protocol.Fault{Kind: protocol.StaleConn, Err: err}
}

// Closed is the error of a call whose client was closed, before it or in its middle. It is neither the server's nor the
// network's failure.
func Closed() error { return &protocol.Fault{Kind: protocol.Local, Err: protocol.ErrClosed} }

func late() error { return service.Errorf(service.DeadlineExceeded, "the client's deadline passed") }

// exhausted says whether this machine ran out of something.
func exhausted(err error) bool {
	return oneOf(err, syscall.EADDRNOTAVAIL, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM)
}

// timedOut says whether a deadline set on this side passed. ETIMEDOUT is none: it is the kernel that gave the peer up.
func timedOut(err error) bool {
	var t net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &t) && t.Timeout() && !errors.Is(err, syscall.ETIMEDOUT)
}

func oneOf(err error, causes ...error) bool {
	return slices.ContainsFunc(causes, func(cause error) bool { return errors.Is(err, cause) })
}
