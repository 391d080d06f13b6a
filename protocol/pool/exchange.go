package pool

import (
	"context"
	"io"
	"iter"
)

// Exchange is a call that sends and receives at the same time; it yields what is received. What is sent is read in a
// goroutine of its own, which is not waited for at the end, because the sequence may be waiting for what the reader of the
// answer does: it ends at its next element. A sequence that waits for something must heed its context itself.
//
// Call is the context of the call, and end ends it: with the error of what was to be sent, if that failed, which is then the
// call's. Send and receive say what their errors mean to the caller; io.EOF of send is a call that has ended already, as
// receive will tell, and io.EOF of receive is the end.
func Exchange[S, R any](call context.Context, end context.CancelCauseFunc, in iter.Seq2[S, error],
	send func(S) error, closeSend func() error, receive func() (R, error), yield func(R, error) bool) {
	go func() {
		if err := sendAll(in, send, closeSend); err != nil && err != io.EOF {
			end(sendError{err})
		}
	}()
	for {
		v, err := receive()
		if err == io.EOF {
			return
		}
		if sent, ok := context.Cause(call).(sendError); ok && err != nil {
			err = sent.error
		}
		if !yield(v, err) || err != nil {
			return
		}
	}
}

// sendError is the cause of a call's end that lies in what was to be sent: the sequence's own error, or an element that
// could not go.
type sendError struct{ error }

func sendAll[S any](in iter.Seq2[S, error], send func(S) error, closeSend func() error) error {
	for v, err := range in {
		if err == nil {
			err = send(v)
		}
		if err != nil {
			return err
		}
	}
	return closeSend()
}
