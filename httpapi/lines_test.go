package httpapi_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"bakeoff/httpapi"
)

func TestLines(t *testing.T) {
	const limit = 10_000 // more than the reader's buffer of 4096
	long := strings.Repeat("x", limit)
	for _, row := range []struct {
		name, in string
		want     []string
		err      error
	}{
		{name: "nothing", in: ""},
		{name: "blank lines", in: "\n\r\n\n"},
		{name: "with and without an end", in: "a\nb", want: []string{"a", "b"}},
		{name: "carriage returns", in: "a\r\nb\r\n", want: []string{"a", "b"}},
		{name: "byte-order mark", in: "\xef\xbb\xbfa\nb\n", want: []string{"a", "b"}},
		{name: "at the limit", in: long + "\n" + long + "\r\na", want: []string{long, long, "a"}},
		{name: "one over the limit", in: "a\n" + long + "x\nb", want: []string{"a"}, err: httpapi.ErrLineTooLong},
		{name: "over the limit without end", in: strings.Repeat("x", 3*limit), err: httpapi.ErrLineTooLong},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(row.in), iotest.OneByteReader(strings.NewReader(row.in))} {
				lines := httpapi.NewLines(r, limit)
				var got []string
				for {
					line, err := lines.Next()
					if err != nil {
						if want := errors.Join(row.err); want == nil && err != io.EOF || want != nil && !errors.Is(err, row.err) {
							t.Errorf("got error %v, want %v", err, row.err)
						}
						break
					}
					got = append(got, string(line))
				}
				if !slices.Equal(got, row.want) {
					t.Errorf("got %d lines %.80q, want %d", len(got), got, len(row.want))
				}
			}
		})
	}
}

// TestLinesBroken: half a line is not a line.
func TestLinesBroken(t *testing.T) {
	broken := errors.New("broken")
	lines := httpapi.NewLines(io.MultiReader(strings.NewReader("a\nhal"), iotest.ErrReader(broken)), 10)
	if line, err := lines.Next(); string(line) != "a" || err != nil {
		t.Errorf("got %q, %v", line, err)
	}
	if line, err := lines.Next(); !errors.Is(err, broken) {
		t.Errorf("got %q, %v, want the reader's error", line, err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\r\nb\r\nc"), 2)
	f.Add([]byte("\xef\xbb\xbf\n"), 1)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = max(1, min(limit, 1<<16))
		lines := httpapi.NewLines(bytes.NewReader(in), limit)
		total := 0
		for {
			line, err := lines.Next()
			if err != nil {
				if err != io.EOF && err != httpapi.ErrLineTooLong {
					t.Fatalf("got error %v", err)
				}
				return
			}
			if len(line) == 0 || len(line) > limit || bytes.IndexByte(line, '\n') >= 0 {
				t.Fatalf("got line %q with a limit of %d", line, limit)
			}
			if total += len(line); total > len(in) {
				t.Fatal("there are more lines than bytes")
			}
		}
	})
}

func TestReadMessage(t *testing.T) {
	const limit = 1000
	for n, want := range map[int]error{0: nil, limit: nil, limit + 1: httpapi.ErrLineTooLong, 5 * limit: httpapi.ErrLineTooLong} {
		in := strings.Repeat("x", n)
		got, err := httpapi.ReadMessage(strings.NewReader(in), nil, limit)
		if !errors.Is(err, want) || want == nil && string(got) != in {
			t.Errorf("%d bytes with a limit of %d: got %d bytes, error %v, want %v", n, limit, len(got), err, want)
		}
	}
	broken := errors.New("broken")
	if _, err := httpapi.ReadMessage(iotest.ErrReader(broken), nil, limit); !errors.Is(err, broken) {
		t.Errorf("got error %v, want the reader's", err)
	}
}

func line(s string) func([]byte) ([]byte, error) {
	return func(dst []byte) ([]byte, error) { return append(dst, s...), nil }
}

func TestBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			mu     sync.Mutex
			pieces []string
		)
		b := httpapi.NewBatch(func(p []byte) error {
			mu.Lock()
			defer mu.Unlock()
			pieces = append(pieces, string(p))
			return nil
		})
		want := func(step string, want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(pieces, want) {
				t.Errorf("%s: got %d pieces %.60q, want %d", step, len(pieces), pieces, len(want))
			}
			pieces = nil
		}
		check(t, b.Add(line("a")))
		check(t, b.Add(line("b")))
		want("before its time")
		time.Sleep(3 * time.Millisecond) // the clock is synctest's
		want("after 2 ms", "a\nb\n")
		long := strings.Repeat("x", 5000)
		check(t, b.Add(line(long)))
		want("a full piece", long+"\n")
		bad := errors.New("bad")
		if err := b.Add(func([]byte) ([]byte, error) { return nil, bad }); !errors.Is(err, bad) {
			t.Errorf("got error %v, want that of the message", err)
		}
		check(t, b.Add(line("c")))
		check(t, b.Close())
		want("at the end", "c\n")
		time.Sleep(10 * time.Millisecond)
		want("after the end")
		if b.Add(line("d")) == nil || b.Close() != nil || len(b.Rest()) != 0 {
			t.Error("a closed batch takes lines")
		}
		r := httpapi.NewBatch(func([]byte) error { t.Error("the rest was sent"); return nil })
		check(t, r.Add(line("e")))
		if got := string(r.Rest()); got != "e\n" {
			t.Errorf("the rest: got %q", got)
		}
		time.Sleep(10 * time.Millisecond)
	})
}

func TestBatchKeepsItsError(t *testing.T) {
	broken := errors.New("broken")
	sent := 0
	b := httpapi.NewBatch(func([]byte) error { sent++; return broken })
	for range 3 {
		if err := b.Add(line(strings.Repeat("x", 5000))); !errors.Is(err, broken) {
			t.Errorf("got error %v, want that of the connection", err)
		}
	}
	if err := b.Close(); !errors.Is(err, broken) || sent != 1 {
		t.Errorf("close: got error %v after %d pieces, want that of the connection after 1", err, sent)
	}
}
