package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"bakeoff/harness/control"
	"bakeoff/harness/drive"
	"bakeoff/harness/result"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/service"
	"bakeoff/store/memory"
)

// be is a child's process: "server NAME", "driver", or "burner".
func be(ctx context.Context, as string, args []string, stdin io.Reader, stdout io.Writer) error {
	switch {
	case as == "server" && len(args) == 1:
		return beServer(ctx, args[0], stdin, stdout)
	case as == "driver":
		err := beDriver(ctx, stdin, stdout)
		_, waiting := io.Copy(io.Discard, stdin) // it lives until it has been metered
		return errors.Join(err, waiting)
	case as == "burner":
		return beBurner(ctx, stdin, stdout)
	}
	return fmt.Errorf("-child %s %q: no such process", as, args)
}

// beServer serves the real service over the store in memory until stdin ends.
func beServer(ctx context.Context, subject string, stdin io.Reader, stdout io.Writer) error {
	p, err := suite.Find(subject)
	if err != nil {
		return err
	}
	api, err := service.New(ctx, memory.New(nil), service.Config{})
	if err != nil {
		return err
	}
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
	return p.Serve(ctx, l, api, p.Options(1000, 0))
}

func beDriver(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	return drive.Run(ctx, stdin, stdout, func(j drive.Job) (protocol.Protocol, error) { return suite.Find(j.Subject) })
}

// process is a child. Its CPU until it ended is known after end.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer
	peer *control.Peer
}

// start starts this program as a child.
func start(ctx context.Context, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"-child"}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd, in, control.NewPeer(out, in)}, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// end has the process end and says what getrusage tells of it.
func (p *process) end() (cpu time.Duration, err error) {
	p.in.Close()
	<-p.peer.Gone()
	err = p.cmd.Wait()
	if s := p.cmd.ProcessState; s != nil {
		cpu = s.UserTime() + s.SystemTime()
	}
	return cpu, err
}

// server starts a subject's server and waits until it listens.
func server(ctx context.Context, subject string) (*process, string, error) {
	p, err := start(ctx, "server", subject)
	if err != nil {
		return nil, "", err
	}
	line, err := p.peer.Expect(ctx, control.Listening)
	if err != nil {
		_, ending := p.end()
		return nil, "", errors.Join(err, ending)
	}
	return p, line.Addr, nil
}

// conversation drives the load of one job at the parent's end of a driver's pipes; at is called as the window
// begins, reported once the result has come.
func conversation(ctx context.Context, peer *control.Peer, job drive.Job, at, reported func() error) (result.Trial, error) {
	var trial result.Trial
	if err := peer.Send(job); err != nil {
		return trial, err
	}
	if _, err := peer.Expect(ctx, control.Ready); err != nil {
		return trial, err
	}
	if err := peer.Send(control.Line{Event: control.Go}); err != nil {
		return trial, err
	}
	if err := at(); err != nil {
		return trial, err
	}
	if _, err := peer.Expect(ctx, control.Done); err != nil {
		return trial, err
	}
	if err := peer.Send(control.Line{Event: control.Report}); err != nil {
		return trial, err
	}
	line, err := peer.Expect(ctx, control.Result)
	if err != nil {
		return trial, err
	}
	if err := reported(); err != nil {
		return trial, err
	}
	return trial, json.Unmarshal(line.Trial, &trial)
}

func nothing() error { return nil }

// inProcess drives a job within this process.
func inProcess(ctx context.Context, job drive.Job, at func() error) (result.Trial, error) {
	toDriver, fromParent := io.Pipe()
	toParent, fromDriver := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := beDriver(ctx, toDriver, fromDriver)
		fromDriver.Close()
		ended <- err
	}()
	trial, err := conversation(ctx, control.NewPeer(toParent, fromParent), job, at, nothing)
	fromParent.Close()
	if driving := <-ended; err == nil && driving != nil && !errors.Is(driving, control.ErrGone) {
		err = driving
	}
	return trial, err
}

// job is a load of the default workload over a subject.
func job(subject, addr string, inFlight int, d time.Duration) (drive.Job, error) {
	p, err := suite.Find(subject)
	if err != nil {
		return drive.Job{}, err
	}
	return drive.Job{
		Subject: subject, Addr: addr, Options: p.Options(inFlight, 0), Workload: "datatype", Concurrency: inFlight, Seed: 1,
		Warmup: 300 * time.Millisecond, Duration: d, Grace: 3 * time.Second, CallTimeout: 10 * time.Second,
	}, nil
}

// subjects are one of each protocol.
var subjects = []string{"grpc", "thrift", "http"}
