package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"bakeoff/protocol"
	"bakeoff/service"
)

var connVectors = []Vector{
	{"concurrent",
		"64 calls at a time, of unlike duration, each get their own answer",
		"buffers that are used again before they are copied, or a client that is shared without a lock", concurrent},
	{"crowd",
		"32 calls at a time over 2 connections wait for their turn and succeed",
		"a pool that refuses or dials where it should wait", crowd},
	{"connections",
		"Dial opens as many connections as Options.Conns says, and calls open no more, or as many as an option has closed after a call",
		"connections that are opened with the first call, or beside the pool, or kept where they are to be closed", connections},
	{"attempts",
		"a call that fails is not made again, nor answered from memory",
		"hidden retries and caches", attempts},
	{"answer-lost",
		"a call whose connection breaks after it was sent fails and is not made again; the client works when the network does",
		"hidden retries on broken connections; connections that are kept though broken", answerLost},
	{"refused",
		"dialling where nobody listens fails, and the error names the address",
		"Dial that does not connect, or hides where it tried", refused},
	{"unknown-option",
		"an option that the protocol does not have is refused by name",
		"Options.Settings in Dial", unknownOption},
	{"close",
		"Close ends the calls in flight, and they and calls after it fail alike: a fault of kind local, for the client is closed",
		"Close that waits for answers, or leaves callers waiting", closes},
}

func concurrent(ctx context.Context, e *Env) error {
	const callers, each = 64, 12
	c, err := e.Dial(ctx, callers, 0, nil)
	if err != nil {
		return err
	}
	return callAtOnce(ctx, c, callers, each)
}

func crowd(ctx context.Context, e *Env) error {
	c, err := e.Dial(ctx, 2, 2, nil)
	if err != nil {
		return err
	}
	return callAtOnce(ctx, c, 32, 4)
}

// callAtOnce makes calls whose answers no other call could have, some of them slower, so that they overtake each other.
func callAtOnce(ctx context.Context, c service.DataAPI, callers, each int) error {
	g, ctx := errgroup.WithContext(ctx)
	for i := range callers {
		g.Go(func() error {
			for j := range each {
				text := fmt.Sprintf("%d.%d %s", i, j, strings.Repeat(string(rune('a'+i%26)), i*j))
				name, want := "echo:"+text, service.DataType{CodeID: int64(len(text)), CnName: text}
				if (i+j)%4 == 0 {
					wait := fmt.Sprintf("%dus", 500+10*i+j)
					name, want = "sleep:"+wait, service.DataType{CnName: wait}
				}
				d, err := ask(ctx, c, name)
				if err != nil {
					return fmt.Errorf("call %d of caller %d (of %d at a time): got error %w", j, i, callers, err)
				}
				if err := same(fmt.Sprintf("call %d of caller %d (of %d at a time)", j, i, callers), d, want); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func connections(ctx context.Context, e *Env) error {
	const conns = 3
	var dialled atomic.Int64
	c, err := e.Dial(ctx, conns, conns, func(o *protocol.Options) {
		dial := o.DialContext
		o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dialled.Add(1)
			return dial(ctx, network, addr)
		}
	})
	if err != nil {
		return err
	}
	if err := same("connections when Dial returns", dialled.Load(), conns); err != nil {
		return err
	}
	if err := callAtOnce(ctx, c, 8, 4); err != nil {
		return err
	}
	const what = "connections after 32 calls, 8 at a time"
	switch n, kept := dialled.Load(), e.kept(conns); {
	case kept < 0 || kept >= conns:
		return same(what, n, conns)
	case kept == 0:
		return same(what+" with one of its own for each", n, 32)
	case n < conns || n > 32:
		return fmt.Errorf("%s, of which %d are kept: got %d, want 3 to 32", what, kept, n)
	}
	return nil
}

// kept is how many of so many connections the subject keeps open between calls; negative for all.
func (e *Env) kept(conns int) int {
	if e.subject.Kept == nil {
		return -1
	}
	return e.subject.Kept(e.subject.Options(conns, conns))
}

func attempts(ctx context.Context, e *Env) error {
	for _, msg := range []string{"attempt 1", "attempt 2", "attempt 3"} {
		_, err := ask(ctx, e.Client, "attempt:"+e.Run)
		if err := fails("a call that counts itself and is unavailable", err, service.Unavailable, msg); err != nil {
			return err
		}
	}
	return nil
}

// broken is a network that loses every answer and then the connection, from when it is cut until it is mended.
type broken struct {
	net.Conn
	cut *atomic.Bool
}

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.cut.Load() {
		b.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func answerLost(ctx context.Context, e *Env) error {
	var cut atomic.Bool
	c, err := e.Dial(ctx, 1, 1, func(o *protocol.Options) {
		dial := o.DialContext
		o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return broken{conn, &cut}, nil
		}
	})
	if err != nil {
		return err
	}
	if err := works(ctx, c, "the dial"); err != nil {
		return err
	}
	cut.Store(true)
	lost, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = ask(lost, c, "attempt:"+e.Run)
	cut.Store(false)
	var se *service.Error
	switch {
	case err == nil || errors.As(err, &se) && strings.HasPrefix(se.Msg, "attempt"):
		return fmt.Errorf("a call whose answer was lost: got an answer all the same (%v): it was made again", err)
	case lost.Err() != nil:
		return fmt.Errorf("a call whose connection broke: returned with its deadline of 5 s (%v), want an error at once", err)
	}
	d, err := ask(ctx, e.Client, "attempts:"+e.Run)
	if err != nil {
		return err
	}
	if d.CodeID > 1 {
		return fmt.Errorf("a call whose answer was lost: it was made %d times, want once", d.CodeID)
	}
	return recovers(lost, c)
}

// recovers calls until a call is answered. The call that broke may return before the client as a whole has noticed, and
// calls that meet the broken connection in between fail too; each of those must say that it was the transport.
func recovers(ctx context.Context, c protocol.Client) error {
	for {
		err := works(ctx, c, "the network was mended")
		var fault *protocol.Fault
		if err == nil || ctx.Err() != nil || !errors.As(err, &fault) {
			return err
		}
	}
}

func refused(ctx context.Context, e *Env) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := e.subject.Dial(ctx, addr, e.subject.Options(1, 1))
	if err == nil {
		c.Close()
		return fmt.Errorf("dial of an address where nobody listens: got a client, want an error")
	}
	if !strings.Contains(err.Error(), addr) {
		return fmt.Errorf("dial of %s, where nobody listens: got error %q, want one that names the address", addr, err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("dial of an address where nobody listens: took the whole 5 s, want an error at once")
	}
	return nil
}

func unknownOption(ctx context.Context, e *Env) error {
	o := e.subject.Options(1, 1)
	o.Knobs = map[string]string{"no-such-option": "1"}
	c, err := e.subject.Dial(ctx, e.addr, o)
	if err == nil {
		c.Close()
		return fmt.Errorf("dial with option no-such-option: got a client, want an error")
	}
	if !strings.Contains(err.Error(), "no-such-option") {
		return fmt.Errorf("dial with option no-such-option: got error %q, want one that names the option", err)
	}
	return nil
}

func closes(ctx context.Context, e *Env) error {
	const after = 20 * time.Millisecond
	return within(after, after+50*time.Millisecond, "a call to a handler of 1 s, whose client is closed after 20 ms", func() error {
		c, err := e.subject.Dial(ctx, e.addr, e.subject.Options(1, 1))
		if err != nil {
			return err
		}
		done := make(chan error, 1)
		timer := time.AfterFunc(after, func() { done <- c.Close() })
		_, errCall := ask(ctx, c, "sleep:1s")
		if timer.Stop() {
			c.Close()
			return fmt.Errorf("a call to a handler of 1 s returned with %v before its client was closed", errCall)
		}
		if err := <-done; err != nil {
			return fmt.Errorf("close: got error %w, want none", err)
		}
		_, errAfter := ask(ctx, c, "echo:x")
		_, errStream := service.Collect(c.ListFeatures(ctx, planted(1, AfterNothing)))
		return errors.Join(closed("the call in flight", errCall), closed("a call after Close", errAfter), closed("a stream after Close", errStream))
	})
}

// closed wants the error of a call whose client is closed. It is no failure of the server or of the network.
func closed(what string, err error) error {
	var fault *protocol.Fault
	if errors.As(err, &fault) && fault.Kind == protocol.Local && errors.Is(err, protocol.ErrClosed) {
		return nil
	}
	return fmt.Errorf("%s: got error %v, want *protocol.Fault of kind %s around protocol.ErrClosed", what, err, protocol.Local)
}
