package nethttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/pool"
)

// Call is one call's hold of a connection. It ends once: by End or by Fail. Drop ends it if nothing else has.
type Call struct {
	// Taken says that the server has surely got the request. RoundTrip sets it with the answer; who streams may earlier.
	Taken bool

	c       *Client
	ctx     context.Context // the caller's
	bound   context.Context
	release func()
	lease   *pool.Lease[*Lane] // HTTP/1.1
	mux     *mux               // HTTP/2
	ended   bool
}

// Begin draws a connection for a call of HTTP. The error is the call's.
func (c *Client) Begin(ctx context.Context) (*Call, error) {
	if err := protocol.CallError(ctx); err != nil {
		return nil, err
	}
	if c.closed.Load() {
		return nil, pool.Closed()
	}
	now := time.Now()
	if c.version == HTTP1 {
		until, _ := pool.Until(ctx, now, c.timeout)
		l, err := c.draw(ctx, now, until, false)
		if err != nil {
			return nil, err
		}
		k := &Call{c: c, ctx: ctx, lease: l}
		k.bound, k.release = c.patience.Bound(ctx)
		if err := l.Conn.start(c, now); err != nil {
			return nil, k.Fail(err)
		}
		return k, nil
	}
	k := &Call{c: c, ctx: ctx}
	k.bound, k.release = c.patience.Bound(ctx)
	var err error
	if k.mux, err = c.muxes.draw(k.bound); err != nil {
		k.ended = true
		defer k.release()
		if late := c.patience.Late(k.bound); late != nil {
			return nil, late
		}
		if gone := protocol.CallError(ctx); gone != nil {
			return nil, gone
		}
		return nil, pool.DialError(k.bound, err)
	}
	return k, nil
}

// start begins a call of HTTP on the lane. Its deadline is its context's: the socket has none, because net/http reads from
// an idle connection too.
func (k *Lane) start(c *Client, now time.Time) (err error) {
	if err := k.Begin(context.Background(), now, time.Time{}, false); err != nil {
		return err
	}
	if k.http == nil {
		k.http, err = c.over(k.Conn)
	}
	return err
}

// Context is what the call's requests are made with.
func (k *Call) Context() context.Context { return k.bound }

// RoundTrip sends a request, which has the call's Context, and returns the head of its answer. Give an error to Fail.
func (k *Call) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	if k.mux != nil {
		if resp, err = k.mux.RoundTrip(r); err == nil && !k.mux.answered.Load() {
			k.mux.answered.Store(true)
		}
	} else {
		resp, err = k.lease.Conn.http.RoundTrip(r)
		if err == nil && resp.ProtoMinor == 0 && k.c.suspect != nil {
			resp, err = plainly(resp)
		}
	}
	if err == nil {
		k.Taken = true
	}
	return resp, err
}

// plainly tells the answer of HTTP/1.0 that net/http's server gives to plain words where it speaks TLS from other answers: it
// is an error, and no answer.
func plainly(resp *http.Response) (*http.Response, error) {
	if resp.StatusCode != http.StatusBadRequest {
		return resp, nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return nil, err
	}
	if bytes.Contains(body, []byte("HTTP request to an HTTPS server")) {
		return nil, fmt.Errorf("the server: %q", body)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// End gives the connection back. good says that the answer was read to its end and nothing else can arrive; a connection of
// HTTP/2 is kept all the same, if the answer's body has been closed.
func (k *Call) End(good bool) {
	k.ended = true
	k.release()
	if l := k.lease; l != nil {
		whole := l.Conn.End()
		// net/http gives a connection up, some microseconds later, whose own writer has not told it within 50 ms that the request
		// was written: a busy machine is enough for that.
		k.c.lanes.Put(l, good && whole && l.Conn.http.Available() > 0)
	}
}

// Fail gives the connection up and says why its call failed.
func (k *Call) Fail(err error) error {
	err, gone := k.fault(err)
	answered := k.Taken
	if k.mux != nil {
		answered = k.mux.answered.Load()
		if gone {
			k.mux.retired.Store(true)
		}
	}
	if !answered && k.c.suspect != nil {
		err = k.c.suspect.Judge(k.ctx, k.c.addr, err)
	}
	k.End(false)
	return err
}

// Drop ends the call if nothing else has: somebody's code has panicked, or left by Goexit.
func (k *Call) Drop() {
	if !k.ended {
		k.End(false)
	}
}

// Other is a call on a lane that carries no HTTP. It ends once, by End or by Fail.
type Other struct {
	*Lane
	// Answered says that the connection has brought an answer.
	Answered bool

	c     *Client
	l     *pool.Lease[*Lane]
	ctx   context.Context
	ended bool
}

// BeginOther draws a lane of HTTP/1.1 that carries no HTTP: it was just dialled, or an earlier BeginOther had it. Its
// deadline is on the socket, and its context closes it.
func (c *Client) BeginOther(ctx context.Context) (*Other, error) {
	now := time.Now()
	until, exact := pool.Until(ctx, now, c.timeout)
	l, err := c.draw(ctx, now, until, true)
	if err != nil {
		return nil, err
	}
	k := &Other{Lane: l.Conn, c: c, l: l, ctx: ctx, Answered: l.Conn.Other != nil}
	if err := k.Begin(ctx, now, until, exact); err != nil {
		return nil, k.Fail(err, false)
	}
	return k, nil
}

// End gives the lane back. good says that nothing but the next call's answer can arrive on it.
func (k *Other) End(good bool) {
	k.ended = true
	whole := k.Lane.End()
	k.c.lanes.Put(k.l, good && whole)
}

// Fail gives the lane up and says why its call failed; taken, that the server has surely got the call.
func (k *Other) Fail(err error, taken bool) error {
	err = Fault(k.ctx, err, taken)
	if !k.Answered && k.c.suspect != nil {
		err = k.c.suspect.Judge(k.ctx, k.c.addr, err)
	}
	k.End(false)
	return err
}

// Drop ends the call if nothing else has.
func (k *Other) Drop() {
	if !k.ended {
		k.End(false)
	}
}
