package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"bakeoff/harness/control"
	"bakeoff/harness/drive"
	"bakeoff/harness/result"
	"bakeoff/protocol"
)

// measureDriver has the bare loop and the driver take turns over one client.
func (c config) measureDriver(ctx context.Context, p protocol.Protocol, servers []server) (finding, error) {
	o := c.options(p)
	client, err := p.Dial(ctx, servers[0].addr, o)
	if err != nil {
		return finding{}, err
	}
	defer client.Close()
	if err := probe(ctx, client); err != nil {
		return finding{}, err
	}
	job := drive.Job{
		Subject: p.Name, Addr: servers[0].addr, Options: o, Workload: "datatype", Concurrency: c.concurrency,
		Warmup: c.warmup(), Duration: c.turn, Grace: drive.DefaultGrace, CallTimeout: protocol.DefaultTimeout,
	}
	return takeTurns(c.pairs,
		func() (figures, error) { return c.loop(lent{client}, ownCPU) },
		func() (figures, error) { return driven(ctx, client, job) })
}

// lent is a client that is not the driver's to close. The bare loop is given one as well: to pass through it takes a
// copy of the request.
type lent struct{ protocol.Client }

func (lent) Close() error { return nil }

// driven is a whole trial of the driver's, without processes: its parent is this function.
func driven(ctx context.Context, client protocol.Client, job drive.Job) (figures, error) {
	toDriver, fromParent := io.Pipe()
	toParent, fromDriver := io.Pipe()
	defer fromParent.Close()
	ended := make(chan error, 1)
	go func() {
		dial := func(context.Context, string, protocol.Options) (protocol.Client, error) { return lent{client}, nil }
		ended <- drive.Run(ctx, toDriver, fromDriver, func(drive.Job) (protocol.Protocol, error) { return protocol.Protocol{Dial: dial}, nil })
		fromDriver.Close()
	}()
	parent := control.NewPeer(toParent, fromParent)
	if err := parent.Send(job); err != nil {
		return figures{}, err
	}
	if _, err := parent.Expect(ctx, control.Ready); err != nil {
		return figures{}, err
	}
	before, err := ownCPU()
	if err != nil {
		return figures{}, err
	}
	if err := parent.Send(control.Line{Event: control.Go}); err != nil {
		return figures{}, err
	}
	if _, err := parent.Expect(ctx, control.Done); err != nil {
		return figures{}, err
	}
	after, err := ownCPU()
	if err != nil {
		return figures{}, err
	}
	if err := parent.Send(control.Line{Event: control.Report}); err != nil {
		return figures{}, err
	}
	line, err := parent.Expect(ctx, control.Result)
	if err != nil {
		return figures{}, err
	}
	var trial result.Trial
	if err := json.Unmarshal(line.Trial, &trial); err != nil {
		return figures{}, err
	}
	if o := trial.Outcomes; o.OK == 0 || o.OK != o.Started {
		return figures{}, fmt.Errorf("not every call succeeded: %+v", o)
	}
	return figures{trial.Values[result.Throughput], (after - before).Seconds() / float64(trial.Outcomes.OK)}, <-ended
}
