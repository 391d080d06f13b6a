package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"

	"bakeoff/harness/control"
	"bakeoff/store/miniaero"
)

// role is what a server's process is.
type role string

const (
	embedded role = "miniaero"
	floored  role = "floor"
)

const (
	namespace = "test"
	set       = "bench"

	allocations = "allocations" // the counter that servers tell
)

// bins are those of every record, so that one answer is right for all.
func bins() map[string]any { return map[string]any{"code": 1234, "name": "語音接通"} }

// serve fills a server, says where it listens, and tells its allocations when asked, until stdin ends.
func (c config) serve(ctx context.Context, stdin io.Reader, stdout io.Writer) (err error) {
	peer := control.NewPeer(stdin, stdout)
	ctx, cancel := peer.Context(ctx)
	defer cancel()
	var addr string
	switch c.be {
	case embedded:
		s, err := filled(c.records, miniaero.Options{})
		if err != nil {
			return err
		}
		defer s.Close()
		addr = s.Addr()
	case floored:
		l, err := listenFloor()
		if err != nil {
			return err
		}
		defer l.Close()
		addr = l.Addr().String()
	default:
		return fmt.Errorf("-be %q: there is no such server", c.be)
	}
	debug.FreeOSMemory()
	if c.profile != "" {
		stop, err := profile(c.profile)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	if err := peer.Send(control.Line{Event: control.Listening, Addr: addr}); err != nil {
		return err
	}
	for {
		if _, err := peer.Expect(ctx, control.Counters); err != nil {
			if ctx.Err() != nil || errors.Is(err, control.ErrGone) {
				return nil
			}
			return err
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		counters := map[string]int64{allocations: int64(m.Mallocs)}
		if err := peer.Send(control.Line{Event: control.Counters, Counters: counters}); err != nil {
			return err
		}
	}
}

// filled is a server with so many records.
func filled(records int, o miniaero.Options) (*miniaero.Server, error) {
	s, err := miniaero.Listen("127.0.0.1:0", o)
	if err != nil {
		return nil, err
	}
	for i := range records {
		if err := s.Put(miniaero.Key{Namespace: namespace, Set: set, ID: i}, bins(), 0); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// profile starts a CPU profile of this process.
func profile(name string) (stop func() error, err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
