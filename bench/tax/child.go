package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"time"

	"bakeoff/harness/control"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/service"
	"bakeoff/store/memory"
)

// role is what a process of a measurement is.
type role string

const (
	ourServer    role = "server"      // ours, until stdin ends
	bareServer   role = "bare-server" // one that answers a constant, likewise
	driverClient role = "driver"      // compares the driver with the bare loop
	serverClient role = "client"      // compares our server with the bare one
)

// be is a child's process. args are the subject and, for a client, each server's address and process id.
func (c config) be(ctx context.Context, as role, args []string, stdin io.Reader, stdout io.Writer) (err error) {
	if len(args) == 0 {
		return fmt.Errorf("-child %s: which subject?", as)
	}
	p, err := suite.Find(args[0])
	if err != nil {
		return err
	}
	if c.profile != "" {
		stop, err := profile(filepath.Join(c.profile, fmt.Sprintf("%s-%s-%s.pprof", c.parts[0].name, p.Name, as)))
		if err != nil {
			return err
		}
		defer stop()
	}
	if percent := c.options(p).GCPercent; percent != 0 {
		debug.SetGCPercent(percent)
	}
	switch as {
	case ourServer:
		return c.serve(ctx, stdin, stdout, p, serveOurs)
	case bareServer:
		return c.serve(ctx, stdin, stdout, p, serveBare)
	}
	servers, err := parseServers(args[1:])
	if err != nil {
		return err
	}
	measure := c.measureDriver
	if as == serverClient {
		measure = c.measureServer
	}
	f, err := measure(ctx, p, servers)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(f)
}

func parseServers(args []string) ([]server, error) {
	var servers []server
	for ; len(args) > 1; args = args[2:] {
		pid, err := strconv.Atoi(args[1])
		if err != nil {
			return nil, fmt.Errorf("process id of the server at %s: %w", args[0], err)
		}
		servers = append(servers, server{args[0], pid})
	}
	return servers, nil
}

// options are a subject's own.
func (c config) options(p protocol.Protocol) protocol.Options { return p.Options(c.concurrency, 0) }

// serve says where the server listens, and serves until stdin ends.
func (c config) serve(ctx context.Context, stdin io.Reader, stdout io.Writer, p protocol.Protocol,
	with func(context.Context, net.Listener, protocol.Protocol, protocol.Options) error) error {
	peer := control.NewPeer(stdin, stdout)
	ctx, cancel := peer.Context(ctx)
	defer cancel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := peer.Send(control.Line{Event: control.Listening, Addr: l.Addr().String()}); err != nil {
		return errors.Join(err, l.Close())
	}
	return with(ctx, l, p, c.options(p))
}

// serveOurs is the real service over the store in memory.
func serveOurs(ctx context.Context, l net.Listener, p protocol.Protocol, o protocol.Options) error {
	api, err := service.New(ctx, memory.New(time.Now), service.Config{})
	if err != nil {
		return err
	}
	return p.Serve(ctx, l, api, o)
}

// profile starts a CPU profile of this process.
func profile(name string) (stop func(), err error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}
