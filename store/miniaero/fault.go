package miniaero

import "time"

// Kind is a kind of operation, for faults and counters.
type Kind uint8

// The kinds. A batch counts as one operation, whatever it does to its rows, and so does a scan.
const (
	KindInfo Kind = iota
	KindRead
	KindWrite // put, operate with a writing operation, touch
	KindDelete
	KindBatch
	KindScan
	kinds
)

// String is the kind's name in the counters: "read".
func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return [kinds]string{"info", "read", "write", "delete", "batch", "scan"}[k]
}

// Call is an operation that is about to be done. Namespace and Set are empty for what has none.
type Call struct {
	Kind           Kind
	Namespace, Set string
}

// Fault says what goes wrong with a call. The zero value: nothing.
type Fault struct {
	// Delay is waited before all else; the server's Close ends it. Requests behind it on the same connection wait
	// too.
	Delay time.Duration
	// Disconnect resets the connection without an answer.
	Disconnect bool
	// Code, unless it is OK, is answered in place of doing the operation. For Info it counts for nothing.
	Code ResultCode
}

// SetFault makes the server ask f before each operation, from many goroutines; nil ends it. f may wait, but must
// return: Close waits for it.
func (s *Server) SetFault(f func(Call) Fault) {
	if f == nil {
		s.fault.Store(nil)
		return
	}
	s.fault.Store(&f)
}

// strike counts a call and asks for its fault; false ends the connection.
func (c *session) strike(kind Kind, r *request) (ResultCode, bool) {
	s := c.server
	s.counts[kind].Add(1)
	f := s.fault.Load()
	if f == nil {
		return OK, true
	}
	call := Call{Kind: kind}
	if r != nil {
		call.Namespace, call.Set = string(r.namespace), string(r.set)
	}
	fault := (*f)(call)
	if fault.Delay > 0 {
		t := time.NewTimer(fault.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-s.done:
			return OK, false
		}
	}
	if fault.Disconnect {
		reset(c.conn)
		return OK, false
	}
	return fault.Code, true
}

// Counters are how many operations of each kind the server has been asked to do since it started, those that
// failed included. Rows of batches are not counted apart.
func (s *Server) Counters() map[Kind]int64 {
	m := make(map[Kind]int64, kinds)
	for k := range kinds {
		m[k] = s.counts[k].Load()
	}
	return m
}
