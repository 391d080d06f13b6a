package nethttp

import (
	"context"
	"errors"
	"strings"

	"bakeoff/protocol"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// fault says why a call got no answer; gone, that its connection of HTTP/2 takes no more calls.
func (k *Call) fault(err error) (_ error, gone bool) {
	if ended := protocol.CallError(k.ctx); ended != nil {
		return ended, false
	}
	if late := k.c.patience.Late(k.bound); late != nil {
		return late, false
	}
	if k.c.closed.Load() {
		return pool.Closed(), false
	}
	if k.mux == nil {
		return Fault(k.ctx, err, k.Taken), false
	}
	// A connection that carries other calls too does not grow stale: it breaks under them, or its server has said goodbye.
	return Fault(k.ctx, err, true), says(err, staleWords)
}

// The words by which net/http tells what it has no exported errors for. The tests meet each of them, so that a version
// that changes its words is noticed.
var staleWords = []string{
	"http: server closed idle connection",
	"http2: client conn not usable",
	"http2: client conn could not be established",
	"http2: Transport received Server's graceful shutdown GOAWAY",
}

var resetWords = []string{
	"http2: server sent GOAWAY and closed the connection",
	"http2: client connection lost",
}

// streamError is what net/http's errors of one stream of HTTP/2 can be had as.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return "http2: the stream was reset" }

// refusedStream is the code with which a server says that it has not begun with a call.
const refusedStream = 7

// Fault says why a call with that context got no answer; taken, that the server has surely got it. An error that says so
// already is returned as it is.
func Fault(ctx context.Context, err error, taken bool) error {
	if ended := protocol.CallError(ctx); ended != nil {
		return ended
	}
	var (
		judged   *protocol.Fault
		declared *service.Error
		stream   streamError
	)
	switch {
	case errors.As(err, &judged):
		return judged
	case errors.As(err, &declared):
		return declared
	case errors.As(err, &stream) && stream.Code == refusedStream, says(err, staleWords):
		return &protocol.Fault{Kind: protocol.StaleConn, Err: err}
	case errors.As(err, &stream), says(err, resetWords):
		return &protocol.Fault{Kind: protocol.Reset, Err: err}
	}
	if fault := pool.SocketError(err, taken); fault != nil {
		return fault
	}
	return &protocol.Fault{Kind: protocol.Malformed, Err: err}
}

func says(err error, words []string) bool {
	text := err.Error()
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
