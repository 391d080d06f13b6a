package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"bakeoff/harness/control"
	"bakeoff/harness/meter"
	"bakeoff/harness/run"
)

// pinned runs the client in a process of its own, which has its CPUs from the first instruction.
func pinned(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cpus, err := run.CPUs()
	if err != nil {
		return err
	}
	sets, shared := run.Assign(cpus, []string{"server", "client"})
	fmt.Fprintf(stdout, "server on CPU %s, client on CPU %s\n", run.FormatCPUs(sets["server"]), run.FormatCPUs(sets["client"]))
	if shared {
		fmt.Fprintln(stdout, "server and client share a CPU: the figures say little")
	}
	servers, err := json.Marshal(sets["server"])
	if err != nil {
		return err
	}
	client := exec.CommandContext(ctx, self, append(args, "-servers", string(servers))...)
	client.Cancel = func() error { return client.Process.Signal(os.Interrupt) } // it ends its servers
	client.WaitDelay = 5 * time.Second
	client.Stdout, client.Stderr = stdout, stderr
	if err := run.Pinned(client, sets["client"]); err != nil {
		return err
	}
	if err := client.Wait(); err != nil {
		return fmt.Errorf("the client: %w", errors.Join(err, ctx.Err()))
	}
	return nil
}

// process is a server that runs.
type process struct {
	name, addr string
	cmd        *exec.Cmd
	in         io.Closer
	peer       *control.Peer
}

// start starts a server, by this binary or another build of it, and returns when it listens.
func (c config) start(ctx context.Context, s server, stderr io.Writer) (*process, error) {
	binary := s.binary
	if binary == "" {
		var err error
		if binary, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	var cpus []int
	if err := json.Unmarshal([]byte(c.servers), &cpus); err != nil {
		return nil, fmt.Errorf("-servers %q: %w", c.servers, err)
	}
	cmd := exec.Command(binary, "-be", string(s.be), "-records", strconv.Itoa(s.records), "-profile", s.profile)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := run.Pinned(cmd, cpus); err != nil {
		return nil, err
	}
	p := &process{name: s.name, cmd: cmd, in: in, peer: control.NewPeer(out, in)}
	line, err := p.peer.Expect(ctx, control.Listening)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.name, err), p.stop())
	}
	p.addr = line.Addr
	return p, nil
}

// stop ends the server and waits for its end.
func (p *process) stop() error {
	p.in.Close()
	<-p.peer.Gone() // Wait closes what is being read
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// read reads the meters of the server's process.
func (p *process) read() (meter.Reading, error) { return meter.Read(p.cmd.Process.Pid) }

// allocations are how many the server has made.
func (p *process) allocations(ctx context.Context) (int64, error) {
	if err := p.peer.Send(control.Line{Event: control.Counters}); err != nil {
		return 0, err
	}
	line, err := p.peer.Expect(ctx, control.Counters)
	return line.Counters[allocations], err
}
