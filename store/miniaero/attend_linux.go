package miniaero

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// secondLook is how late an end of the stream may be seen that came together with a request.
const secondLook = time.Second

// attend reads and answers for as long as requests come whole and nothing else is to be done, and then returns for the
// rest of serve to do that. False ends the connection.
//
// It is the plain way (Read, answer, Write) with less of what that costs, which is all system calls: here one request
// takes a read and a write, and no more.
//
//   - The plain way's Read tries before it waits: a call that fails, for each request. The runtime's poller is
//     edge-triggered, and RawConn.Read forgets an edge only when it is entered. So within one call of it a read that
//     leaves room has emptied the socket, and whatever comes after it ends the next wait, or the present one.
//   - A call that can't block needs no help from the scheduler. The plain way tells it of each, and after an idle moment
//     that wakes the runtime's monitor thread, which then looks every 20 us at a process that is idle again.
func (c *session) attend() bool {
	if c.raw == nil {
		conn, ok := c.conn.(syscall.Conn)
		if !ok {
			return c.plain()
		}
		raw, err := conn.SyscallConn()
		if err != nil {
			return false
		}
		c.raw, c.stepped = raw, c.step
	}
	err := c.raw.Read(c.stepped)
	if c.looks && errors.Is(err, os.ErrDeadlineExceeded) {
		c.looks = false
		return c.conn.SetReadDeadline(time.Time{}) == nil
	}
	return err == nil && !c.over
}

// step is one turn within RawConn.Read: false waits for the socket to become readable. It must not close the
// connection, nor call what may (a Fault's function): Close waits for it to return.
func (c *session) step(fd uintptr) (leave bool) {
	room := c.in[len(c.in):cap(c.in)]
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(unsafe.SliceData(room))), uintptr(len(room)))
	switch {
	case errno == syscall.EAGAIN:
		return false
	case errno == syscall.EINTR:
		return true
	case errno != 0 || n == 0:
		c.over = true
		return true
	}
	c.in = c.in[:len(c.in)+int(n)]
	if int(n) == len(room) || !c.whole() || c.server.fault.Load() != nil {
		return true
	}
	if !c.handle() {
		c.over = true
		return true
	}
	if c.at < len(c.in) || !c.sent(fd) {
		return true
	}
	c.in, c.at = c.in[:0], 0
	if !c.looks {
		// The end of the stream may have come with the request, and then no edge is to come: have another look.
		c.looks = true
		c.over = c.conn.SetReadDeadline(time.Now().Add(secondLook)) != nil
	}
	return c.over
}

// sent writes what the socket takes at once; false leaves the rest to flush, which waits.
func (c *session) sent(fd uintptr) bool {
	if len(c.out) == 0 {
		return true
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.SliceData(c.out))), uintptr(len(c.out)))
	if errno != 0 {
		return false // flush meets it again
	}
	c.out = c.out[:copy(c.out, c.out[n:])]
	return len(c.out) == 0 && cap(c.out) <= keptBuffer*2
}
