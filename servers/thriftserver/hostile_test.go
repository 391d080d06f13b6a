package thriftserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service/servicetest"
	"bakeoff/thrift/stack"

	"github.com/apache/thrift/lib/go/thrift"
)

// script is a connection on which everything has been said already.
type script struct {
	io.Reader
	answers bytes.Buffer
}

func (s *script) Write(b []byte) (int, error)      { return s.answers.Write(b) }
func (s *script) Close() error                     { return nil }
func (s *script) LocalAddr() net.Addr              { return nil }
func (s *script) RemoteAddr() net.Addr             { return nil }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// play has the server handle one connection that says in, as TSimpleServer would, and returns the bytes that
// were allocated by it and the answers.
func play(t testing.TB, s *stack.Stack, in io.Reader) (allocated uint64, answers []byte) {
	t.Helper()
	conversation := &script{Reader: in}
	before := allocatedBytes()
	base, err := newAcceptor(t.Context(), nil, s).add(conversation)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	input, err := s.Protocol(base)
	if err != nil {
		t.Fatal(err)
	}
	output, err := s.Protocol(base)
	if err != nil {
		t.Fatal(err)
	}
	p := processors{context.Background(), echo, s}.GetProcessor(base)
	for {
		ok, err := p.Process(context.Background(), input, output)
		if err != nil {
			t.Fatalf("Process: %v, which the library would log", err)
		}
		if !ok {
			return allocatedBytes() - before, conversation.answers.Bytes()
		}
	}
}

func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func newStack(t testing.TB, proto, transport string, limit int) *stack.Stack {
	t.Helper()
	s, err := stack.New(protocol.Options{MaxMessage: limit, Knobs: map[string]string{
		"protocol": proto, "transport": transport, "connectivity-check": "0",
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var layers = []struct{ proto, transport string }{
	{"binary", "buffered"}, {"binary", "framed"}, {"compact", "buffered"}, {"compact", "framed"},
}

// frame puts the length before a message.
func frame(s string) string { return i32(int32(len(s))) + s }

// hostile are openings that claim more than they bring.
var hostile = []struct{ what, bytes string }{
	{"nothing", ""},
	{"another protocol", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"half a header", "\x80\x01"},
	{"a name of 2 GiB", "\x80\x01\x00\x01\x7f\xff\xff\xff"},
	{"a name of 2 GiB in the old header", "\x7f\xff\xff\xff"},
	{"a negative name", "\x80\x01\x00\x01\xff\xff\xff\xff"},
	{"a string of 4 MiB", message(thrift.CALL, "Login", 1, field(thrift.STRUCT, 1, field(thrift.STRING, 1, i32(4<<20)+"x")))},
	{"a list of 4 Mi points", message(thrift.CALL, "RecordRoute", 1, field(thrift.LIST, 1, "\x0c"+i32(4<<20)))},
	{"a list of 2 Gi points", message(thrift.CALL, "RecordRoute", 1, field(thrift.LIST, 1, "\x0c"+i32(1<<31-1)))},
	{"a list of 4 Mi notes", message(thrift.CALL, "RouteChat", 1, field(thrift.LIST, 1, "\x0c"+i32(4<<20)))},
	{"a map of 1 Mi voids in a field that we skip", message(thrift.CALL, "DataType", 1, field(thrift.MAP, 9, "\x02\x02"+i32(1<<20)))},
	{"structs in structs", message(thrift.CALL, "DataType", 1, strings.Repeat(field(thrift.STRUCT, 1, ""), 1000))},
	{"structs in structs that we skip", message(thrift.CALL, "Nothing", 1, strings.Repeat(field(thrift.STRUCT, 9, ""), 1000))},
	{"compact: a name of 4 GiB", "\x82\x21\x01\xff\xff\xff\xff\x0f"},
	{"compact: a list of 4 Mi points", "\x82\x21\x01\x0bRecordRoute\x19\xfc\x80\x80\x80\x02"},
	{"compact: a call", "\x82\x21\x01\x0aGetFeature\x1c\x15\x02\x15\x04\x00\x00"},
	{"a good call", message(thrift.CALL, "DataType", 1, field(thrift.STRUCT, 1, dataTypeRq(authRq("c", "t"), "g", "n")))},
	{"empty frames", strings.Repeat("\x00", 4000)},
}

// What a claim may cost: the buffers of a connection, the slack of the meter (it counts by the page), and some room
// beside them for what really came. The claims are of 4 MiB and more.
func allowed(in int) uint64 { return 1<<20 + 256*uint64(in) }

func TestClaimsCostNothing(t *testing.T) {
	for _, l := range layers {
		s := newStack(t, l.proto, l.transport, 4<<20)
		for _, h := range hostile {
			for _, in := range []string{h.bytes, frame(h.bytes), i32(4<<20) + h.bytes} {
				if got, _ := play(t, s, strings.NewReader(in)); got > allowed(len(in)) {
					t.Errorf("%s: %s (%d bytes) cost %d bytes of memory", s.Name, h.what, len(in), got)
				}
			}
		}
	}
}

// A message that goes on for ever in pieces of a legal size is cut at the limit.
func TestEndlessMessage(t *testing.T) {
	const limit = 1 << 20
	piece := field(thrift.STRING, 9, str(strings.Repeat("x", limit/2)))
	open := message(thrift.CALL, "DataType", 1, field(thrift.STRUCT, 1, ""))
	endless := &counting{r: io.MultiReader(strings.NewReader(open[:len(open)-1]), &repeat{s: piece})}
	play(t, newStack(t, "binary", "buffered", limit), endless)
	if endless.n < limit || endless.n > limit+64<<10 {
		t.Errorf("read %d bytes of an endless message, the limit is %d", endless.n, limit)
	}
}

type repeat struct {
	s  string
	at int
}

func (r *repeat) Read(b []byte) (int, error) {
	n := copy(b, r.s[r.at:])
	r.at = (r.at + n) % len(r.s)
	return n, nil
}

type counting struct {
	r io.Reader
	n int
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += n
	return n, err
}

func FuzzConnection(f *testing.F) {
	for _, h := range hostile {
		f.Add([]byte(h.bytes))
		f.Add([]byte(frame(h.bytes)))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		stuck := time.AfterFunc(10*time.Second, func() { panic("the server is still at it after 10 s") })
		defer stuck.Stop()
		for _, l := range layers {
			s := newStack(t, l.proto, l.transport, 1<<20)
			if got, _ := play(t, s, bytes.NewReader(in)); got > allowed(len(in)) {
				t.Errorf("%s: %d bytes cost %d bytes of memory", s.Name, len(in), got)
			}
		}
	})
}

// Clients that send garbage, stop half-way, or send a byte at a time leave nothing behind, and others are served.
func TestBadNeighbours(t *testing.T) {
	for _, l := range layers {
		t.Run(l.proto+" over "+l.transport, func(t *testing.T) {
			o := protocol.Options{ServerIdle: 50 * time.Millisecond, Knobs: map[string]string{"protocol": l.proto, "transport": l.transport}}
			addr, stop := start(t, echo, o, time.Second, time.Second)
			var open []net.Conn
			for _, h := range hostile {
				for _, in := range []string{h.bytes, frame(h.bytes)} {
					c := connect(t, addr)
					io.WriteString(c, in)
					open = append(open, c)
				}
			}
			for i, c := range open {
				// Each ends within the idle time, whether it was refused at once or left waiting for the rest.
				if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
					t.Errorf("connection %d was left open", i)
				}
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStopIsBounded(t *testing.T) {
	call := message(thrift.CALL, "DataType", 1, field(thrift.STRUCT, 1, dataTypeRq(authRq("", ""), "g", "n")))
	began, release := make(chan struct{}, 1), make(chan struct{})
	obedient := holding(func(ctx context.Context) error { began <- struct{}{}; <-ctx.Done(); return ctx.Err() })
	deaf := holding(func(context.Context) error { began <- struct{}{}; <-release; return nil })
	for _, tc := range []struct {
		what string
		api  servicetest.API
		send string
		want string
	}{
		{"a handler that heeds its context", obedient, call, ""},
		{"a handler that does not", deaf, call, "handlers still run 20ms after they were cancelled"},
		{"a request that never ends", echo, call[:len(call)-1], ""},
		{"a client that says nothing", echo, "", ""},
	} {
		addr, stop := start(t, tc.api, protocol.Options{}, 20*time.Millisecond, 20*time.Millisecond)
		c := connect(t, addr)
		io.WriteString(c, tc.send)
		if tc.send == call { // it reaches the handler
			<-began
		}
		err := stop()
		if got := fmt.Sprint(err); (err != nil) != (tc.want != "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: Serve returned %v", tc.what, err)
		}
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if tc.want == "" {
			if _, err := io.ReadAll(c); err != nil && strings.Contains(err.Error(), "timeout") {
				t.Errorf("%s: the connection was left open", tc.what)
			}
		}
	}
	close(release)
}
