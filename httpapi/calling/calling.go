// Package calling has what the clients of the HTTP API share beyond its messages: how a stream's answer is read, and the
// client's side of a chat over a WebSocket. A client's own part are its library's requests and its connections.
package calling

import (
	"errors"
	"io"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/service"
)

// End is how a stream ended, as far as its connection goes.
type End int

// The ways to end.
const (
	Whole  End = iota // the connection may carry the next call
	Spoilt            // it is of no more use; the error, if there is one, is the call's own
	Broke             // likewise; the error is the connection's, whose client knows what it means
)

// Malformed is the fault of an answer that could not be understood.
func Malformed(err error) error { return &protocol.Fault{Kind: protocol.Malformed, Err: err} }

// LargeAnswer is the error of an answer over the limit.
func LargeAnswer() error {
	return service.Errorf(service.ResourceExhausted, "the answer is larger than the limit")
}

// Features yields what the answer of ListFeatures brings, but not the error that ends it, which it returns.
func Features(c httpapi.Codec, body io.Reader, max int, yield func(service.Feature, error) bool) (End, error) {
	lines := httpapi.NewLines(body, max)
	for {
		line, err := lines.Next()
		if err == io.EOF {
			return Whole, nil
		}
		if errors.Is(err, httpapi.ErrLineTooLong) {
			return Spoilt, LargeAnswer()
		}
		if err != nil {
			return Broke, err
		}
		f, failed, err := c.DecodeFeature(line)
		switch {
		case err != nil:
			return Spoilt, Malformed(err)
		case failed != nil:
			if _, err := lines.Next(); err != io.EOF { // something follows
				return Spoilt, failed
			}
			return Whole, failed
		case !yield(f, nil):
			return Spoilt, nil
		}
	}
}
