package miniaero

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// quickPair is a connection as sessions have it, and the other end.
func quickPair(t testing.TB) (ours, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if theirs, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ours = quick(c)
	t.Cleanup(func() {
		ours.Close()
		theirs.Close()
	})
	return ours, theirs
}

// TestQuickWrite sends more than a socket takes at once to one who reads it later.
func TestQuickWrite(t *testing.T) {
	ours, theirs := quickPair(t)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB
	wrote := make(chan error, 1)
	go func() {
		n, err := ours.Write(sent)
		if err == nil && n != len(sent) {
			err = io.ErrShortWrite
		}
		wrote <- errors.Join(err, ours.Close())
	}()
	got, err := io.ReadAll(theirs)
	if err := errors.Join(err, <-wrote); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes came: %v", len(got), len(sent), err)
	}
}

// TestQuickRead: what comes together is read together, then the wait ends with what comes later, and at last with the
// end, also when that came with the last bytes.
func TestQuickRead(t *testing.T) {
	ours, theirs := quickPair(t)
	for _, part := range []string{"a", "bcd"} {
		read := make(chan string, 1)
		go func() {
			b := make([]byte, 10)
			n, err := ours.Read(b)
			if err != nil {
				t.Error(err)
			}
			read <- string(b[:n])
		}()
		if _, err := theirs.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		if got := <-read; got != part {
			t.Errorf("read %q, want %q", got, part)
		}
	}
	if _, err := theirs.Write([]byte("last")); err != nil {
		t.Fatal(err)
	}
	if err := theirs.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(ours); string(got) != "last" || err != nil {
		t.Errorf("the rest is %q, %v; want \"last\" and the end", got, err)
	}
}

// TestQuickEnds: a deadline, a close and a reset end a wait as they do for any connection.
func TestQuickEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(ours, theirs net.Conn) error
		want error
	}{
		{"read deadline", func(ours, _ net.Conn) error { return ours.SetReadDeadline(time.Now()) }, os.ErrDeadlineExceeded},
		{"close", func(ours, _ net.Conn) error { return ours.Close() }, net.ErrClosed},
		{"reset", func(_, theirs net.Conn) error { reset(theirs); return nil }, syscall.ECONNRESET},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours, theirs := quickPair(t)
			read := make(chan error, 1)
			go func() {
				_, err := ours.Read(make([]byte, 1))
				read <- err
			}()
			if err := c.end(ours, theirs); err != nil {
				t.Fatal(err)
			}
			if err := <-read; !errors.Is(err, c.want) {
				t.Errorf("the read ended with %v, want %v", err, c.want)
			}
		})
	}
	ours, _ := quickPair(t)
	if err := ours.SetWriteDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := ours.Write(make([]byte, 64<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n == 64<<20 {
		t.Errorf("a write that nobody reads ended with %d bytes and %v, want some bytes and a missed deadline", n, err)
	}
}

// TestQuickDoesNotAllocate: a request has a read and a write.
func TestQuickDoesNotAllocate(t *testing.T) {
	ours, theirs := quickPair(t)
	b := make([]byte, 100)
	for name, f := range map[string]func() (int, error){
		"write": func() (int, error) { theirs.Write(b); return ours.Read(b) },
		"read":  func() (int, error) { ours.Write(b); return theirs.Read(b) },
	} {
		if n := testing.AllocsPerRun(100, func() {
			if _, err := f(); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
