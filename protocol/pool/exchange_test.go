package pool

import (
	"context"
	"errors"
	"io"
	"testing"

	"bakeoff/service"
)

// TestExchange has calls that end in each way, with what comes back and what was sent by then.
func TestExchange(t *testing.T) {
	own, lost := errors.New("the caller's own"), errors.New("lost")
	type row struct {
		what     string
		in       []int // what is sent; 0 is the caller's own error
		send     error // of the second element
		close    error
		answers  int   // before the end
		end      error // of what is received, unless the context ends before
		stop     int   // the reader stops after so many answers; 0: never
		want     error
		received int
	}
	for _, r := range []row{
		{what: "all is well", in: []int{1, 2, 3}, answers: 3, end: io.EOF, received: 3},
		{what: "nothing is sent", answers: 2, end: io.EOF, received: 2},
		{what: "the answer breaks", in: []int{1}, answers: 1, end: lost, want: lost, received: 1},
		{what: "the caller's own error", in: []int{1, 0}, answers: 1, want: own, received: 1},
		{what: "an element that can't go", in: []int{1, 2, 3}, send: lost, answers: 1, want: lost, received: 1},
		{what: "an end that can't go", in: []int{1}, close: lost, answers: 1, want: lost, received: 1},
		{what: "the call has ended while it is sent", in: []int{1, 2, 3}, send: io.EOF, answers: 2, end: own, want: own, received: 2},
		{what: "the reader stops", in: []int{1, 2, 3}, answers: 3, end: io.EOF, stop: 2, received: 2},
	} {
		call, end := context.WithCancelCause(t.Context())
		received, left := 0, r.answers
		var last error
		Exchange(call, end,
			func(yield func(int, error) bool) {
				for _, v := range r.in {
					if v == 0 {
						yield(0, own)
						return
					}
					if !yield(v, nil) {
						return
					}
				}
			},
			func(v int) error {
				if v == 2 {
					return r.send
				}
				return nil
			},
			func() error { return r.close },
			func() (int, error) {
				if left--; left >= 0 {
					return left, nil
				}
				if r.end != nil {
					return 0, r.end
				}
				<-call.Done()
				return 0, service.Errorf(service.Unavailable, "cancelled") // as a library tells it
			},
			func(_ int, err error) bool {
				if last = err; err == nil {
					received++
				}
				return received != r.stop
			})
		end(nil)
		if !errors.Is(last, r.want) || (last == nil) != (r.want == nil) || received != r.received {
			t.Errorf("%s: ended with %v after %d answers, want %v after %d", r.what, last, received, r.want, r.received)
		}
	}
}
