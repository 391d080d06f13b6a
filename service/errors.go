package service

import (
	"context"
	"errors"
	"fmt"
)

// Code says what kind of failure a service reports. Its numbers go over the wires (Thrift's exception, the
// detail of a gRPC status, the problem body of HTTP) and never change; zero is no code.
type Code int32

// The codes. Each maps to one gRPC code, one Thrift exception and one HTTP status, and back.
const (
	InvalidArgument   Code = 1
	Unauthenticated   Code = 2
	NotFound          Code = 3
	Unavailable       Code = 4
	DeadlineExceeded  Code = 5
	ResourceExhausted Code = 6
	Internal          Code = 7
)

var codeNames = [...]string{
	InvalidArgument: "invalid_argument", Unauthenticated: "unauthenticated", NotFound: "not_found", Unavailable: "unavailable",
	DeadlineExceeded: "deadline_exceeded", ResourceExhausted: "resource_exhausted", Internal: "internal",
}

// Codes lists every code, in the order of their numbers.
func Codes() []Code {
	return []Code{InvalidArgument, Unauthenticated, NotFound, Unavailable, DeadlineExceeded, ResourceExhausted, Internal}
}

// String is the code's name in results and problem bodies: "not_found".
func (c Code) String() string {
	if c < 1 || int(c) >= len(codeNames) {
		return fmt.Sprintf("code_%d", int32(c))
	}
	return codeNames[c]
}

// Valid says whether c is one of the codes above; what a wire brought may not be.
func (c Code) Valid() bool { return c >= 1 && int(c) < len(codeNames) }

// Error is a failure that a service reports. It arrives at the client with the same code, message and cause whatever
// carried it.
type Error struct {
	Code Code
	Msg  string
	// Cause, where there is one, names the cause more closely than Code: "store_timeout". It is the outcome class of
	// the call at whoever made it; see CleanCause for what arrives there.
	Cause string
}

func (e *Error) Error() string { return e.Code.String() + ": " + e.Msg }

// Class is the outcome class of a call that failed with this error.
func (e *Error) Class() string {
	if e.Cause != "" {
		return e.Cause
	}
	return e.Code.String()
}

// MaxCause bounds a cause in bytes.
const MaxCause = 64

// CleanCause is s if it can be a cause: 1 to MaxCause bytes of a-z, 0-9 and _. Anything else is empty. Both ends of
// every wire ask it. A cause becomes a key of results, a column of tables and a word in sentences: a server, which may
// be anybody's, must not fill those with its pages or with what a terminal obeys.
func CleanCause(s string) string {
	if len(s) > MaxCause {
		return ""
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return ""
		}
	}
	return s
}

// Is makes errors.Is(err, context.DeadlineExceeded) true for that code, wherever the deadline was noticed.
func (e *Error) Is(target error) bool {
	return target == context.DeadlineExceeded && e.Code == DeadlineExceeded
}

// Errorf makes an *Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// AsError makes an *Error of any error at the edge of a server: an *Error in its chain as it is, a context's
// deadline as DeadlineExceeded, a cancelled context as Unavailable (its caller has gone), and all else as
// Internal with the error's text.
func AsError(err error) *Error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: DeadlineExceeded, Msg: "deadline exceeded"}
	case errors.Is(err, context.Canceled):
		return &Error{Code: Unavailable, Msg: "cancelled by the caller"}
	}
	return &Error{Code: Internal, Msg: err.Error()}
}
