// Package peek looks into sockets: what would be read next, without reading it or waiting for it.
package peek

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"syscall"
)

// State is what a look shows.
type State int

// The states of a connection.
const (
	Unknown State = iota // it is wrapped, and does not hand its descriptor out
	Quiet                // open, with nothing to read
	Bytes                // there is something to read; whether the peer has closed it behind that can't be seen
	Closed               // the peer or this side has closed it, or it broke
)

// At looks at c, and under TLS at what lies below it: there Bytes are of some record, and Closed is also the peer's
// farewell, which nothing follows. A read deadline, passed or not, neither stops the look nor is changed by it, and c may be in use by
// others.
func At(c net.Conn) State {
	secured, isTLS := c.(*tls.Conn)
	if isTLS {
		c = secured.NetConn()
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return Unknown
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return Closed
	}
	state := Closed
	err = raw.Control(func(fd uintptr) {
		var head [5]byte
		n, _, err := syscall.Recvfrom(int(fd), head[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
		case isTLS && n == len(head) && isAlert(head):
			state = Closed
		case n > 0:
			state = Bytes
		case errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR):
			state = Quiet
		}
	})
	if err != nil {
		return Closed
	}
	return state
}

// isAlert says whether a record of TLS with this head is an alert. All of them end a connection, but some that nobody sends.
// TLS 1.3 hides the type of a record; there two bytes of content, with one for the type and 16 of a tag, are an alert: no
// protocol here sends so little.
func isAlert(head [5]byte) bool {
	const alert, hidden, hiddenSize = 21, 23, 2 + 1 + 16
	return head[0] == alert || head[0] == hidden && binary.BigEndian.Uint16(head[3:]) == hiddenSize
}
