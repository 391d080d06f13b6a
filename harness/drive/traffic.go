package drive

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"bakeoff/protocol"
)

// traffic knows what went through the client's sockets. It asks the kernel (TCP_INFO) at the edges of the window and
// does nothing in between. A net.Conn that wraps the socket to count would be a thumb on the scale: grpc-go and
// fasthttp read and write another way, dearer, when what they are given is no *net.TCPConn.
//
// Its price is that a socket that is closed takes its figures along; what went through is then unknown.
type traffic struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	handshakes protocol.Handshakes // of the sockets that TLS protects

	mu     sync.Mutex
	dials  uint64
	lost   uint64 // sockets that were closed, or never could be asked
	opened []syscall.RawConn
}

// flow is what has gone through the sockets that are open.
type flow struct {
	sent, received uint64 // payload bytes, without what was sent again
	dials, lost    uint64
}

// DialContext is the dialer that the protocol is given. It may be called concurrently.
func (t *traffic) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := t.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dials++
	if tcp, ok := c.(*net.TCPConn); ok {
		if raw, err := tcp.SyscallConn(); err == nil {
			t.opened = append(t.opened, raw)
			return c, nil
		}
	}
	t.lost++
	return c, nil
}

// read asks every socket. It may be called while they are in use.
func (t *traffic) read() flow {
	t.mu.Lock()
	defer t.mu.Unlock()
	var f flow
	still := t.opened[:0]
	for _, raw := range t.opened {
		info, err := tcpInfo(raw)
		if err != nil {
			t.lost++
			continue
		}
		still = append(still, raw)
		f.sent += info.Bytes_sent - info.Bytes_retrans
		f.received += info.Bytes_received
	}
	clear(t.opened[len(still):])
	t.opened = still
	f.dials, f.lost = t.dials, t.lost
	return f
}

func tcpInfo(raw syscall.RawConn) (*unix.TCPInfo, error) {
	var info *unix.TCPInfo
	var err error
	closed := raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if closed != nil {
		return nil, closed
	}
	if err == nil && info.Bytes_sent == 0 && info.Data_segs_out > 0 {
		err = errors.New("this kernel does not count the bytes that a socket sends (Linux does from 4.19 on)")
	}
	return info, err
}

// since is what went through after before was read; known is false if a socket was closed in between.
func (f flow) since(before flow) (d flow, known bool) {
	return flow{f.sent - before.sent, f.received - before.received, f.dials - before.dials, f.lost - before.lost}, f.lost == before.lost
}
