package suite

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"bakeoff/protocol"
	"bakeoff/service"
)

// zips are the subjects as they compress, for those that can.
func zips(t *testing.T) []protocol.Protocol {
	t.Helper()
	var all []protocol.Protocol
	for _, p := range All {
		p.Tuning.Knobs = maps.Clone(p.Tuning.Knobs)
		if p.Tuning.Knobs == nil {
			p.Tuning.Knobs = map[string]string{}
		}
		p.Tuning.Knobs[protocol.KnobCompression] = protocol.Gzip
		err := p.Check(p.Options(1, 0))
		if err == nil {
			all = append(all, p)
		} else if !strings.Contains(err.Error(), protocol.KnobCompression) {
			t.Errorf("%s refuses compression with %v", p.Name, err)
		}
	}
	return all
}

// TestWhoCompresses: these do, at least.
func TestWhoCompresses(t *testing.T) {
	var got []string
	for _, p := range zips(t) {
		got = append(got, p.Name)
	}
	for _, want := range []string{"grpc", "grpc-tuned", "thrift-http", "http", "http-tuned", "http-std", "http2", "connect"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q compress, and %s does not", got, want)
		}
	}
}

// onWire counts what goes over the sockets of a client.
type onWire struct {
	net.Conn
	sent, got *atomic.Int64
}

func (c onWire) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.got.Add(int64(n))
	return n, err
}

// Write counts before it writes: the answer may be there before the writer goes on.
func (c onWire) Write(b []byte) (int, error) {
	c.sent.Add(int64(len(b)))
	return c.Conn.Write(b)
}

// wire is how many bytes an echo of p takes each way, after one before it.
func wire(t *testing.T, subject protocol.Protocol, compression string, p service.Payload) (sent, got int64) {
	t.Helper()
	var up, down atomic.Int64
	subject.Tuning.Knobs = maps.Clone(subject.Tuning.Knobs)
	subject.Tuning.Knobs[protocol.KnobCompression] = compression
	o := subject.Options(1, 1)
	o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return onWire{c, &up, &down}, err
	}
	c, err := subject.Dial(t.Context(), serving(t, subject, nil), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 {
		sent, got = up.Load(), down.Load()
		answer, err := c.Echo(t.Context(), p)
		if err != nil || answer.Text != p.Text || !slices.Equal(answer.Data, p.Data) {
			t.Fatalf("%s, compression %s: %d bytes of text and %d others, %v", subject.Name, compression, len(answer.Text), len(answer.Data), err)
		}
	}
	return up.Load() - sent, down.Load() - got
}

// TestCompressedBytesOnTheWire: text takes far fewer bytes in both directions, and random bytes no fewer than there are.
func TestCompressedBytesOnTheWire(t *testing.T) {
	text := service.Payload{Text: strings.Repeat("what compresses well goes over the wire in few bytes. ", 2000)}
	noise := service.Payload{Data: make([]byte, 100_000)}
	for i := range noise.Data {
		noise.Data[i] = byte(rand.Uint32())
	}
	for _, p := range zips(t) {
		for what, payload := range map[string]service.Payload{"text": text, "noise": noise} {
			size := int64(len(payload.Text) + len(payload.Data))
			plainUp, plainDown := wire(t, p, protocol.NoCompression, payload)
			up, down := wire(t, p, protocol.Gzip, payload)
			t.Logf("%s, %d bytes of %s: %d up and %d down plain, %d and %d compressed", p.Name, size, what, plainUp, plainDown, up, down)
			if plainUp < size || plainDown < size {
				t.Errorf("%s: %d bytes of %s took %d and %d without compression", p.Name, size, what, plainUp, plainDown)
			}
			if what == "text" && (up > size/20 || down > size/20) || what == "noise" && (up < size || down < size || up > size*11/10 || down > size*11/10) {
				t.Errorf("%s: %d bytes of %s took %d and %d with compression", p.Name, size, what, up, down)
			}
		}
	}
}
