package stack

import (
	"context"
	"errors"

	"github.com/apache/thrift/lib/go/thrift"
)

// Size is how many bytes a message takes in this stack's protocol, without the four that head a frame.
func (s *Stack) Size(method string, body thrift.TStruct) (int, error) {
	ctx := context.Background()
	var n counter
	p := s.protocols.GetProtocol(&n)
	if err := p.WriteMessageBegin(ctx, method, thrift.CALL, mostSeqID); err != nil {
		return 0, err
	}
	if err := body.Write(ctx, p); err != nil {
		return 0, err
	}
	if err := p.WriteMessageEnd(ctx); err != nil {
		return 0, err
	}
	return int(n), p.Flush(ctx)
}

// mostSeqID stands for the call's number, which compact writes in one to five bytes: with the most that it takes.
const mostSeqID = 1<<31 - 1

// counter is a transport that keeps nothing of what is written but its length.
type counter int

var errWriteOnly = errors.New("a counter holds nothing to read")

func (n *counter) Write(b []byte) (int, error)       { *n += counter(len(b)); return len(b), nil }
func (n *counter) WriteString(s string) (int, error) { *n += counter(len(s)); return len(s), nil }
func (n *counter) WriteByte(byte) error              { *n++; return nil }
func (n *counter) Read([]byte) (int, error)          { return 0, errWriteOnly }
func (n *counter) ReadByte() (byte, error)           { return 0, errWriteOnly }
func (n *counter) RemainingBytes() uint64            { return 0 }
func (n *counter) Flush(context.Context) error       { return nil }
func (n *counter) Open() error                       { return nil }
func (n *counter) IsOpen() bool                      { return true }
func (n *counter) Close() error                      { return nil }

var _ interface {
	thrift.TTransport
	thrift.TRichTransport
} = (*counter)(nil)
