package httpclient

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// dialError says why there is no connection for a call: ctx ended, the client was closed, or dialling failed.
func dialError(ctx context.Context, err error) error {
	if gone := protocol.CallError(ctx); gone != nil {
		return gone
	}
	kind := protocol.Reset
	switch {
	case errors.Is(err, pool.ErrClosed) || local(err):
		kind = protocol.Local
	case errors.Is(err, syscall.ECONNREFUSED):
		kind = protocol.Refused
	case timeout(err):
		kind = protocol.Timeout
	}
	return &protocol.Fault{Kind: kind, Err: err}
}

// fault says why a call got no answer.
func (k *lane) fault(ctx context.Context, err error) error {
	if gone := protocol.CallError(ctx); gone != nil {
		return gone
	}
	var (
		judged   *protocol.Fault
		declared *service.Error
		closed   *websocket.CloseError
	)
	switch {
	case errors.As(err, &judged):
		return judged
	case errors.As(err, &declared):
		return declared
	case errors.Is(err, pool.ErrClosed) || errors.Is(err, net.ErrClosed): // nobody else closes a connection in use
		return &protocol.Fault{Kind: protocol.Local, Err: pool.ErrClosed}
	case timeout(err):
		return service.Errorf(service.DeadlineExceeded, "the client's deadline passed")
	case errors.Is(err, fasthttp.ErrBodyTooLarge) || errors.Is(err, httpapi.ErrLineTooLong):
		return service.Errorf(service.ResourceExhausted, "the answer is larger than the limit")
	case local(err):
		return &protocol.Fault{Kind: protocol.Local, Err: err}
	case errors.As(err, &closed) && closed.Code == websocket.CloseMessageTooBig:
		return service.Errorf(service.ResourceExhausted, "the server: a message is over the limit")
	case hungUp(err) && !k.taken:
		// As in other HTTP clients: whether the server had closed the connection just before the request came, or
		// gave up just after, looks the same here.
		return &protocol.Fault{Kind: protocol.StaleConn, Err: err}
	case hungUp(err):
		return &protocol.Fault{Kind: protocol.Reset, Err: err}
	}
	return malformed(err)
}

func malformed(err error) error { return &protocol.Fault{Kind: protocol.Malformed, Err: err} }

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
	var closed *websocket.CloseError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ECONNRESET) || errors.As(err, &closed)
}

func timeout(err error) bool {
	var t net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}
