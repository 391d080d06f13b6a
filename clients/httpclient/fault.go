package httpclient

import (
	"context"
	"errors"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
	"bakeoff/httpapi/calling"
	"bakeoff/protocol"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// fault says why a call got no answer.
func (k *lane) fault(ctx context.Context, err error) error {
	if gone := protocol.CallError(ctx); gone != nil {
		return gone
	}
	var (
		judged   *protocol.Fault
		declared *service.Error
	)
	switch {
	case errors.As(err, &judged):
		return judged
	case errors.As(err, &declared):
		return declared
	case errors.Is(err, fasthttp.ErrBodyTooLarge) || errors.Is(err, httpapi.ErrLineTooLong):
		return calling.LargeAnswer()
	}
	if fault := pool.SocketError(err, k.taken); fault != nil {
		return fault
	}
	return calling.Malformed(err)
}
