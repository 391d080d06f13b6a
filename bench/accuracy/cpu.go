package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"bakeoff/harness/control"
	"bakeoff/harness/meter"
)

// burnFor is how long the burner is metered.
const burnFor = 3 * time.Second

// beBurner keeps one CPU busy until its stdin ends. It says which of its threads does.
func beBurner(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	runtime.LockOSThread()
	peer := control.NewPeer(stdin, stdout)
	ctx, cancel := peer.Context(ctx)
	defer cancel()
	err := peer.Send(control.Line{Event: control.Ready, Describe: strconv.Itoa(unix.Gettid())})
	for x := uint64(1); err == nil; x++ {
		if x%1_000_000 == 0 && ctx.Err() != nil {
			break
		}
	}
	return err
}

// burner reads the meter of a process that always wants one CPU. What it gets is one, less the time that the kernel had it
// wait for others; on a machine with nothing else to do that is 1.00.
func burner(ctx context.Context, t *table) error {
	p, err := start(ctx, "burner")
	if err != nil {
		return err
	}
	used, waited, err := burn(ctx, p)
	_, ending := p.end()
	if err := errors.Join(err, ending); err != nil {
		return err
	}
	cores := used.Cores()
	if cores == nil {
		return errors.New("its CPU is unknown")
	}
	t.absolute("one-CPU burner (cores)", 1-waited.Seconds()/used.Elapsed.Seconds(), *cores, 0.03)
	return nil
}

// burn is what the burner used, and how long it waited for a CPU.
func burn(ctx context.Context, p *process) (u meter.Usage, waited time.Duration, err error) {
	ready, err := p.peer.Expect(ctx, control.Ready)
	if err != nil {
		return u, 0, err
	}
	queue := fmt.Sprintf("/proc/%d/task/%s/schedstat", p.pid(), ready.Describe)
	read := func() (r meter.Reading, wait time.Duration, err error) {
		if r, err = meter.Read(p.pid()); err != nil {
			return r, 0, err
		}
		text, err := os.ReadFile(queue)
		if err != nil {
			return r, 0, err
		}
		var ran int64
		_, err = fmt.Sscan(string(text), &ran, (*int64)(&wait)) // ns on a CPU, ns waiting for one
		return r, wait, err
	}
	before, waitBefore, err := read()
	if err != nil {
		return u, 0, err
	}
	select {
	case <-time.After(burnFor):
	case <-ctx.Done():
		return u, 0, context.Cause(ctx)
	}
	after, waitAfter, err := read()
	if err != nil {
		return u, 0, err
	}
	u, err = meter.Sub(after, before)
	return u, waitAfter - waitBefore, err
}

// trialCPU has a server and a driver make a whole trial, and reads each one's meter as the last thing before it ends.
func trialCPU(ctx context.Context, t *table) error {
	s, addr, err := server(ctx, "grpc")
	if err != nil {
		return err
	}
	d, err := start(ctx, "driver")
	if err != nil {
		_, ending := s.end()
		return errors.Join(err, ending)
	}
	j, err := job("grpc", addr, 50, 3*time.Second)
	if err != nil {
		return err
	}
	var ofServer, ofDriver meter.Reading
	_, err = conversation(ctx, d.peer, j, nothing, func() (err error) {
		if ofDriver, err = meter.Read(d.pid()); err != nil {
			return err
		}
		ofServer, err = meter.Read(s.pid())
		return err
	})
	driver, ending := d.end()
	err = errors.Join(err, ending)
	serverCPU, ending := s.end()
	if err := errors.Join(err, ending); err != nil {
		return err
	}
	t.relative("CPU of a trial's server (s)", serverCPU.Seconds(), ofServer.CPU.Seconds(), 0.01)
	t.relative("CPU of a trial's driver (s)", driver.Seconds(), ofDriver.CPU.Seconds(), 0.01)
	t.relative("CPU of the trial (s)", (serverCPU + driver).Seconds(), (ofServer.CPU + ofDriver.CPU).Seconds(), 0.01)
	return nil
}
