package miniaero

import "net"

// ServeFloor answers every message with the same bytes, and looks at none: what the sockets alone cost a server that
// is written in Go. Info requests are answered properly, so that clients connect. It returns when l is closed.
func ServeFloor(l net.Listener, answer []byte) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			s := offline()
			s.conn = c
			buf := make([]byte, smallBuffer)
			for {
				n, err := c.Read(buf)
				if err != nil || n < protoHeader {
					return
				}
				if buf[1] == typeInfo {
					if !s.info(buf[protoHeader:n]) || !s.flush() {
						return
					}
					continue
				}
				if _, err := c.Write(answer); err != nil {
					return
				}
			}
		}()
	}
}
