package miniaero

import (
	"encoding/binary"
	"net"
	"time"
)

const (
	smallBuffer = 4 << 10
	keptBuffer  = 64 << 10 // larger buffers are given back once their message is done
	flushAt     = 64 << 10
)

// session serves one connection. Requests are answered in the order in which they came; those that arrived
// together are answered together.
type session struct {
	server *Server
	conn   net.Conn

	in    []byte // what was read and not yet handled is in[at:]
	at    int
	out   []byte
	until time.Time // the write deadline that is set

	// Room for one request after the other.
	req   request
	row   request
	draft draft
}

func (c *session) serve() {
	defer c.conn.Close()
	c.in = make([]byte, 0, smallBuffer)
	for {
		if !c.handle() || !c.flush() || !c.read() {
			return
		}
	}
}

// handle answers the whole frames that have been read; false ends the connection.
func (c *session) handle() bool {
	for {
		frame := c.in[c.at:]
		if len(frame) < protoHeader {
			return true
		}
		kind, size, ok := c.header(frame)
		if !ok {
			c.flush()
			reset(c.conn)
			return false
		}
		if size > c.server.options.MaxMessage {
			c.flush()
			return false
		}
		if len(frame)-protoHeader < size {
			return true
		}
		if !c.answer(kind, frame[protoHeader:protoHeader+size]) {
			return false
		}
		c.at += protoHeader + size
		if len(c.out) >= flushAt && !c.flush() {
			return false
		}
	}
}

func (c *session) header(frame []byte) (kind byte, size int, ok bool) {
	kind = frame[1]
	ok = frame[0] == protoVersion && (kind == typeInfo || kind == typeMessage || kind == typeCompressed)
	return kind, int(binary.BigEndian.Uint64(frame) & (1<<48 - 1)), ok
}

func (c *session) answer(kind byte, body []byte) bool {
	switch kind {
	case typeInfo:
		return c.info(body)
	case typeCompressed: // what is in it is never unpacked, so it can be no bomb
		var start int
		c.out, start = beginFrame(c.out)
		c.out = fail(c.out, len(c.out), reply{code: EnterpriseOnly})
		endFrame(c.out, start, typeMessage)
		return true
	default:
		return c.message(body)
	}
}

// read waits for more bytes. Its buffer grows only when it is full of what has really come.
func (c *session) read() bool {
	started := c.compact()
	if len(c.in) == cap(c.in) {
		grown := make([]byte, len(c.in), 2*cap(c.in))
		copy(grown, c.in)
		c.in = grown
	}
	if started || c.server.options.IdleTimeout > 0 {
		limit := c.server.options.IdleTimeout
		if started {
			limit = c.server.options.MessageTimeout
		}
		if c.conn.SetReadDeadline(time.Now().Add(limit)) != nil {
			return false
		}
		return c.readTo(started)
	}
	n, err := c.conn.Read(c.in[len(c.in):cap(c.in)])
	c.in = c.in[:len(c.in)+n]
	return n > 0 || err == nil
}

// readTo reads under a deadline. That of a message that has begun holds until all of it is here, however slowly
// its bytes drip.
func (c *session) readTo(started bool) bool {
	for {
		n, err := c.conn.Read(c.in[len(c.in):cap(c.in)])
		c.in = c.in[:len(c.in)+n]
		if n == 0 && err != nil {
			return false
		}
		if !started || c.whole() {
			return c.server.options.IdleTimeout > 0 || c.conn.SetReadDeadline(time.Time{}) == nil
		}
		if len(c.in) == cap(c.in) {
			grown := make([]byte, len(c.in), 2*cap(c.in))
			copy(grown, c.in)
			c.in = grown
		}
	}
}

// whole says whether handle can get on with what has been read: a frame is complete, or is to be refused.
func (c *session) whole() bool {
	if len(c.in) < protoHeader {
		return false
	}
	_, size, ok := c.header(c.in)
	return !ok || size > c.server.options.MaxMessage || len(c.in)-protoHeader >= size
}

// compact moves what is left to the front and says whether that is a part of a message.
func (c *session) compact() bool {
	rest := c.in[c.at:]
	if len(rest) == 0 && cap(c.in) > keptBuffer {
		c.in = make([]byte, 0, smallBuffer)
		c.req, c.row, c.draft = request{}, request{}, draft{} // they point into the old one
		c.at = 0
		return false
	}
	if c.at > 0 {
		c.in = c.in[:copy(c.in[:cap(c.in)], rest)]
		c.at = 0
	}
	return len(rest) > 0
}

// flush sends the answers that have gathered.
func (c *session) flush() bool {
	if len(c.out) == 0 {
		return true
	}
	// A deadline a call would be a third of the work here: one that is between one and two limits ahead will do.
	limit := c.server.options.MessageTimeout
	if now := time.Now(); c.until.Sub(now) < limit {
		c.until = now.Add(2 * limit)
		if c.conn.SetWriteDeadline(c.until) != nil {
			return false
		}
	}
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	if cap(c.out) > keptBuffer*2 {
		c.out = nil
	}
	return err == nil
}
