package pool

import (
	"context"
	"errors"
	"sync"

	"bakeoff/protocol"
	"bakeoff/service"
)

// Suspect finds out for a plain client whether its server speaks TLS: such a server hangs up on a plain request, or
// answers with an alert that is gibberish to the client, so the failure alone does not tell. It asks once, on a
// connection of its own, when a call fails on a connection that has never brought an answer; such calls wait for the
// verdict, a second at most. The zero value is ready.
type Suspect struct {
	once sync.Once
	tls  bool
}

// Judge is the error of a call that failed with err on a connection to addr that has never brought an answer.
func (s *Suspect) Judge(ctx context.Context, addr string, err error) error {
	var fault *protocol.Fault
	var failed *service.Error
	if ctx.Err() != nil || errors.As(err, &failed) && failed.Code == service.DeadlineExceeded ||
		errors.As(err, &fault) && fault.Kind == protocol.Local {
		return err // this side ended it
	}
	s.once.Do(func() { s.tls = protocol.SpeaksTLS(ctx, addr) })
	if s.tls {
		return protocol.PlainToTLS(err)
	}
	return err
}
