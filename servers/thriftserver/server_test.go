package thriftserver

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"bakeoff/protocol"

	"github.com/apache/thrift/lib/go/thrift"
)

// failing is a listener whose first accepts fail.
type failing struct {
	net.Listener
	left atomic.Int32
	err  error
}

func (l *failing) Accept() (net.Conn, error) {
	if l.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", l.err)}
	}
	return l.Listener.Accept()
}

func TestAcceptFails(t *testing.T) {
	listen := func(err error) *failing {
		l, lerr := net.Listen("tcp", "127.0.0.1:0")
		if lerr != nil {
			t.Fatal(lerr)
		}
		f := &failing{Listener: l, err: err}
		f.left.Store(2)
		return f
	}

	// Out of descriptors: it goes on when there are some again.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l, served := listen(syscall.EMFILE), make(chan error, 1)
	go func() { served <- Serve(ctx, l, echo, protocol.Options{}) }()
	c := connect(t, l.Addr().String())
	io.WriteString(c, message(thrift.CALL, "Nothing", 1))
	if _, err := io.ReadFull(c, make([]byte, 4)); err != nil {
		t.Errorf("after a shortage: %v", err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}

	// A listener that is broken ends the server, with the reason.
	l = listen(syscall.EINVAL)
	err := Serve(t.Context(), l, echo, protocol.Options{})
	if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("Serve on a broken listener: %v", err)
	}
}

func TestBadOptionsCloseTheListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	err = Serve(t.Context(), l, echo, protocol.Options{Knobs: map[string]string{"transport": "pigeon"}})
	if err == nil || !strings.Contains(err.Error(), `transport="pigeon": want buffered, framed or http`) {
		t.Errorf("Serve: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener: %v", err)
	}
}

// Two servers of one process differ in their connectivity check: when both clients have gone, the one that looks
// cancels its handler, and the other's goes on until it is done.
func TestConnectivityCheckIsPerServer(t *testing.T) {
	call := message(thrift.CALL, "DataType", 1, field(thrift.STRUCT, 1, dataTypeRq(authRq("", ""), "g", "n")))
	release := make(chan struct{})
	ends := map[string]chan error{"1ms": make(chan error, 1), "0": make(chan error, 1)}
	var stops []func() error
	for interval, ended := range ends {
		began := make(chan struct{})
		api := holding(func(ctx context.Context) error {
			close(began)
			select {
			case <-ctx.Done():
			case <-release:
			}
			ended <- ctx.Err()
			return ctx.Err()
		})
		o := protocol.Options{Knobs: map[string]string{"connectivity-check": interval}}
		addr, stop := start(t, api, o, time.Second, time.Second)
		stops = append(stops, stop)
		c := connect(t, addr)
		io.WriteString(c, call)
		<-began
		c.Close()
	}
	if err := <-ends["1ms"]; !errors.Is(err, context.Canceled) {
		t.Errorf("with the check the handler ended with %v", err)
	}
	close(release)
	if err := <-ends["0"]; err != nil {
		t.Errorf("without the check the handler ended with %v", err)
	}
	for _, stop := range stops {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}
