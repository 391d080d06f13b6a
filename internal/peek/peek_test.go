package peek

import (
	"io"
	"net"
	"testing"
	"time"
)

func TestAt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	want := func(when string, c net.Conn, want State) {
		t.Helper()
		for range 2 { // a look changes nothing
			if got := At(c); got != want {
				t.Errorf("%s: got state %d, want %d", when, got, want)
			}
		}
	}
	want("idle", c, Quiet)
	if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	want("past its deadline", c, Quiet)
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the look took the deadline off")
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	want("wrapped", struct{ net.Conn }{c}, Unknown)
	if _, err := io.WriteString(peer, "ab"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	want("with a byte to read", c, Bytes)
	peer.Close()
	if rest, err := io.ReadAll(c); string(rest) != "b" || err != nil { // returns when the end has arrived
		t.Fatalf("read %q, %v", rest, err)
	}
	want("closed by the peer", c, Closed)
	c.Close()
	want("closed by us", c, Closed)
}
