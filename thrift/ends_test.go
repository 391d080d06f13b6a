package thrift_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

func TestDeadline(t *testing.T) {
	const deadline, within = 50 * time.Millisecond, 60 * time.Millisecond
	stacks(t, func(t *testing.T, o protocol.Options) {
		f := newFake()
		o.Conns = 1
		addr, _ := serve(t, f, o)
		byContext := func(c protocol.Client) error {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			return dataType(ctx, c, "block")
		}
		byOption := func(c protocol.Client) error { return dataType(t.Context(), c, "block") }
		for what, call := range map[string]func(protocol.Client) error{"context": byContext, "timeout": byOption} {
			o := o
			if what == "timeout" {
				o.Timeout = deadline
			}
			c := dial(t, addr, o)
			var err error
			took := time.Hour
			for try := 0; try < 10 && took > within+raceSlack; try++ { // the machine may be late, and not we
				began := time.Now()
				err = call(c)
				took = time.Since(began)
			}
			if took < deadline-time.Millisecond || took > within+raceSlack {
				t.Errorf("%s: returned after %v", what, took)
			}
			if code(err) != service.DeadlineExceeded || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", what, err)
			}
			if err := dataType(t.Context(), c, "next"); err != nil {
				t.Errorf("%s: the call after it: %v", what, err)
			}
		}
		close(f.release)
	})
}

// A call that waits for a connection is under the same deadline.
func TestDeadlineWhileWaiting(t *testing.T) {
	f := newFake()
	o := protocol.Options{Conns: 1}
	addr, _ := serve(t, f, o)
	o.Timeout = 30 * time.Millisecond
	c := dial(t, addr, o)
	long, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	first := make(chan error, 1)
	go func() { first <- dataType(long, c, "block") }()
	<-f.started
	if err := dataType(t.Context(), c, "waits"); code(err) != service.DeadlineExceeded {
		t.Errorf("by timeout: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := dataType(ctx, c, "waits"); !errors.Is(err, context.Canceled) {
		t.Errorf("by cancellation: %v", err)
	}
	close(f.release)
	if err := <-first; err != nil {
		t.Errorf("the call that was under way: %v", err)
	}
}

func TestCancel(t *testing.T) {
	stacks(t, func(t *testing.T, o protocol.Options) {
		f := newFake()
		o.Conns = 1
		c := both(t, f, o)
		for calls := range 4 { // the registration is made, then kept; either must end the call
			ctx, cancel := context.WithCancel(t.Context())
			for range calls {
				if err := dataType(ctx, c, "quick"); err != nil {
					t.Fatal(err)
				}
			}
			go func() { <-f.started; cancel() }()
			if err := dataType(ctx, c, "block"); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled after %d calls: %v", calls, err)
			}
			// The server's check finds the client gone.
			if err := <-f.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the handler ended with %v", err)
			}
			if err := dataType(ctx, c, "late"); !errors.Is(err, context.Canceled) {
				t.Errorf("a call under an ended context: %v", err)
			}
			if err := dataType(t.Context(), c, "next"); err != nil {
				t.Errorf("the call after it: %v", err)
			}
		}
	})
}

// The end of a context does nothing to a connection that another call uses.
func TestCancelOfAnEarlierCall(t *testing.T) {
	f := newFake()
	c := both(t, f, protocol.Options{Conns: 1})
	old, cancel := context.WithCancel(t.Context())
	for range 3 {
		if err := dataType(old, c, "quick"); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- dataType(context.Background(), c, "block") }()
	<-f.started
	cancel()
	close(f.release)
	if err := <-done; err != nil {
		t.Errorf("a call without a context's end failed: %v", err)
	}
}

func TestCloseEndsCallsInFlight(t *testing.T) {
	f := newFake()
	c := both(t, f, protocol.Options{Conns: 2})
	errs := make(chan error, 3)
	for range 3 { // two under way, one that waits
		go func() { errs <- dataType(t.Context(), c, "block") }()
	}
	<-f.started
	<-f.started
	c.Close()
	for range 3 {
		if err := <-errs; kind(err) != protocol.Local {
			t.Errorf("call: %v", err)
		}
	}
	if err := dataType(t.Context(), c, "later"); kind(err) != protocol.Local {
		t.Errorf("call after Close: %v", err)
	}
}

func TestStopDrains(t *testing.T) {
	stacks(t, func(t *testing.T, o protocol.Options) {
		f := newFake()
		o.Conns = 2
		addr, stop := serve(t, f, o)
		c := dial(t, addr, o)
		done := make(chan error, 1)
		go func() { done <- dataType(t.Context(), c, "block") }()
		<-f.started
		stopped := make(chan struct{})
		go func() { defer close(stopped); stop() }()
		for { // until the listener is closed, the stop has not begun
			probe, err := net.Dial("tcp", addr)
			if err != nil {
				break
			}
			probe.Close()
		}
		close(f.release)
		if err := <-done; err != nil {
			t.Errorf("the call in flight: %v", err)
		}
		<-stopped
		// Of the two connections one was idle and one at work: both are closed now, and no retry hides it.
		for range 2 {
			err := dataType(t.Context(), c, "later")
			if o.Knobs["transport"] == "http" && kind(err) == protocol.Refused {
				continue // net/http reads from an idle connection too: it has seen the end, and dialled
			}
			if kind(err) != protocol.StaleConn {
				t.Errorf("on a connection that was closed: %v", err)
			}
		}
		if err := dataType(t.Context(), c, "later"); kind(err) != protocol.Refused {
			t.Errorf("on a connection to be dialled anew: %v", err)
		}
	})
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	o := protocol.Options{Conns: 1, ServerIdle: 40 * time.Millisecond}
	addr, _ := serve(t, newFake(), o)
	raw, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	began := time.Now()
	if n, err := raw.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("an idle connection read %d, %v", n, err)
	}
	if took := time.Since(began); took < o.ServerIdle*3/4 {
		t.Errorf("closed after %v", took)
	}

	// A client looks at what was idle for half of it, and dials instead of failing.
	c := dial(t, addr, o)
	if err := dataType(t.Context(), c, "first"); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	if _, err := raw.Read(make([]byte, 1)); err == nil {
		t.Error("a closed connection read on")
	}
	for range 2 { // each returns when the server closes it; the last one is surely later than the client's
		other, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		other.Read(make([]byte, 1))
	}
	if err := dataType(t.Context(), c, "second"); err != nil {
		t.Errorf("after %v of idleness: %v", time.Since(began), err)
	}
}
