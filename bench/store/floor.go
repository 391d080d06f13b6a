package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"

	"bakeoff/store/miniaero"
)

// floor answers every message but the first with the same bytes, and looks at none. Info requests, and the first
// message, it has a real server answer, so that clients connect and get what they expect.
type floor struct {
	behind string // the real server's address
	once   sync.Once
	answer []byte // to any message
}

// listenFloor starts a floor. It serves until the process ends; its listener can be closed.
func listenFloor() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s, err := filled(1, miniaero.Options{Advertise: []string{l.Addr().String()}})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	f := &floor{behind: s.Addr()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(c)
		}
	}()
	return l, nil
}

const (
	header   = 8 // version, type, six bytes of length
	typeInfo = 1
)

// serve takes whatever a read brings for one request: the client sends the next one after the answer.
func (f *floor) serve(c net.Conn) {
	defer c.Close()
	in := make([]byte, 4<<10)
	for {
		n, err := c.Read(in)
		if err != nil || n < header {
			return
		}
		if in[1] == typeInfo {
			answer, err := f.ask(in[:n])
			if err != nil {
				return
			}
			if _, err := c.Write(answer); err != nil {
				return
			}
			continue
		}
		f.once.Do(func() { f.answer, err = f.ask(in[:n]) })
		if err != nil {
			return
		}
		if _, err := c.Write(f.answer); err != nil {
			return
		}
	}
}

// ask has the real server answer one request.
func (f *floor) ask(request []byte) ([]byte, error) {
	c, err := net.Dial("tcp", f.behind)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	answer := make([]byte, header)
	if _, err := io.ReadFull(c, answer); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint64(answer) & (1<<48 - 1)
	answer = append(answer, make([]byte, size)...)
	_, err = io.ReadFull(c, answer[header:])
	return answer, err
}
