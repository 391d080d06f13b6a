package grpcgateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"bakeoff/proto/routeguide"
)

// counting says how much was read.
type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

func (c *counting) Close() error { return nil }

// TestDecoderIsBounded has an endless message: no more of it is read than the limit makes of use.
func TestDecoderIsBounded(t *testing.T) {
	const max = 1000
	endless := &counting{Reader: io.MultiReader(bytes.NewReader([]byte(`{}{"message":"`)), repeat('x'))}
	var why error
	d := newMarshaler(max).NewDecoder(&body{ReadCloser: endless, end: func(err error) { why = err }})
	m := new(routeguide.RouteNote)
	if err := d.Decode(m); err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(m); status.Code(err) != codes.ResourceExhausted || why != err {
		t.Errorf("got %v, and the call ended by %v; want resource_exhausted, twice", err, why)
	}
	if endless.n > 8*(max+lookahead) {
		t.Errorf("%d bytes were read of a message with a limit of %d", endless.n, max)
	}
}

type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// FuzzDecoder has any bytes as a request's body: it is messages, and then ends or is refused with a status.
func FuzzDecoder(f *testing.F) {
	for _, s := range []string{"", `{"location":{"latitude":1},"message":"m"}` + "\n{}", `{"message":7}`, `[`, "\xff", `{"location":null}`, `{"message":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ctx, end := context.WithCancelCause(t.Context())
		defer end(nil)
		d := newMarshaler(128).NewDecoder(&body{ReadCloser: io.NopCloser(bytes.NewReader(b)), end: end})
		for range len(b) + 2 {
			err := d.Decode(new(routeguide.RouteNote))
			if err == nil {
				continue
			}
			if err != io.EOF && (!errors.Is(refused(ctx), err) || status.Code(err) == codes.Unknown) {
				t.Errorf("%q: ends with %v, and the call by %v", b, err, refused(ctx))
			}
			return
		}
		t.Errorf("%q: more messages than bytes", b)
	})
}
