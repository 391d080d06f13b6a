package grpcserver

import (
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// newcomers is a listener that knows the connections whose handshake may still be under way: grpc-go does not stop
// before each handshake is done, so that a peer that connects and says nothing would hold it up for as long as one may
// take. It hands the connections on as they are: grpc-go reads those of its library's own kind in a way of its own, which
// a wrapper would take from it.
type newcomers struct {
	net.Listener
	patience time.Duration // how long a handshake may take

	mu      sync.Mutex
	latest  []newcomer // in the order of their arrival; those before are out of patience, one way or the other
	stopped bool
}

type newcomer struct {
	conn    net.Conn
	arrived time.Time
}

// Accept waits for the next connection.
func (l *newcomers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		_ = c.Close() // the server notices by itself
		return c, nil
	}
	now := time.Now()
	old := slices.IndexFunc(l.latest, func(n newcomer) bool { return now.Sub(n.arrived) < l.patience })
	if old < 0 {
		old = len(l.latest)
	}
	l.latest = append(slices.Delete(l.latest, 0, old), newcomer{c, now})
	return c, nil
}

// stop closes the connections that have not yet sent what a handshake takes, and whatever connects from now on. A client
// that is in the middle of it has made no call.
func (l *newcomers) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	for _, n := range l.latest {
		if got, known := heardOf(n.conn); known && got < handshakeBytes {
			_ = n.conn.Close()
		}
	}
	l.latest = nil
}

// handshakeBytes is the least that a client sends before its first call: HTTP/2's preface, and the head of a frame of
// settings.
const handshakeBytes = 24 + 9

// heardOf is how much the peer has sent, read or not; it is not known of every kind of connection.
func heardOf(c net.Conn) (n uint64, known bool) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return 0, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil && info.Segs_out > 0 { // or else this kernel counts nothing: the connection was opened with a segment
			n, known = info.Bytes_received, true
		}
	})
	return n, known && err == nil
}
