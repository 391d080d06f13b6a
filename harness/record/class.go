package record

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
)

// classed is an error that knows its class: a service's, a client's or the load's own.
type classed interface {
	error
	Class() string
}

// The classes of errors that do not know theirs.
const (
	timeout   = "timeout"
	refused   = "refused"
	reset     = "reset"
	local     = "local" // this machine ran out of something
	cancelled = "cancelled"
	other     = "other"
)

// sentinels decide in their order: a timeout that broke a connection is a timeout.
var sentinels = []struct {
	err   error
	class string
}{
	{os.ErrDeadlineExceeded, timeout},
	{context.DeadlineExceeded, timeout},
	{syscall.ETIMEDOUT, timeout},
	{context.Canceled, cancelled},
	{syscall.ECONNREFUSED, refused},
	{syscall.ECONNRESET, reset},
	{syscall.EPIPE, reset},
	{io.ErrUnexpectedEOF, reset},
	{io.EOF, reset},
	{syscall.EMFILE, local},
	{syscall.ENFILE, local},
	{syscall.EADDRNOTAVAIL, local},
	{syscall.ENOBUFS, local},
	{syscall.ENOMEM, local},
}

// Class names the outcome of a call that failed with err: what the error says of itself (Class() string, anywhere in
// its chain), else what the system said, else "other".
func Class(err error) string {
	if c, ok := errors.AsType[classed](err); ok && c.Class() != "" {
		return c.Class()
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.class
		}
	}
	return other
}

// Bounds on what is kept of failures, however many there are and whatever they say.
const (
	maxClasses  = 32
	maxMessages = 5   // distinct ones of each class; the further ones count in their class alone
	maxMessage  = 300 // bytes of one
)

// failures count failures by class, with examples.
type failures struct{ classes map[string]*class }

type class struct {
	count    uint64
	examples []Example
}

// Example is one message out of a class of failures, and how many had it.
type Example struct {
	Class   string
	Message string
	Count   uint64
}

// add counts a failure and returns the class under which it is counted.
func (f *failures) add(name, message string) string {
	if f.classes[name] == nil && (len(f.classes) >= maxClasses || name == OK) { // a failure is never a success
		name = other
	}
	c := f.classes[name]
	if c == nil {
		c = &class{}
		f.classes[name] = c
	}
	c.count++
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "..."
	}
	i := slices.IndexFunc(c.examples, func(e Example) bool { return e.Message == message })
	switch {
	case i >= 0:
		c.examples[i].Count++
	case len(c.examples) < maxMessages:
		c.examples = append(c.examples, Example{Class: name, Message: message, Count: 1})
	}
	return name
}
