package main

import (
	"context"
	"fmt"
	"time"

	"bakeoff/harness/meter"
	"bakeoff/protocol"
)

// server is a server that a client process is told of.
type server struct {
	addr string
	pid  int
}

// cpu is what the server's process has used.
func (s server) cpu() (time.Duration, error) {
	r, err := meter.Read(s.pid)
	return r.CPU, err
}

// measureServer has the bare server and ours take turns at the same loop, through a client each.
func (c config) measureServer(ctx context.Context, p protocol.Protocol, servers []server) (finding, error) {
	var turns []turn
	for _, s := range servers {
		client, err := p.Dial(ctx, s.addr, c.options(p))
		if err != nil {
			return finding{}, err
		}
		defer client.Close()
		if err := probe(ctx, client); err != nil {
			return finding{}, fmt.Errorf("server at %s: %w", s.addr, err)
		}
		turns = append(turns, func() (figures, error) { return c.loop(client, s.cpu) })
	}
	return takeTurns(c.pairs, turns[0], turns[1])
}
