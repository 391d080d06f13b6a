package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bakeoff/bench/bound"
	"bakeoff/harness/control"
	"bakeoff/harness/load"
	"bakeoff/harness/record"
	"bakeoff/harness/run"
)

// parent measures each part of each subject in processes of its own. Its error says what failed or was missed; it goes
// on to the next subject all the same.
func (c config) parent(ctx context.Context, stdout, stderr io.Writer) error {
	cpus, err := run.CPUs()
	if err != nil {
		return err
	}
	sets, shared := run.Assign(cpus, []string{"server", "client"})
	fmt.Fprintf(stdout, "%d calls in flight, %d pairs of turns of %v; server on CPU %s, client on CPU %s\n",
		c.concurrency, c.pairs, c.turn, run.FormatCPUs(sets["server"]), run.FormatCPUs(sets["client"]))
	if shared {
		fmt.Fprintln(stdout, "server and client share a CPU: the ratios say little")
	}
	var failed error
	for _, p := range c.parts {
		if p.client == driverClient {
			failed = errors.Join(failed, recording(stdout))
		}
		p.head(stdout)
		for _, subject := range c.subjects {
			f, err := c.measure(ctx, p, subject, sets, stderr)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				fmt.Fprintf(stdout, "%-14s failed\n", subject)
				failed = errors.Join(failed, fmt.Errorf("%s, %s: %w", p.name, subject, err))
			} else if p.row(stdout, subject, f) == bound.Missed {
				failed = errors.Join(failed, fmt.Errorf("%s: missed: %s", subject, p.judged))
			}
		}
	}
	return failed
}

// mostRecording is what recording a call may take, without an allocation.
const mostRecording = 500 * time.Nanosecond

// recording measures the recorder alone.
func recording(stdout io.Writer) error {
	r := testing.Benchmark(func(b *testing.B) {
		rec := record.New([]string{"call"}, false).Recorder()
		b.ReportAllocs()
		for i := range b.N {
			rec.Record(load.Sample{Done: time.Duration(50_000 + i%100_000)})
		}
	})
	took := time.Duration(r.NsPerOp())
	fmt.Fprintf(stdout, "recording a call: %v, %d allocations (at most %v, 0)\n", took, r.AllocsPerOp(), mostRecording)
	if took > mostRecording || r.AllocsPerOp() > 0 {
		return errors.New("recording a call costs too much")
	}
	return nil
}

// measure starts the servers of a part, then the client that has them take turns, each on its CPUs.
func (c config) measure(ctx context.Context, p part, subject string, sets map[string][]int, stderr io.Writer) (f finding, err error) {
	// The thread that starts a process hands its CPUs down, so that the child's Go runtime sizes itself by them. This
	// goroutine never unlocks it: the thread ends with the goroutine, and its CPUs with it.
	failed := make(chan error)
	go func() {
		runtime.LockOSThread()
		failed <- func() error {
			if err := pin(sets["server"]); err != nil {
				return err
			}
			args := []string{subject}
			for _, as := range p.servers {
				cmd, addr, stop, err := c.startServer(ctx, p, as, subject, stderr)
				if err != nil {
					return fmt.Errorf("the %s: %w", as, err)
				}
				defer stop()
				args = append(args, addr, strconv.Itoa(cmd.Process.Pid))
			}
			if err := pin(sets["client"]); err != nil {
				return err
			}
			client, err := c.command(ctx, p, p.client, args, stderr)
			if err != nil {
				return err
			}
			out, err := client.Output()
			if err != nil {
				return fmt.Errorf("the %s: %w", p.client, err)
			}
			return json.Unmarshal(out, &f)
		}()
	}()
	err = <-failed
	return f, err
}

// startServer returns when the server listens; stop ends it and waits.
func (c config) startServer(ctx context.Context, p part, as role, subject string, stderr io.Writer) (cmd *exec.Cmd, addr string, stop func(), err error) {
	cmd, err = c.command(ctx, p, as, []string{subject}, stderr)
	if err != nil {
		return nil, "", nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", nil, err
	}
	stop = func() {
		in.Close()
		cmd.Wait()
	}
	line, err := control.NewPeer(out, in).Expect(ctx, control.Listening)
	if err != nil {
		stop()
		return nil, "", nil, err
	}
	return cmd, line.Addr, stop, nil
}

// command prepares a process of this binary.
func (c config) command(ctx context.Context, p part, as role, args []string, stderr io.Writer) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	flags := []string{
		"-child", string(as), "-part", p.name, "-concurrency", strconv.Itoa(c.concurrency), "-pairs", strconv.Itoa(c.pairs),
		"-turn", c.turn.String(), "-profile", c.profile,
	}
	cmd := exec.CommandContext(ctx, self, append(flags, args...)...)
	cmd.Stderr = stderr
	return cmd, nil
}

// pin moves the calling thread to its CPUs.
func pin(cpus []int) error {
	var set unix.CPUSet
	for _, n := range cpus {
		set.Set(n)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin to CPU %s: %w", run.FormatCPUs(cpus), err)
	}
	return nil
}
