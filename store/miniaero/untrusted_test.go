package miniaero_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"bakeoff/store/miniaero"
)

func rawDial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// frameOf makes a frame whose length says what it likes.
func frameOf(version, kind byte, length uint64, body []byte) []byte {
	b := binary.BigEndian.AppendUint64(nil, length)
	b[0], b[1] = version, kind
	return append(b, body...)
}

func message(body []byte) []byte { return frameOf(2, 3, uint64(len(body)), body) }

// header is a message's header: the info bytes, the numbers of fields and operations.
func header(info1, info2 byte, fields, ops uint16) []byte {
	b := make([]byte, 22)
	b[0], b[1], b[2] = 22, info1, info2
	binary.BigEndian.PutUint16(b[18:], fields)
	binary.BigEndian.PutUint16(b[20:], ops)
	return b
}

func field(kind byte, value []byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(value)+1)), kind), value...)
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestGarbage: what a real server does with each: a code and an open connection, or a connection that ends.
func TestGarbage(t *testing.T) {
	s := miniaero.RunT(t)
	digest := field(4, make([]byte, 20))
	inTest := field(0, []byte("test"))
	const reset, closed = -1, -2
	for _, c := range []struct {
		name string
		send []byte
		want int // the code, or how the connection ends
	}{
		{"version 1", frameOf(1, 3, 22, header(1, 0, 0, 0)), reset},
		{"version 0", make([]byte, 64), reset},
		{"type 2", frameOf(2, 2, 8, make([]byte, 8)), reset},
		{"type 9", frameOf(2, 9, 8, make([]byte, 8)), reset},
		{"HTTP", []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), reset},
		{"200 MB", frameOf(2, 3, 200<<20, nil), closed},
		{"the longest length", frameOf(2, 1, 1<<48-1, nil), closed},
		{"empty message", message(nil), 4},
		{"half a header", message(header(1, 0, 0, 0)[:11]), 4},
		{"header size 0", message(append([]byte{0}, header(1, 0, 0, 0)[1:]...)), 4},
		{"header size beyond the message", message(append([]byte{255}, header(1, 0, 0, 0)[1:]...)), 4},
		{"65535 fields, none sent", message(header(1, 0, 65535, 0)), 4},
		{"65535 operations, none sent", message(join(header(1, 0, 2, 65535), inTest, digest)), 4},
		{"field of length 0", message(join(header(1, 0, 1, 0), make([]byte, 5))), 4},
		{"field that is longer than the message", message(join(header(1, 0, 1, 0), []byte{0xFF, 0xFF, 0xFF, 0xFF, 0})), 4},
		{"digest of 19", message(join(header(3, 0, 2, 0), inTest, field(4, make([]byte, 19)))), 4},
		{"no digest", message(join(header(3, 0, 1, 0), inTest)), 4},
		{"no namespace", message(join(header(3, 0, 1, 0), digest)), 20},
		{"unknown namespace", message(join(header(3, 0, 2, 0), field(0, []byte("nope")), digest)), 20},
		{"neither read nor write", message(join(header(0, 0, 2, 0), inTest, digest)), 4},
		{"write of nothing", message(join(header(0, 1, 2, 0), inTest, digest)), 4},
		{"operation 99", message(join(header(1, 0, 2, 1), inTest, digest, []byte{0, 0, 0, 5, 99, 0, 0, 1, 'a'})), 2},
		{"write of operation 99", message(join(header(0, 1, 2, 1), inTest, digest, []byte{0, 0, 0, 5, 99, 0, 0, 1, 'a'})), 4},
		{"name longer than the operation", message(join(header(0, 1, 2, 1), inTest, digest, []byte{0, 0, 0, 5, 2, 1, 0, 200, 'a'})), 4},
		{"integer of 3 bytes", message(join(header(0, 1, 2, 1), inTest, digest, []byte{0, 0, 0, 8, 2, 1, 0, 1, 'a', 1, 2, 3})), 4},
		{"list that is none", message(join(header(0, 1, 2, 1), inTest, digest, []byte{0, 0, 0, 6, 2, 20, 0, 1, 'a', 0x95})), 4},
		{"list that promises 4 billion", message(join(header(0, 1, 2, 1), inTest, digest, []byte{0, 0, 0, 10, 2, 20, 0, 1, 'a', 0xDD, 0xFF, 0xFF, 0xFF, 0xFF})), 4},
		{"a set name of 64", message(join(header(3, 0, 3, 0), inTest, field(1, make([]byte, 64)), digest)), 4},
		{"user-defined function", message(join(header(0, 1, 3, 0), inTest, digest, field(30, []byte("p")))), 100},
		{"batch without rows", message(join(header(9, 0, 1, 0), field(42, nil))), 4},
		{"batch of 4 billion rows", message(join(header(9, 0, 1, 0), field(42, []byte{0xFF, 0xFF, 0xFF, 0xFF, 1}))), 4},
		{"batch whose first row repeats", message(join(header(9, 0, 1, 0), field(42, join([]byte{0, 0, 0, 1, 1}, make([]byte, 24), []byte{1})))), 4},
		{"scan of partition 5000", message(join(header(1, 0, 2, 0), inTest, field(11, []byte{0x88, 0x13}))), 4},
		{"scan with half a partition", message(join(header(1, 0, 2, 0), inTest, field(11, []byte{1}))), 4},
		{"compressed garbage", frameOf(2, 4, 40, bytes.Repeat([]byte{0xAA}, 40)), 25},
		{"compressed, of 1 TB", frameOf(2, 4, 16, []byte{0, 0, 1, 0, 0, 0, 0, 0, 0x78, 0x9C, 1, 2, 3, 4, 5, 6}), 25},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := rawDial(t, s.Addr())
			defer conn.Close()
			if _, err := conn.Write(c.send); err != nil {
				t.Fatal(err)
			}
			head := make([]byte, 8+22)
			_, err := io.ReadFull(conn, head)
			switch {
			case c.want == reset:
				if !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("got %v, want a reset", err)
				}
				return
			case c.want == closed:
				if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("got %v, want the end", err)
				}
				return
			case err != nil:
				t.Fatalf("got %v, want code %d", err, c.want)
			}
			if got := int(head[8+5]); got != c.want {
				t.Errorf("got code %d, want %d", got, c.want)
			}
			// The connection is still good for a proper request.
			if _, err := conn.Write(frameOf(2, 1, 6, []byte("build\n"))); err != nil {
				t.Fatal(err)
			}
			answer := make([]byte, 8+14)
			if _, err := io.ReadFull(conn, answer); err != nil || string(answer[8:]) != "build\t8.1.2.0\n" {
				t.Errorf("after it: %q, %v", answer, err)
			}
		})
	}
}

// TestClaimedLength: a length takes no memory, only bytes do.
func TestClaimedLength(t *testing.T) {
	s := miniaero.RunT(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const clients = 100
	for range clients { // each says that 15 MiB are to come
		c := rawDial(t, s.Addr())
		defer c.Close()
		if _, err := c.Write(frameOf(2, 3, 15<<20, make([]byte, 100))); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all are connected", func() bool { return s.Connections() == clients })
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("%d clients that claim 15 MiB and send 100 bytes took %d bytes", clients, grown)
	}
}

// TestSlowWriter: a message that drips in is given up, however alive its sender seems.
func TestSlowWriter(t *testing.T) {
	s := miniaero.RunT(t, miniaero.Options{MessageTimeout: 50 * time.Millisecond})
	c := rawDial(t, s.Addr())
	defer c.Close()
	drip := frameOf(2, 3, 1000, nil)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for i := 0; ; i++ {
		<-tick.C
		b := byte(0)
		if i < len(drip) {
			b = drip[i]
		}
		if _, err := c.Write([]byte{b}); err != nil {
			break // the server has closed it
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("a message is still waited for after 10 s")
		}
	}
	idle := rawDial(t, s.Addr())
	defer idle.Close()
	eventually(t, "the idle one alone stays", func() bool { return s.Connections() == 1 })
}

// TestSlowReader: one who does not take its answers in is given up as well.
func TestSlowReader(t *testing.T) {
	s := miniaero.RunT(t, miniaero.Options{MessageTimeout: 50 * time.Millisecond})
	c := rawDial(t, s.Addr())
	defer c.Close()
	ask := bytes.Repeat(frameOf(2, 1, 9, []byte("replicas\n")), 100) // 17 bytes ask for 700
	for {
		if _, err := c.Write(ask); err != nil {
			break
		}
	}
	eventually(t, "it is closed", func() bool { return s.Connections() == 0 })
}

func TestIdle(t *testing.T) {
	s := miniaero.RunT(t, miniaero.Options{IdleTimeout: 30 * time.Millisecond})
	c := rawDial(t, s.Addr())
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("an idle connection: %v, want its end", err)
	}
}

// TestPipelined: requests that come in one piece, and in pieces of one byte, are answered in order.
func TestPipelined(t *testing.T) {
	s := miniaero.RunT(t)
	c := rawDial(t, s.Addr())
	defer c.Close()
	one := join(frameOf(2, 1, 6, []byte("build\n")), frameOf(2, 1, 5, []byte("node\n")))
	want := join(frameOf(2, 1, 14, []byte("build\t8.1.2.0\n")), frameOf(2, 1, 8, []byte("node\tA1\n")))
	if _, err := c.Write(bytes.Repeat(one, 50)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 50*len(want))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, bytes.Repeat(want, 50)) {
		t.Errorf("50 pairs at a time: %v", err)
	}
	for _, b := range one {
		if _, err := c.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.ReadFull(c, got[:len(want)]); err != nil || !bytes.Equal(got[:len(want)], want) {
		t.Errorf("byte by byte: %q, %v", got[:len(want)], err)
	}
}
