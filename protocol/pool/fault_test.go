package pool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

// due is a context whose deadline is at, and which has not noticed if that is past.
type due struct {
	context.Context
	at time.Time
}

func (d due) Deadline() (time.Time, bool) { return d.at, true }

// socketErr wraps an errno as package net does.
func socketErr(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Err: os.NewSyscallError(op, err)}
}

// class is what a call's error counts as; "" for none.
func class(err error) string {
	var classed interface{ Class() string }
	switch {
	case err == nil:
		return ""
	case errors.As(err, &classed):
		return classed.Class()
	}
	return err.Error()
}

func TestDialError(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	over, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	ahead := due{t.Context(), time.Now().Add(time.Hour)}
	passed := due{t.Context(), time.Now()} // the context does not say so yet
	ioTimeout := &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	late := service.DeadlineExceeded.String()
	for _, tc := range []struct {
		what string
		ctx  context.Context
		err  error
		want string
	}{
		{"refused", t.Context(), socketErr("connect", syscall.ECONNREFUSED), protocol.Refused},
		{"no ports", t.Context(), socketErr("connect", syscall.EADDRNOTAVAIL), protocol.Local},
		{"no descriptors", t.Context(), socketErr("socket", syscall.EMFILE), protocol.Local},
		{"none in the system", t.Context(), socketErr("socket", syscall.ENFILE), protocol.Local},
		{"no buffers", t.Context(), socketErr("connect", syscall.ENOBUFS), protocol.Local},
		{"no memory", t.Context(), socketErr("socket", syscall.ENOMEM), protocol.Local},
		{"no route", t.Context(), socketErr("connect", syscall.EHOSTUNREACH), protocol.Reset},
		{"reset", t.Context(), socketErr("connect", syscall.ECONNRESET), protocol.Reset},
		{"the client is closed", t.Context(), fmt.Errorf("get: %w", protocol.ErrClosed), protocol.Local},

		{"a timeout, no deadline", t.Context(), ioTimeout, protocol.Timeout},
		{"a timeout well before the deadline", ahead, ioTimeout, protocol.Timeout},
		{"a timeout at the deadline", passed, ioTimeout, late},
		{"and wrapped", passed, fmt.Errorf("dial a:1: %w", ioTimeout), late},
		{"a name server's timeout", ahead, &net.DNSError{IsTimeout: true}, protocol.Timeout},
		{"and at the deadline", passed, &net.DNSError{IsTimeout: true}, late},
		{"the kernel gave up", ahead, socketErr("connect", syscall.ETIMEDOUT), protocol.Timeout},
		{"and at the deadline", passed, socketErr("connect", syscall.ETIMEDOUT), late},
		{"the context of an attempt", ahead, context.DeadlineExceeded, protocol.Timeout},
		{"refused at the deadline", passed, socketErr("connect", syscall.ECONNREFUSED), protocol.Refused},

		{"the context is over, whatever the dialler says", over, socketErr("connect", syscall.ECONNREFUSED), late},
		{"the context was cancelled", ended, ioTimeout, context.Canceled.Error()},
	} {
		if got := class(DialError(tc.ctx, tc.err)); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.what, got, tc.want)
		}
	}
}

func TestSocketError(t *testing.T) {
	for _, tc := range []struct {
		what       string
		err        error
		free, want string // before and after the server has surely got the call
	}{
		{"end", io.EOF, protocol.StaleConn, protocol.Reset},
		{"end within something", fmt.Errorf("header: %w", io.ErrUnexpectedEOF), protocol.StaleConn, protocol.Reset},
		{"reset", socketErr("read", syscall.ECONNRESET), protocol.StaleConn, protocol.Reset},
		{"written to what is closed", socketErr("write", syscall.EPIPE), protocol.StaleConn, protocol.Reset},
		{"the network went away", socketErr("read", syscall.ENETUNREACH), protocol.Reset, protocol.Reset},
		{"the kernel gave up", socketErr("read", syscall.ETIMEDOUT), protocol.Reset, protocol.Reset},
		{"no buffers", socketErr("write", syscall.ENOBUFS), protocol.Local, protocol.Local},
		{"closed here", &net.OpError{Op: "read", Err: net.ErrClosed}, protocol.Local, protocol.Local},
		{"Begin of an aborted guard", net.ErrClosed, protocol.Local, protocol.Local},
		{"the deadline", &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, "deadline_exceeded", "deadline_exceeded"},
		{"a library's own timeout", &net.DNSError{IsTimeout: true}, "deadline_exceeded", "deadline_exceeded"},
		{"not the socket's", errors.New("no JSON"), "", ""},
	} {
		for taken, want := range map[bool]string{false: tc.free, true: tc.want} {
			if got := class(SocketError(tc.err, taken)); got != want {
				t.Errorf("%s, taken %t: got %q, want %q", tc.what, taken, got, want)
			}
		}
	}
	if err := SocketError(net.ErrClosed, true); !errors.Is(err, protocol.ErrClosed) {
		t.Errorf("closed here: got %v, want that the client is closed", err)
	}
}
