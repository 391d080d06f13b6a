package pool

import (
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Prompt is a TCP connection that waits for an answer before it reads one. A net.Conn reads first and waits when there is nothing,
// and right after a request there never is: that costs each call a read in vain, of the two that it needs less than half. A
// write that is held goes out with the read that follows it, between whose beginning and whose wait nothing that arrives can be missed.
//
// Like the connection under it, it may be closed and have its deadlines set from any goroutine; all else is for its one user.
type Prompt struct {
	net.Conn
	raw  syscall.RawConn
	step func(fd uintptr) bool // kept, so that a call allocates none

	hold    bool
	out     []byte // is to be written before what is read next
	in      []byte
	n       int
	wrote   error // why out did not go out wholly; rest is then what is left of it
	rest    []byte
	read    error
	refused bool
}

// NewPrompt is nil for a connection that is not the kernel's own, as one of TLS is not.
func NewPrompt(c net.Conn) *Prompt {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	p := &Prompt{Conn: c, raw: raw}
	p.step = p.exchange
	return p
}

// Hold has the next Write wait for the next Read. What is written must stay as it is until then.
func (p *Prompt) Hold() { p.hold = true }

// Refused says that the latest held write failed, although there was something to read: the peer has answered before it had the whole request, and
// hears no more.
func (p *Prompt) Refused() bool { return p.refused }

// Write implements net.Conn.
func (p *Prompt) Write(b []byte) (int, error) {
	if p.hold {
		p.hold, p.out = false, b
		return len(b), nil
	}
	return p.Conn.Write(b)
}

// Read implements net.Conn.
func (p *Prompt) Read(b []byte) (int, error) {
	if p.out == nil {
		return p.Conn.Read(b)
	}
	p.in, p.n, p.wrote, p.rest, p.read, p.refused = b, 0, nil, nil, nil, false
	err := p.raw.Read(p.step)
	p.out, p.in = nil, nil
	switch {
	case err != nil:
		return 0, err
	case p.rest != nil: // the socket took a part of it: now it may block
		if _, err := p.Conn.Write(p.rest); err != nil {
			p.wrote = err
			if p.n, _ = p.Conn.Read(b); p.n == 0 {
				return 0, err
			}
			p.refused = true
			return p.n, nil
		}
		return p.Conn.Read(b)
	case p.wrote != nil && p.n == 0:
		return 0, &net.OpError{Op: "write", Net: "tcp", Source: p.LocalAddr(), Addr: p.RemoteAddr(), Err: os.NewSyscallError("write", p.wrote)}
	case p.read != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: p.LocalAddr(), Addr: p.RemoteAddr(), Err: os.NewSyscallError("read", p.read)}
	case p.n == 0:
		return 0, io.EOF
	}
	p.refused = p.wrote != nil
	return p.n, nil
}

// exchange is what the runtime calls until it returns true, and between whose calls it waits for the socket to be readable: first with
// out unsent. The runtime has forgotten by then that the socket was readable before, and notices whatever arrives from then on.
func (p *Prompt) exchange(fd uintptr) bool {
	if out := p.out; len(out) > 0 {
		p.out = out[:0]
		n, err := again(func() (int, error) { return unix.Write(int(fd), out) })
		switch {
		case err == nil && n == len(out):
			return false
		case err == nil || err == unix.EAGAIN:
			p.rest = out[max(0, n):]
			return true
		}
		p.wrote = err
	}
	n, err := again(func() (int, error) { return unix.Read(int(fd), p.in) })
	switch {
	case err == nil:
		p.n = n
	case err == unix.EAGAIN && p.wrote == nil:
		return false
	case err != unix.EAGAIN:
		p.read = err
	}
	return true
}

// again makes a system call until no signal interrupts it.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != unix.EINTR {
			return n, err
		}
	}
}
