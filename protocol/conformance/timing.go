package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

var timeVectors = []Vector{
	{"deadline",
		"a call with 50 ms left, to a handler that takes 1 s, ends as deadline_exceeded after 50 ms and within 60 ms (best of ten tries), and the client works after it",
		"a deadline that is not set on the socket or stream, is rounded down, or leaves a connection in use", deadline},
	{"deadline-stream",
		"the same holds for a stream whose first element takes 1 s",
		"a deadline that is set for unary calls only", deadlineStream},
	{"deadline-queued",
		"the same holds for a call that waits for the only connection",
		"a pool that waits without looking at the context", deadlineQueued},
	{"timeout",
		"Options.Timeout ends a call whose context has no deadline, and leaves others alone",
		"whether Dial honours Options.Timeout", timeout},
	{"cancel",
		"a cancelled call returns within 10 ms (best of ten tries) with context.Canceled, and the client works after it",
		"a call that does not watch its context while it waits", cancelled},
	{"ended-context",
		"a call whose context has ended already fails with that, and is not sent",
		"a check of the context before a call is sent", endedContext},
}

// What a caller allows a call, and what noticing that its time is over may take.
const (
	patience = 50 * time.Millisecond
	slack    = 10 * time.Millisecond
)

// deadline repeats, since each call that ran out of time may have spoilt a connection.
func deadline(ctx context.Context, e *Env) error {
	for range shared + 1 {
		err := within(patience, patience+slack, "a call with 50 ms left, to a handler of 1 s", func() error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			_, err := ask(ctx, e.Client, "sleep:1s")
			return fails("a call past its deadline", err, service.DeadlineExceeded, "")
		})
		if err != nil {
			return err
		}
	}
	return works(ctx, e.Client, "calls past their deadline")
}

func deadlineStream(ctx context.Context, e *Env) error {
	err := within(patience, patience+slack, "ListFeatures with 50 ms left, whose first feature takes 1 s", func() error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_, err := service.Collect(e.Client.ListFeatures(ctx, planted(1, BeforeWait)))
		return fails("a stream past its deadline", err, service.DeadlineExceeded, "")
	})
	if err != nil {
		return err
	}
	return works(ctx, e.Client, "a stream past its deadline")
}

// deadlineQueued has a call of 1 s on the only connection, and another that finds it taken.
func deadlineQueued(ctx context.Context, e *Env) error {
	wrote := make(chan struct{}, 1)
	c, err := e.Dial(ctx, 1, 1, func(o *protocol.Options) {
		dial := o.DialContext
		o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return watched{conn, wrote}, nil
		}
	})
	if err != nil {
		return err
	}
	return within(patience, patience+slack, "a call with 50 ms left, behind one of 1 s on the only connection", func() error {
		select { // what was written before
		case <-wrote:
		default:
		}
		first, end := context.WithCancel(ctx)
		done := make(chan struct{})
		defer func() { <-done }()
		defer end()
		go func() {
			defer close(done)
			_, _ = ask(first, c, "sleep:1s") // holds the connection; how it ends is the matter of another vector
		}()
		select {
		case <-wrote:
		case <-done:
		}
		second, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		_, err := ask(second, c, "sleep:1s")
		return fails("a call past its deadline", err, service.DeadlineExceeded, "")
	})
}

// watched tells when something is written.
type watched struct {
	net.Conn
	wrote chan<- struct{}
}

func (w watched) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	select {
	case w.wrote <- struct{}{}:
	default:
	}
	return n, err
}

// timeout allows more than a deadline does: an option that holds for every call may be watched coarsely.
func timeout(ctx context.Context, e *Env) error {
	c, err := e.Dial(ctx, 1, 1, func(o *protocol.Options) { o.Timeout = patience })
	if err != nil {
		return err
	}
	// Without the vector's own deadline, which would otherwise hold in place of the option.
	ctx = context.WithoutCancel(ctx)
	err = within(patience, 3*patience, "a call with a timeout of 50 ms, to a handler of 1 s", func() error {
		_, err := ask(ctx, c, "sleep:1s")
		return late("a call past Options.Timeout", err)
	})
	if err != nil {
		return err
	}
	longer, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := ask(longer, c, "sleep:100ms"); err != nil {
		return fmt.Errorf("a call of 100 ms with a deadline of its own, through a client with a timeout of 50 ms: got error %w, want an answer", err)
	}
	return works(ctx, c, "a call past Options.Timeout")
}

// cancelled can't know when the handler has begun; 20 ms are enough for it to have, nearly always, and the vector
// holds if it has not.
func cancelled(ctx context.Context, e *Env) error {
	for range shared + 1 {
		const after = 20 * time.Millisecond
		err := within(after, after+slack, "a call that is cancelled after 20 ms, to a handler of 1 s", func() error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer time.AfterFunc(after, cancel).Stop()
			_, err := ask(ctx, e.Client, "sleep:1s")
			return isCancelled("a cancelled call", err)
		})
		if err != nil {
			return err
		}
	}
	return works(ctx, e.Client, "cancelled calls")
}

func isCancelled(what string, err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("%s: got %T %v, want an error that is context.Canceled", what, err, err)
}

func endedContext(ctx context.Context, e *Env) error {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	over, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	_, errData := ask(gone, e.Client, "attempt:"+e.Run)
	_, errLate := ask(over, e.Client, "attempt:"+e.Run)
	_, errList := service.Collect(e.Client.ListFeatures(gone, planted(1, AfterNothing)))
	_, errRecord := e.Client.RecordRoute(gone, service.All([]service.Point{Marker}))
	_, errChat := service.Collect(e.Client.RouteChat(gone, service.All([]service.RouteNote{{Location: Marker}})))
	d, err := ask(ctx, e.Client, "attempts:"+e.Run)
	return errors.Join(
		isCancelled("DataType", errData), isCancelled("ListFeatures", errList), isCancelled("RecordRoute", errRecord), isCancelled("RouteChat", errChat),
		fails("DataType a second past its deadline", errLate, service.DeadlineExceeded, ""),
		err, same("calls that reached the server", d.CodeID, 0))
}
