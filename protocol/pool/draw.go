package pool

import (
	"context"
	"time"

	"bakeoff/protocol"
)

// Until is when a call that begins now ends, under ctx and the client's own timeout (0: none). Zero is never; exact
// says that it is the context's own deadline. Guard.Begin takes both.
func Until(ctx context.Context, now time.Time, timeout time.Duration) (until time.Time, exact bool) {
	until, exact = ctx.Deadline()
	if !exact && timeout > 0 {
		until = now.Add(timeout)
	}
	return until, exact
}

// Draw draws a connection for a call that ends at until (zero: never) or with ctx. A free one that fit refuses is
// renewed, which is no retry: nothing was sent on it for this call. fit must take one that was just dialled. Only a call
// that must wait or dial pays for a context of its own.
//
// The error is what DialError makes of it: it is the call's.
func (p *Pool[C]) Draw(ctx context.Context, until time.Time, fit func(C) bool) (*Lease[C], error) {
	if err := protocol.CallError(ctx); err != nil {
		return nil, err
	}
	l, ok := p.Try()
	if ok && fit(l.Conn) {
		return l, nil
	}
	if !until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	var err error
	if !ok {
		if l, err = p.Get(ctx); err == nil && fit(l.Conn) {
			return l, nil
		}
	}
	if err == nil {
		l, err = p.Renew(ctx, l)
	}
	if err != nil {
		return nil, DialError(ctx, err)
	}
	return l, nil
}
