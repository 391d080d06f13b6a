package miniaero

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"
)

// quickConn is a connection whose Read and Write cost less when there is nothing to wait for: they make the system call
// without telling the runtime's scheduler, which a call that can't block needs not know of. In a server of small
// answers that is much: the first call told after an idle moment wakes the runtime's monitor thread, which then looks
// every 20 us at a process that is idle again, and takes about a quarter of its CPU. Waiting, deadlines and Close are as
// ever: the runtime's. At most one goroutine reads, and one writes, at a time.
type quickConn struct {
	*net.TCPConn
	raw syscall.RawConn

	// What the functions work on; they are bound once, so that no call allocates.
	in, out   []byte
	got, sent int
	inErr     syscall.Errno
	outErr    syscall.Errno
	read      func(fd uintptr) bool
	write     func(fd uintptr) bool
}

// quick makes c cheaper to use, if it can.
func quick(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	q := &quickConn{TCPConn: tcp, raw: raw}
	q.read, q.write = q.tryRead, q.tryWrite
	return q
}

// Read is net.Conn's; p must have room.
func (q *quickConn) Read(p []byte) (int, error) {
	q.in, q.got, q.inErr = p, 0, 0
	err := q.raw.Read(q.read)
	q.in = nil
	switch {
	case err != nil:
		return 0, err
	case q.inErr != 0:
		return 0, os.NewSyscallError("read", q.inErr)
	case q.got == 0:
		return 0, io.EOF
	}
	return q.got, nil
}

// Write is net.Conn's.
func (q *quickConn) Write(p []byte) (int, error) {
	q.out, q.sent, q.outErr = p, 0, 0
	err := q.raw.Write(q.write)
	q.out = nil
	if err == nil && q.outErr != 0 {
		err = os.NewSyscallError("write", q.outErr)
	}
	return q.sent, err
}

// tryRead and tryWrite say whether they are done; if not, RawConn waits until the socket is ready, and calls again. The
// socket does not block, as all of net's don't.

func (q *quickConn) tryRead(fd uintptr) (done bool) {
	q.got, q.inErr = try(syscall.SYS_READ, fd, q.in)
	return q.inErr != syscall.EAGAIN
}

func (q *quickConn) tryWrite(fd uintptr) (done bool) {
	for q.sent < len(q.out) {
		n, errno := try(syscall.SYS_WRITE, fd, q.out[q.sent:])
		if q.outErr = errno; errno != 0 {
			return errno != syscall.EAGAIN
		}
		q.sent += n
	}
	return true
}

// try makes one system call over a buffer, again when a signal came in between.
func try(call, fd uintptr, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
