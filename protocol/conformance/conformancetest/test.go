// Package conformancetest holds a protocol to the conformance kit under go test. It stands apart from the kit so that the
// command, which runs the kit before it measures, does not link package testing.
package conformancetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/protocol"
	"bakeoff/protocol/conformance"
	"bakeoff/service"
	"bakeoff/store/memory"
)

// serverLimit is far above what a server may take to stop.
const serverLimit = 10 * time.Second

// Test serves the subject in this process over the store in memory, and runs every vector of the calls that it has as a subtest. Then it holds
// the server itself to its contract: it answers what is in flight when it is told to stop, gives its port back,
// leaves no goroutine behind, and refuses an option that it does not have. Ignore names the goroutines that a library
// starts once for the life of the process. It can't run in parallel with other tests of the package.
func Test(t *testing.T, p protocol.Protocol, ignore ...goleak.Option) {
	ignore = append(ignore, goleak.IgnoreCurrent())
	t.Run("vectors", func(t *testing.T) {
		s := start(t, p)
		for _, v := range conformance.Asked(p, conformance.Vectors) {
			t.Run(v.Name, func(t *testing.T) {
				if err := conformance.Check(t.Context(), p, s.addr, v); err != nil {
					t.Error(conformance.Difference{Subject: p.Name, Vector: v, Err: err})
				}
			})
		}
		s.stop(t)
	})
	if p.Has(service.CallDataType) { // for an answer that takes its time
		t.Run("server-drains", func(t *testing.T) { serverDrains(t, p) })
	}
	t.Run("server-unknown-option", func(t *testing.T) { serverUnknownOption(t, p) })
	t.Run("no-goroutine-left", func(t *testing.T) {
		if err := goleak.Find(ignore...); err != nil {
			t.Errorf("%s: after its clients were closed and its server was stopped: %v", p.Name, err)
		}
	})
}

// server is a subject that serves in this process.
type server struct {
	addr    string
	arrived chan struct{} // one element for each DataType call that reaches the handler, while there is room
	cancel  context.CancelFunc
	done    chan error
}

// arrivals tells when a call has reached the handler, which no client can know.
type arrivals struct {
	service.API
	c chan struct{}
}

func (a arrivals) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	select {
	case a.c <- struct{}{}:
	default:
	}
	return a.API.DataType(ctx, r)
}

func start(t *testing.T, p protocol.Protocol) *server {
	t.Helper()
	rules, err := service.New(t.Context(), memory.New(nil), service.Config{Auth: true})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{l.Addr().String(), make(chan struct{}, 1), cancel, make(chan error, 1)}
	go func() { s.done <- p.Serve(ctx, l, arrivals{conformance.Probe(rules), s.arrived}, p.Options(64, 0)) }()
	t.Cleanup(cancel)
	return s
}

// stop ends the server and checks how it ends.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.cancel()
	select {
	case err := <-s.done:
		if err != nil {
			t.Errorf("Serve returned %v when its context ended, want nil", err)
		}
	case <-time.After(serverLimit):
		t.Fatalf("Serve has not returned %v after its context ended", serverLimit)
	}
	if c, err := net.Dial("tcp", s.addr); err == nil {
		c.Close()
		t.Errorf("%s still takes connections after Serve returned", s.addr)
	}
}

func serverDrains(t *testing.T, p protocol.Protocol) {
	s := start(t, p)
	c, err := p.Dial(t.Context(), s.addr, p.Options(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answer := make(chan error, 1)
	go func() {
		d, err := c.DataType(t.Context(), service.DataTypeRequest{Group: conformance.Group, Name: "sleep:200ms"})
		if want := (service.DataType{CnName: "200ms"}); err == nil && d != want {
			err = fmt.Errorf("got %v, want %v", d, want)
		}
		answer <- err
	}()
	<-s.arrived
	s.stop(t)
	if err := <-answer; err != nil {
		t.Errorf("a call of 200 ms was in flight when the server was told to stop: %v; want its answer", err)
	}
}

func serverUnknownOption(t *testing.T, p protocol.Protocol) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	o := p.Options(1, 1)
	o.Knobs = map[string]string{"no-such-option": "1"}
	err = p.Serve(ctx, l, conformance.Probe(nil), o)
	if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no-such-option") {
		t.Errorf("Serve with option no-such-option: got error %v, want one that names the option", err)
	}
}
