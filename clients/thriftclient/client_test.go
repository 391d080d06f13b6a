package thriftclient

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"

	"github.com/apache/thrift/lib/go/thrift"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answerer is a server that reads something from each connection, then says what it is told to and closes it.
func answerer(t *testing.T, answers ...string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				c.Read(make([]byte, 4096))
				if i < len(answers) {
					io.WriteString(c, answers[i])
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String()
}

func str(s string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s }
func i32(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }

// reply is the head of a message in the binary protocol.
func reply(kind thrift.TMessageType, method string, seq uint32) string {
	return "\x80\x01\x00" + string(rune(kind)) + str(method) + i32(seq)
}

const dataType = "DataType"

func TestAnswersOfOtherServers(t *testing.T) {
	for _, tc := range []struct {
		what, transport, answer string
		kind                    string       // of a fault
		code                    service.Code // of an error
	}{
		{"hangs up without a word", "buffered", "", protocol.StaleConn, 0},
		{"hangs up within the answer", "buffered", reply(thrift.REPLY, dataType, 1)[:9], protocol.Reset, 0},
		{"hangs up within the frame", "framed", i32(100) + reply(thrift.REPLY, dataType, 1), protocol.Reset, 0},
		{"speaks HTTP", "buffered", "HTTP/1.1 400 Bad Request\r\n\r\n", "", service.ResourceExhausted}, // "HTTP" is the length of a name
		{"speaks HTTP to a framed client", "framed", "HTTP/1.1 400 Bad Request\r\n\r\n", "", service.ResourceExhausted},
		{"speaks another version", "buffered", "\x80\x02\x00\x02", protocol.Malformed, 0},
		{"answers another method", "buffered", reply(thrift.REPLY, "Login", 1) + "\x00", protocol.Malformed, 0},
		{"answers another call", "buffered", reply(thrift.REPLY, dataType, 2) + "\x00", protocol.Malformed, 0},
		{"calls back", "buffered", reply(thrift.CALL, dataType, 1) + "\x00", protocol.Malformed, 0},
		{"answers nothing", "buffered", reply(thrift.REPLY, dataType, 1) + "\x00", protocol.Malformed, 0},
		{"answers without a required field", "buffered", reply(thrift.REPLY, dataType, 1) + "\x0c\x00\x00\x00\x00", protocol.Malformed, 0},
		{"fails in a way of the library", "buffered",
			reply(thrift.EXCEPTION, dataType, 1) + "\x0b\x00\x01" + str("boom") + "\x08\x00\x02" + i32(thrift.INTERNAL_ERROR) + "\x00",
			protocol.Malformed, 0},
		{"has a code that there is not", "buffered",
			reply(thrift.REPLY, dataType, 1) + "\x0c\x00\x01\x08\x00\x01" + i32(77) + "\x0b\x00\x02" + str("m") + "\x00\x00",
			protocol.Malformed, 0},
		{"has a string over the limit", "buffered",
			reply(thrift.REPLY, dataType, 1) + "\x0c\x00\x00\x0b\x00\x03" + i32(4<<20+1), "", service.ResourceExhausted},
		{"has a frame over the limit", "framed", i32(4<<20 + 1), "", service.ResourceExhausted},
		{"goes on for ever", "buffered",
			reply(thrift.REPLY, dataType, 1) + "\x0c\x00\x00" + strings.Repeat("\x0b\x00\x09"+str(strings.Repeat("x", 1<<20)), 6),
			"", service.ResourceExhausted},
	} {
		o := protocol.Options{Knobs: map[string]string{"transport": tc.transport}, Timeout: 10 * time.Second}
		c, err := Dial(t.Context(), answerer(t, tc.answer), o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.DataType(t.Context(), service.DataTypeRequest{})
		var fault *protocol.Fault
		var failure *service.Error
		switch {
		case tc.kind != "" && (!errors.As(err, &fault) || fault.Kind != tc.kind),
			tc.code != 0 && (!errors.As(err, &failure) || failure.Code != tc.code):
			t.Errorf("a server that %s: %v, want %s%s", tc.what, err, tc.kind, code(tc.code))
		}
		c.Close()
	}
}

func code(c service.Code) string {
	if c == 0 {
		return ""
	}
	return c.String()
}

// Each failure costs its connection, and the next call dials a new one, once.
func TestNoRetries(t *testing.T) {
	var dials int
	addr := answerer(t)
	c, err := Dial(t.Context(), addr, protocol.Options{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials++
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for call := range 3 {
		var fault *protocol.Fault
		if _, err := c.GetFeature(t.Context(), service.Point{}); !errors.As(err, &fault) {
			t.Errorf("call %d: %v", call, err)
		}
		if dials != call+1 {
			t.Errorf("%d dials after call %d, want %d", dials, call, call+1)
		}
	}
}

// A connection that was unused for half of the server's patience is looked at: while it is open it is used on. One
// that can't be looked into is replaced.
func TestOldConnections(t *testing.T) {
	for _, tc := range []struct {
		what  string
		wrap  func(net.Conn) net.Conn
		dials int
	}{
		{"open", func(c net.Conn) net.Conn { return c }, 1},
		{"wrapped", func(c net.Conn) net.Conn { return struct{ net.Conn }{c} }, 2},
	} {
		dials := 0
		o := protocol.Options{ServerIdle: 1} // half a nanosecond: every connection is old
		o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			return tc.wrap(c), err
		}
		c, err := Dial(t.Context(), answerer(t), o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.GetFeature(t.Context(), service.Point{}); err == nil {
			t.Error("a server that says nothing was understood")
		}
		if dials != tc.dials {
			t.Errorf("%s: %d dials, want %d", tc.what, dials, tc.dials)
		}
		c.Close()
	}
}

func TestDialErrors(t *testing.T) {
	for _, tc := range []struct {
		err  error
		kind string
	}{
		{syscall.ECONNREFUSED, protocol.Refused},
		{syscall.EMFILE, protocol.Local},
	} {
		o := protocol.Options{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: tc.err}
		}}
		_, err := Dial(t.Context(), "host:1", o)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Kind != tc.kind || !strings.Contains(err.Error(), "host:1") {
			t.Errorf("%v: %v, want %s", tc.err, err, tc.kind)
		}
	}
	if _, err := Dial(t.Context(), "host:1", protocol.Options{Knobs: map[string]string{"x": "y"}}); err == nil {
		t.Error("an unknown option was taken")
	}
}

func TestClosedClientSaysSo(t *testing.T) {
	c, err := Dial(t.Context(), answerer(t), protocol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := c.GetFeature(t.Context(), service.Point{}); !errors.Is(err, protocol.ErrClosed) {
		t.Errorf("a call after Close: %v", err)
	}
}
