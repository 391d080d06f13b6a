package grpcclient_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// The frames of HTTP/2 that the raw server writes, as RFC 9113 numbers them.
const (
	frameData     = 0x0
	frameHeaders  = 0x1
	frameRST      = 0x3
	frameSettings = 0x4
	frameGoAway   = 0x7
)

func frame(kind, flags byte, stream uint32, payload ...byte) []byte {
	f := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(f, stream), payload...)
}

// rawServer speaks just enough HTTP/2 for a client to be ready, and answers each call with what answer gives for its
// stream: what gRPC's own server would not send. Nil closes the connection.
func rawServer(t *testing.T, answer func(stream uint32) []byte) (addr string) {
	t.Helper()
	return listen(t, func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
			return
		}
		if _, err := c.Write(frame(frameSettings, 0, 0)); err != nil {
			return
		}
		head := make([]byte, 9)
		for {
			if _, err := io.ReadFull(c, head); err != nil {
				return
			}
			size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
			if _, err := io.CopyN(io.Discard, c, size); err != nil {
				return
			}
			if head[3] != frameHeaders {
				continue
			}
			a := answer(binary.BigEndian.Uint32(head[5:]))
			if a == nil {
				return
			}
			if _, err := c.Write(a); err != nil {
				return
			}
		}
	})
}

// listen hands each connection to serve, in a goroutine of its own, and closes it afterwards.
func listen(t *testing.T, serve func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() { // the clients, which were made later, have been closed by now
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}
