package conformance

import (
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
