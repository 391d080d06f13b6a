package conformance

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"bakeoff/protocol"
	"bakeoff/service"
)

var sizeVectors = []Vector{
	{"payload",
		"1 MiB is carried both ways",
		"buffers and limits of frames, strings and bodies, on both ends", payload(1 << 20)},
	{"payload-most",
		"16 KiB less than the limit of 4 MiB is carried both ways",
		"a limit that is lower than Options.MaxMessage", payload(protocol.DefaultMaxMessage - 16<<10)},
	{"request-too-large",
		"a request of 4 MiB + 1 is resource_exhausted, and the client works after it",
		"Options.MaxMessage at the server, and how its refusal is reported", requestTooLarge},
	{"answer-too-large",
		"an answer of 4 MiB + 1 is resource_exhausted, and the client works after it",
		"Options.MaxMessage at the client, or at the server before it sends", answerTooLarge},
	{"max-message",
		"a client with a limit of 64 KiB of its own refuses 100,000 bytes in either direction",
		"whether Dial honours Options.MaxMessage", maxMessage},
	{"bytes",
		"bytes arrive as they were sent: none, each of the 256 values alone, all of them with and without text beside them",
		"bytes that are carried as text, or text that is carried as bytes", bytesAlike},
	{"bytes-payload",
		"1 MiB of bytes of every value is carried both ways",
		"how bytes are encoded, and the buffers and limits of frames and bodies", bytesPayload},
	{"bytes-too-large",
		"a request of 4 MiB + 1 in bytes is resource_exhausted, and the client works after it",
		"whether Options.MaxMessage holds for bytes as it does for text", bytesTooLarge},
}

func payload(n int) func(context.Context, *Env) error {
	return func(ctx context.Context, e *Env) error {
		// Not all the same byte, so that a part that is lost or out of place shows.
		text := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz!", n/37+1)[:n]
		d, err := ask(ctx, e.Client, "echo:"+text)
		if err != nil {
			return fmt.Errorf("echo of %d bytes: got error %w", n, err)
		}
		if err := same("bytes at the server", d.CodeID, int64(n)); err != nil {
			return err
		}
		if d.CnName != text {
			return fmt.Errorf("echo of %d bytes: got %s, want the same text", n, short(d.CnName))
		}
		return works(ctx, e.Client, fmt.Sprintf("%d bytes", n))
	}
}

func requestTooLarge(ctx context.Context, e *Env) error {
	// More often than there are connections, so that a connection spoilt by the refusal is used again.
	for range shared + 1 {
		_, err := ask(ctx, e.Client, "echo:"+strings.Repeat("x", protocol.DefaultMaxMessage+1))
		if err := fails("a request of 4 MiB + 1", err, service.ResourceExhausted, ""); err != nil {
			return err
		}
		if err := works(ctx, e.Client, "a request of 4 MiB + 1"); err != nil {
			return err
		}
	}
	return nil
}

func answerTooLarge(ctx context.Context, e *Env) error {
	for range shared + 1 {
		_, err := ask(ctx, e.Client, fmt.Sprintf("large:%d", protocol.DefaultMaxMessage+1))
		if err := fails("an answer of 4 MiB + 1", err, service.ResourceExhausted, ""); err != nil {
			return err
		}
		if err := works(ctx, e.Client, "an answer of 4 MiB + 1"); err != nil {
			return err
		}
	}
	return nil
}

func maxMessage(ctx context.Context, e *Env) error {
	c, err := e.Dial(ctx, 1, 1, func(o *protocol.Options) { o.MaxMessage = 64 << 10 })
	if err != nil {
		return err
	}
	_, err = ask(ctx, c, "large:100000")
	if err := fails("an answer of 100,000 bytes to a client with a limit of 64 KiB", err, service.ResourceExhausted, ""); err != nil {
		return err
	}
	_, err = ask(ctx, c, "echo:"+strings.Repeat("x", 100_000))
	if err := fails("a request of 100,000 bytes by a client with a limit of 64 KiB", err, service.ResourceExhausted, ""); err != nil {
		return err
	}
	return works(ctx, c, "messages over its limit")
}

// echoes wants a payload back as it was sent.
func echoes(ctx context.Context, c service.DataAPI, what string, p service.Payload) error {
	sent := bytes.Clone(p.Data)
	got, err := c.Echo(ctx, p)
	if err != nil {
		return fmt.Errorf("echo of %s: got error %w", what, err)
	}
	if err := same("echo of "+what+": text", got.Text, p.Text); err != nil {
		return err
	}
	if !bytes.Equal(got.Data, sent) {
		return fmt.Errorf("echo of %s: got bytes %s, want %s", what, short(string(got.Data)), short(string(sent)))
	}
	if !bytes.Equal(p.Data, sent) {
		return fmt.Errorf("echo of %s: the caller's bytes were changed to %s", what, short(string(p.Data)))
	}
	return nil
}

// everyByte is n bytes in which each of the 256 values has its turn, in an order that changes from one to the next.
func everyByte(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i + i>>8)
	}
	return b
}

func bytesAlike(ctx context.Context, e *Env) error {
	all := everyByte(256)
	for _, c := range []struct {
		what    string
		payload service.Payload
	}{
		{"nothing", service.Payload{}},
		{"no bytes", service.Payload{Data: []byte{}}},
		{"text alone", service.Payload{Text: "語音接通 \"<&\\"}},
		{"all 256 bytes", service.Payload{Data: all}},
		{"all 256 bytes and text", service.Payload{Text: "語音接通", Data: all}},
	} {
		if err := echoes(ctx, e.Client, c.what, c.payload); err != nil {
			return err
		}
	}
	for i := range all {
		if err := echoes(ctx, e.Client, fmt.Sprintf("the byte %#02x", all[i]), service.Payload{Data: all[i : i+1]}); err != nil {
			return err
		}
	}
	return nil
}

func bytesPayload(ctx context.Context, e *Env) error {
	if err := echoes(ctx, e.Client, "1 MiB of bytes", service.Payload{Data: everyByte(1 << 20)}); err != nil {
		return err
	}
	return works(ctx, e.Client, "1 MiB of bytes")
}

func bytesTooLarge(ctx context.Context, e *Env) error {
	large := make([]byte, protocol.DefaultMaxMessage+1)
	for range shared + 1 {
		_, err := e.Client.Echo(ctx, service.Payload{Data: large})
		if err := fails("a request of 4 MiB + 1 in bytes", err, service.ResourceExhausted, ""); err != nil {
			return err
		}
		if err := works(ctx, e.Client, "a request of 4 MiB + 1 in bytes"); err != nil {
			return err
		}
	}
	return nil
}
