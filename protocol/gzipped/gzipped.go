// Package gzipped compresses and expands whole messages, for the protocols whose libraries don't do it by themselves: with the gzip of
// the standard library at its default level, which gRPC takes too, so that no protocol has a better one. It keeps its working
// memory, most of a mebibyte for each writer, for the next message. Everything in it may be called concurrently.
package gzipped

import (
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"sync"
)

// Encoding is what HTTP calls it.
const Encoding = "gzip"

// ErrTooLarge is the error of a message that would be larger than its limit.
var ErrTooLarge = errors.New("the message is larger than the limit once it is expanded")

type writer struct {
	zip *gzip.Writer
	out []byte
}

func (w *writer) Write(b []byte) (int, error) {
	w.out = append(w.out, b...)
	return len(b), nil
}

var writers = sync.Pool{New: func() any { return &writer{zip: gzip.NewWriter(nil)} }}

// Append compresses message and appends the outcome to dst, which must not overlap it.
func Append(dst, message []byte) []byte {
	w := writers.Get().(*writer)
	w.out = dst
	w.zip.Reset(w)
	_, _ = w.zip.Write(message) // writing into memory does not fail
	_ = w.zip.Close()
	dst, w.out = w.out, nil
	writers.Put(w)
	return dst
}

// Error is the error of bytes that are not gzip, or not whole.
type Error struct{ why error }

func (e *Error) Error() string { return "not gzip: " + e.why.Error() }

type reader struct {
	zip    gzip.Reader
	source io.Reader
	failed error // of source, but io.EOF
}

func (r *reader) Read(b []byte) (int, error) {
	n, err := r.source.Read(b)
	if err != nil && err != io.EOF {
		r.failed = err
	}
	return n, err
}

// error is the source's, or else that of its bytes.
func (r *reader) error(err error) error {
	if r.failed != nil {
		return r.failed
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // nothing is no message, however short
	}
	return &Error{err}
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// Expand reads source to its end, which must be that of the compressed message, and appends the message, of at most most bytes, to dst.
// Its errors are ErrTooLarge, those of source, and *Error. It reads no more of source than it needs to tell.
func Expand(dst []byte, source io.Reader, most int) ([]byte, error) {
	r := readers.Get().(*reader)
	r.source, r.failed = source, nil
	defer func() {
		r.source, r.failed = nil, nil
		readers.Put(r)
	}()
	z := &r.zip
	if err := z.Reset(r); err != nil {
		return dst, r.error(err)
	}
	start := len(dst)
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, 512)
		}
		// One byte above the limit is enough to see that there is one.
		room := min(cap(dst)-len(dst), start+most+1-len(dst))
		n, err := z.Read(dst[len(dst) : len(dst)+room])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst)-start > most:
			return dst[:start], ErrTooLarge
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst[:start], r.error(err)
		}
	}
}
