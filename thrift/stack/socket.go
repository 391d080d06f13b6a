package stack

import (
	"context"
	"errors"
	"fmt"
	"net"

	"bakeoff/internal/peek"
	"bakeoff/protocol"

	"github.com/apache/thrift/lib/go/thrift"
)

// ErrOverLimit is the cause of a SocketError when the peer sends a message larger than the limit.
var ErrOverLimit = errors.New("the message is over the size limit")

// SocketError marks what a Socket reports, so that it can be told from what Thrift's layers above it report.
type SocketError struct {
	Op  string // "read" or "write"
	Err error
}

func (e *SocketError) Error() string { return e.Op + ": " + e.Err.Error() }
func (e *SocketError) Unwrap() error { return e.Err }

// Socket is Thrift's lowest layer over a connection that is open. Unlike thrift.TSocket it leaves the deadlines
// to its owner, who sets one for a whole call (TSocket sets or clears one with every read and write), and it
// bounds how much one message may bring, which in a buffered stack nothing else does. Only Close, Cut and IsOpen may
// be called concurrently with the other methods.
type Socket struct {
	Conn net.Conn
	got  int // read since Reset
	most int // that may be read for one message
}

// NewSocket takes conn over; it is the Socket's to close.
func (s *Stack) NewSocket(conn net.Conn) Socket {
	return Socket{Conn: conn, most: s.maxMessage + s.slack}
}

// Reset starts the account of a new message.
func (s *Socket) Reset() { s.got = 0 }

// Got is how many bytes were read since Reset.
func (s *Socket) Got() int { return s.got }

// Read fails with ErrOverLimit once the message has had all that it may bring.
func (s *Socket) Read(b []byte) (int, error) {
	left := s.most - s.got
	if left <= 0 {
		return 0, &SocketError{"read", fmt.Errorf("%w of %d bytes", ErrOverLimit, s.most)}
	}
	if len(b) > left {
		b = b[:left]
	}
	n, err := s.Conn.Read(b)
	s.got += n
	if err != nil {
		err = &SocketError{"read", err}
	}
	return n, err
}

// Write is one write call on the connection.
func (s *Socket) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	if err != nil {
		err = &SocketError{"write", err}
	}
	return n, err
}

// Flush does nothing: what was written is on its way.
func (s *Socket) Flush(context.Context) error { return nil }

// RemainingBytes is unknown, as of any socket.
func (s *Socket) RemainingBytes() uint64 { return thrift.UnknownRemainingBytes }

// Open is an error: a Socket is made of an open connection.
func (s *Socket) Open() error {
	return thrift.NewTTransportException(thrift.ALREADY_OPEN, "the socket is open")
}

// Close closes the connection.
func (s *Socket) Close() error { return s.Conn.Close() }

// Cut closes it from another goroutine, without a word.
func (s *Socket) Cut() error { return protocol.Cut(s.Conn) }

// IsOpen looks, without reading or waiting, whether the peer has closed the connection. One that can't be looked
// into (because it is wrapped and does not hand its descriptor out) counts as open, as with thrift.TSocket. That
// one clears the read deadline on the way; this does not.
func (s *Socket) IsOpen() bool { return peek.At(s.Conn) != peek.Closed }

var _ thrift.TTransport = (*Socket)(nil)
