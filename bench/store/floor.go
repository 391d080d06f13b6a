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
	err    error  // why there is none
}

// listenFloor starts a floor. It serves until its listener is closed.
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
	go f.accept(l)
	return l, nil
}

func (f *floor) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go f.serve(c)
	}
}

const (
	header   = 8 // version, type, six bytes of length
	typeInfo = 1
)

func (f *floor) serve(c net.Conn) {
	defer c.Close()
	in := make([]byte, 4<<10)
	for {
		n, err := c.Read(in)
		if err != nil {
			return
		}
		answer, err := f.answerTo(in[:n])
		if err != nil {
			return
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

// answerTo takes whatever a read brought for one request: the client sends the next one after the answer.
func (f *floor) answerTo(request []byte) (answer []byte, err error) {
	switch {
	case len(request) < header:
		return nil, io.ErrUnexpectedEOF
	case request[1] == typeInfo:
		return f.ask(request)
	}
	f.once.Do(func() { f.answer, f.err = f.ask(request) })
	return f.answer, f.err
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
