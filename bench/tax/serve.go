package main

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime/debug"
	"time"

	"bakeoff/harness/control"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/service"
	"bakeoff/store/memory"
)

// serve is the server's process: the real service over the store in memory, until stdin ends.
func serve(ctx context.Context, c config, stdin io.Reader, stdout io.Writer) error {
	p, err := suite.Find(c.serve)
	if err != nil {
		return err
	}
	peer := control.NewPeer(stdin, stdout)
	ctx, cancel := peer.Context(ctx)
	defer cancel()
	o := options(p, c)
	api, err := service.New(ctx, memory.New(time.Now), service.Config{})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := peer.Send(control.Line{Event: control.Listening, Addr: l.Addr().String()}); err != nil {
		return errors.Join(err, l.Close())
	}
	return p.Serve(ctx, l, api, o)
}

// options are a subject's own, and its garbage collector's setting is applied to this process.
func options(p protocol.Protocol, c config) protocol.Options {
	o := p.Options(c.concurrency, 0)
	if o.GCPercent != 0 {
		debug.SetGCPercent(o.GCPercent)
	}
	return o
}
