package grpcopts

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// ForcedCodec is the codec that an end must be told to use, or nil where gRPC's own holds.
func (s Settings) ForcedCodec() encoding.CodecV2 {
	if s.Codec == VTProto {
		return vtCodec{standard: encoding.GetCodecV2(proto.Name)}
	}
	return nil
}

// vtMessage is what protoc-gen-go-vtproto adds to a message.
type vtMessage interface {
	Reset()
	SizeVT() int
	MarshalToSizedBufferVT(to []byte) (int, error)
	UnmarshalVT(from []byte) error
}

// vtCodec writes the same bytes as the standard codec, through code that was generated for each message. Messages
// without such code (health, reflection) go through the standard one. vtprotobuf's own codec is of gRPC's first
// interface, which copies every message once more; and unlike the standard codec, the generated code does not look
// whether strings are UTF-8: proto/convert does, for what a server takes in.
type vtCodec struct{ standard encoding.CodecV2 }

func (c vtCodec) Name() string { return proto.Name }

func (c vtCodec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(vtMessage)
	if !ok {
		return c.standard.Marshal(v)
	}
	size := m.SizeVT()
	if mem.IsBelowBufferPoolingThreshold(size) {
		buf := make([]byte, size)
		if err := marshalWhole(m, buf); err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(buf)}, nil
	}
	pool := mem.DefaultBufferPool()
	buf := pool.Get(size)
	if err := marshalWhole(m, *buf); err != nil {
		pool.Put(buf)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(buf, pool)}, nil
}

// marshalWhole fills buf, which has the size of m. A message that was changed meanwhile would leave a hole at its start.
func marshalWhole(m vtMessage, buf []byte) error {
	n, err := m.MarshalToSizedBufferVT(buf)
	if err == nil && n != len(buf) {
		err = fmt.Errorf("vtproto: wrote %d of %d bytes of a %T: it was changed while it was sent", n, len(buf), m)
	}
	return err
}

func (c vtCodec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(vtMessage)
	if !ok {
		return c.standard.Unmarshal(data, v)
	}
	m.Reset()
	if len(data) == 1 {
		return m.UnmarshalVT(data[0].ReadOnlyData())
	}
	buf := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buf.Free()
	return m.UnmarshalVT(buf.ReadOnlyData())
}
