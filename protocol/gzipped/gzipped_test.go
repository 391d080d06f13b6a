package gzipped

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func TestThereAndBack(t *testing.T) {
	for _, message := range []string{"", "x", strings.Repeat("語音接通 ", 10_000)} {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				zipped := Append([]byte("before"), []byte(message))
				r, err := gzip.NewReader(bytes.NewReader(zipped[len("before"):])) // what the library reads
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := io.ReadAll(r); err != nil || string(got) != message {
					t.Errorf("the library reads %d bytes, %v", len(got), err)
				}
				for _, r := range []io.Reader{bytes.NewReader(zipped[6:]), iotest.OneByteReader(bytes.NewReader(zipped[6:]))} {
					got, err := Expand([]byte("head"), r, len(message))
					if err != nil || string(got) != "head"+message {
						t.Errorf("%d bytes came back as %d, %v", len(message), len(got)-4, err)
					}
				}
				if len(message) > 0 {
					got, err := Expand([]byte("head"), bytes.NewReader(zipped[6:]), len(message)-1)
					if !errors.Is(err, ErrTooLarge) || string(got) != "head" {
						t.Errorf("one byte over the limit: %q, %v", got, err)
					}
				}
			})
		}
		all.Wait()
	}
}

// A small message that would expand to a large one costs what its limit is.
func TestBomb(t *testing.T) {
	bomb := Append(nil, make([]byte, 16<<20))
	got, err := Expand(nil, bytes.NewReader(bomb), 1<<20)
	if !errors.Is(err, ErrTooLarge) || cap(got) > 4<<20 {
		t.Errorf("%v with room for %d bytes", err, cap(got))
	}
}

func TestBroken(t *testing.T) {
	whole := Append(nil, []byte("some message"))
	broken := errors.New("broken")
	for what, c := range map[string]struct {
		in   io.Reader
		want string
	}{
		"nothing":       {strings.NewReader(""), "not gzip: unexpected EOF"},
		"plain text":    {strings.NewReader("plain text that is no gzip"), "not gzip: gzip: invalid header"},
		"half":          {bytes.NewReader(whole[:len(whole)-9]), "not gzip: unexpected EOF"},
		"wrong sum":     {bytes.NewReader(append(whole[:len(whole)-8:len(whole)-8], make([]byte, 8)...)), "not gzip: gzip: invalid checksum"},
		"more after it": {io.MultiReader(bytes.NewReader(whole), strings.NewReader("0123456789")), "not gzip: gzip: invalid header"},
		"a failure":     {io.MultiReader(bytes.NewReader(whole[:12]), iotest.ErrReader(broken)), "broken"},
	} {
		got, err := Expand(nil, c.in, 100)
		var bad *Error
		if err == nil || err.Error() != c.want || errors.As(err, &bad) == errors.Is(err, broken) {
			t.Errorf("%s: %q, %v, want %s", what, got, err, c.want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	f.Add([]byte{}, 10)
	f.Add(Append(nil, []byte("some message")), 100)
	f.Add(Append(nil, make([]byte, 10_000)), 9_999)
	f.Fuzz(func(t *testing.T, in []byte, most int) {
		most = min(max(most, 0), 1<<20)
		got, err := Expand(nil, bytes.NewReader(in), most)
		if err != nil {
			return
		}
		if len(got) > most {
			t.Fatalf("%d bytes, over the limit of %d", len(got), most)
		}
		if again, err := Expand(nil, bytes.NewReader(Append(nil, got)), most); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%d bytes came back as %d, %v", len(got), len(again), err)
		}
	})
}
