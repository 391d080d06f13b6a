package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/suite"
)

// start has serve answer on a port of its own until the test ends.
func start(tb testing.TB, p protocol.Protocol, serve func(context.Context, net.Listener, protocol.Protocol, protocol.Options) error) (addr string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l, p, p.Options(1, 0)) }()
	tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	return l.Addr().String()
}

// TestEverySubjectHasABareServer that understands the client and answers what ours answers, byte for byte where a
// message travels alone on its connection.
func TestEverySubjectHasABareServer(t *testing.T) {
	for _, p := range suite.All {
		t.Run(p.Name, func(t *testing.T) {
			var said [2][]byte
			for i, serve := range []func(context.Context, net.Listener, protocol.Protocol, protocol.Options) error{serveOurs, serveBare} {
				addr := start(t, p, serve)
				tape := &tape{}
				o := p.Options(1, 0)
				o.DialContext = tape.dial
				client, err := p.Dial(t.Context(), addr, o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { client.Close() })
				if err := probe(t.Context(), client); err != nil {
					t.Fatal(err)
				}
				said[i] = tape.heard()
			}
			if !p.Multiplexed && !bytes.Equal(said[0], said[1]) {
				t.Errorf("ours answers\n%q\nthe bare one\n%q", said[0], said[1])
			}
		})
	}
}

// tape keeps what goes over a connection.
type tape struct {
	mu        sync.Mutex
	sent, got bytes.Buffer
}

func (t *tape) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	return taped{c, t}, err
}

func (t *tape) heard() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.got.Bytes())
}

func (t *tape) said() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.sent.Bytes())
}

type taped struct {
	net.Conn
	tape *tape
}

func (c taped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.tape.mu.Lock()
	defer c.tape.mu.Unlock()
	c.tape.got.Write(b[:n])
	return n, err
}

func (c taped) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.tape.mu.Lock()
	defer c.tape.mu.Unlock()
	c.tape.sent.Write(b[:n])
	return n, err
}

// BenchmarkServer has each server answer one connection that costs nothing: what is left is the library's code and
// ours. It tells by how much they differ where the kernel's share drowns it.
func BenchmarkServer(b *testing.B) {
	for _, p := range suite.All {
		if p.Multiplexed {
			continue // no request of which is the same bytes twice
		}
		tape := &tape{}
		o := p.Options(1, 0)
		o.DialContext = tape.dial
		client, err := p.Dial(b.Context(), start(b, p, serveBare), o)
		if err != nil {
			b.Fatal(err)
		}
		if err := probe(b.Context(), client); err != nil {
			b.Fatal(err)
		}
		client.Close()
		for _, s := range []struct {
			name  string
			serve func(context.Context, net.Listener, protocol.Protocol, protocol.Options) error
		}{{"bare", serveBare}, {"ours", serveOurs}} {
			b.Run(p.Name+"/"+s.name, func(b *testing.B) {
				b.ReportAllocs()
				l := &replay{request: tape.said(), left: b.N, done: make(chan struct{}), closed: make(chan struct{})}
				ctx, stop := context.WithCancel(b.Context())
				ended := make(chan error, 1)
				before, err := ownCPU()
				if err != nil {
					b.Fatal(err)
				}
				go func() { ended <- s.serve(ctx, l, p, p.Options(1, 0)) }()
				<-l.done
				after, err := ownCPU()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op") // steadier than the time
				stop()
				if err := <-ended; err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// replay is a listener of one connection on which the same request comes again and again.
type replay struct {
	request []byte
	left    int
	done    chan struct{} // closed when all were answered
	once    sync.Once
	closed  chan struct{}
	taken   bool
}

func (r *replay) Accept() (net.Conn, error) {
	if !r.taken {
		r.taken = true
		return &replayed{r: r}, nil
	}
	<-r.closed
	return nil, net.ErrClosed
}
func (r *replay) Close() error   { r.once.Do(func() { close(r.closed) }); return nil }
func (r *replay) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

type replayed struct {
	r    *replay
	over bool
}

func (c *replayed) Read(b []byte) (int, error) {
	if c.r.left == 0 {
		if !c.over {
			c.over = true
			close(c.r.done)
		}
		return 0, io.EOF
	}
	c.r.left--
	return copy(b, c.r.request), nil
}
func (c *replayed) Write(b []byte) (int, error)      { return len(b), nil }
func (c *replayed) Close() error                     { return nil }
func (c *replayed) LocalAddr() net.Addr              { return c.r.Addr() }
func (c *replayed) RemoteAddr() net.Addr             { return c.r.Addr() }
func (c *replayed) SetDeadline(time.Time) error      { return nil }
func (c *replayed) SetReadDeadline(time.Time) error  { return nil }
func (c *replayed) SetWriteDeadline(time.Time) error { return nil }
