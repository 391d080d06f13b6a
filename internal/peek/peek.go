// Package peek looks into sockets: what would be read next, without reading it or waiting for it.
package peek

import (
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

// At looks at c. A read deadline, passed or not, neither stops the look nor is changed by it, and c may be in use by
// others.
func At(c net.Conn) State {
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
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		switch {
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
