//go:build linux

package pool

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

// prompts are a Prompt and the other end of its connection.
func prompts(t *testing.T) (*Prompt, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); far.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second)) // instead of hanging
	p := NewPrompt(c)
	if p == nil {
		t.Fatal("a TCP connection is none of the kernel's")
	}
	return p, far.(*net.TCPConn)
}

func echo(c net.Conn, n int) {
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err == nil {
		c.Write(b)
	}
}

func TestPromptExchanges(t *testing.T) {
	p, far := prompts(t)
	go func() {
		for range 2000 {
			echo(far, 5)
		}
	}()
	var in [16]byte
	for i := range 1000 {
		for _, held := range []bool{true, false} {
			out := []byte{'c', 'a', 'l', 'l', byte(i)}
			if held {
				p.Hold()
			}
			if n, err := p.Write(out); n != 5 || err != nil {
				t.Fatal(n, err)
			}
			if n, err := io.ReadFull(p, in[:5]); err != nil || !bytes.Equal(in[:n], out) || p.Refused() {
				t.Fatalf("call %d, held %t: %q, %v", i, held, in[:n], err)
			}
		}
	}
}

// A write that does not fit into the socket's buffers is finished by waiting for room.
func TestPromptWritesWhatIsLarge(t *testing.T) {
	p, far := prompts(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MiB
	go echo(far, len(big))
	p.Hold()
	p.Write(big)
	back := make([]byte, len(big))
	if _, err := io.ReadFull(p, back); err != nil || !bytes.Equal(back, big) {
		t.Fatalf("%v, equal %t", err, bytes.Equal(back, big))
	}
}

func TestPromptFails(t *testing.T) {
	var in [16]byte
	t.Run("the peer hangs up", func(t *testing.T) {
		p, far := prompts(t)
		go func() { io.ReadFull(far, make([]byte, 4)); far.Close() }()
		p.Hold()
		p.Write([]byte("call"))
		if n, err := p.Read(in[:]); n != 0 || err != io.EOF {
			t.Errorf("%d, %v", n, err)
		}
	})
	t.Run("the peer has hung up before", func(t *testing.T) {
		p, far := prompts(t)
		far.SetLinger(0)
		far.Close()
		for p.Conn.SetReadDeadline(time.Now().Add(20*time.Second)) == nil { // until the reset is here
			if _, err := p.Conn.Read(in[:]); err != nil {
				break
			}
		}
		p.Hold()
		p.Write([]byte("call"))
		if n, err := p.Read(in[:]); n != 0 || !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%d, %v", n, err)
		}
	})
	t.Run("the deadline passes", func(t *testing.T) {
		p, _ := prompts(t)
		p.SetDeadline(time.Now().Add(20 * time.Millisecond))
		p.Hold()
		p.Write([]byte("call"))
		if n, err := p.Read(in[:]); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d, %v", n, err)
		}
	})
	t.Run("it is closed meanwhile", func(t *testing.T) {
		p, far := prompts(t)
		go func() { io.ReadFull(far, make([]byte, 4)); p.Close() }()
		p.Hold()
		p.Write([]byte("call"))
		if n, err := p.Read(in[:]); n != 0 || !errors.Is(err, net.ErrClosed) {
			t.Errorf("%d, %v", n, err)
		}
	})
	t.Run("the peer answers and hears no more", func(t *testing.T) {
		p, far := prompts(t)
		far.Write([]byte("no"))
		far.SetLinger(-1)
		p.Conn.(*net.TCPConn).CloseWrite() // what a reset does to later writes, without taking the answer along
		p.Hold()
		p.Write([]byte("call"))
		if n, err := io.ReadFull(p, in[:2]); string(in[:n]) != "no" || err != nil || !p.Refused() {
			t.Errorf("%q, %v, refused %t", in[:n], err, p.Refused())
		}
	})
}

func TestNoPrompt(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if NewPrompt(a) != nil {
		t.Error("a pipe is a socket of the kernel's")
	}
}

// BenchmarkExchange is a call of 150 bytes to an echo in the same process, by a connection as it is and by one that waits first.
func BenchmarkExchange(b *testing.B) {
	for _, held := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "prompt"}[held], func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			far, err := l.Accept()
			if err != nil {
				b.Fatal(err)
			}
			defer far.Close()
			go io.Copy(far, far)
			p, out, in := NewPrompt(c), make([]byte, 150), make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				if held {
					p.Hold()
				}
				p.Write(out)
				if _, err := p.Read(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
