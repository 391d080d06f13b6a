package httpclient

import (
	"context"
	"errors"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

	"bakeoff/httpapi"
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
		closed   *websocket.CloseError
	)
	switch {
	case errors.As(err, &judged):
		return judged
	case errors.As(err, &declared):
		return declared
	case errors.Is(err, fasthttp.ErrBodyTooLarge) || errors.Is(err, httpapi.ErrLineTooLong):
		return service.Errorf(service.ResourceExhausted, "the answer is larger than the limit")
	case errors.As(err, &closed) && closed.Code == websocket.CloseMessageTooBig:
		return service.Errorf(service.ResourceExhausted, "the server: a message is over the limit")
	case errors.As(err, &closed):
		return pool.HungUp(err, k.taken)
	}
	if fault := pool.SocketError(err, k.taken); fault != nil {
		return fault
	}
	return malformed(err)
}

func malformed(err error) error { return &protocol.Fault{Kind: protocol.Malformed, Err: err} }
