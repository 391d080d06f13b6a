// Command tax measures what the driver takes from what it drives: the throughput and CPU of a call that the driver
// makes, against those of a bare loop over the same client (goroutines that call and count, nothing else), in one run,
// for each subject. It also measures what recording a call costs.
//
// Both kinds of load run in one process by turns (bare, driver, driver, bare, ...), over the same connections, against
// a server in another process on other CPUs. A ratio is within one pair of turns, so that a machine that drifts takes
// both along; what is printed is the median of the ratios with its 95 % interval.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bakeoff/harness/control"
	"bakeoff/harness/load"
	"bakeoff/harness/record"
	"bakeoff/harness/run"
	"bakeoff/protocol/suite"
)

// The limits that we hold ourselves to.
const (
	leastThroughput = 0.98                  // of the bare loop's
	mostRecording   = 500 * time.Nanosecond // a call, and no allocation
)

// config is what both the parent and its children are told by flags.
type config struct {
	subjects    string
	concurrency int
	pairs       int
	turn        time.Duration
	serve       string // child: the subject to serve
	measure     string // child: the subject to measure, at addr
	addr        string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := tax(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "tax:", err)
		os.Exit(1)
	}
}

func tax(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var c config
	f := flag.NewFlagSet("tax", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&c.subjects, "subjects", "", "subjects to measure, with commas between (all)")
	f.IntVar(&c.concurrency, "concurrency", 50, "calls in flight")
	f.IntVar(&c.pairs, "pairs", 24, "pairs of turns for each subject")
	f.DurationVar(&c.turn, "turn", 300*time.Millisecond, "length of a turn")
	f.StringVar(&c.serve, "serve", "", "internal: be the server of this subject")
	f.StringVar(&c.measure, "measure", "", "internal: measure this subject")
	f.StringVar(&c.addr, "addr", "", "internal: where the server listens")
	if err := f.Parse(args); err != nil {
		return err
	}
	switch {
	case c.concurrency < 1 || c.pairs < 1 || c.turn <= 0:
		return fmt.Errorf("-concurrency %d, -pairs %d, -turn %v: all must be above zero", c.concurrency, c.pairs, c.turn)
	case c.serve != "":
		return serve(ctx, c, stdin, stdout)
	case c.measure != "":
		return measure(ctx, c, stdout)
	}
	return parent(ctx, c, stdout, stderr)
}

// parent starts a server and a client process for each subject.
func parent(ctx context.Context, c config, stdout, stderr io.Writer) error {
	var subjects []string
	for _, p := range suite.All {
		subjects = append(subjects, p.Name)
	}
	if c.subjects != "" {
		subjects = strings.Split(c.subjects, ",")
	}
	for _, name := range subjects {
		if _, err := suite.Find(name); err != nil {
			return err
		}
	}
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
	missed := recording(stdout)
	fmt.Fprintf(stdout, "%-14s %12s %28s %28s\n", "subject", "bare req/s", "driver/bare throughput", "driver/bare CPU a call")
	for _, name := range subjects {
		if err := subject(ctx, c, name, sets, stdout, stderr); err != nil {
			missed = errors.Join(missed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return missed
}

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

// subject measures one subject in two processes of their own, each on its CPUs.
func subject(ctx context.Context, c config, name string, sets map[string][]int, stdout, stderr io.Writer) error {
	// The thread that starts a process hands its CPUs down, so that the child's Go runtime sizes itself by them. This
	// goroutine never unlocks it: the thread ends with the goroutine, and its CPUs with it.
	failed := make(chan error)
	go func() {
		runtime.LockOSThread()
		failed <- func() error {
			server, err := child(ctx, sets["server"], stderr, c, "-serve", name)
			if err != nil {
				return err
			}
			in, err := server.StdinPipe()
			if err != nil {
				return err
			}
			out, err := server.StdoutPipe()
			if err != nil {
				return err
			}
			if err := server.Start(); err != nil {
				return err
			}
			defer server.Wait()
			defer in.Close() // tells the server to end
			line, err := control.NewPeer(out, in).Expect(ctx, control.Listening)
			if err != nil {
				return fmt.Errorf("the server: %w", err)
			}
			client, err := child(ctx, sets["client"], stderr, c, "-measure", name, "-addr", line.Addr)
			if err != nil {
				return err
			}
			client.Stdout = stdout
			return client.Run()
		}()
	}()
	return <-failed
}

// child prepares a process of this binary and moves the calling thread to its CPUs.
func child(ctx context.Context, cpus []int, stderr io.Writer, c config, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var set unix.CPUSet
	for _, n := range cpus {
		set.Set(n)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("pin to CPU %s: %w", run.FormatCPUs(cpus), err)
	}
	args = append(args, "-concurrency", strconv.Itoa(c.concurrency), "-pairs", strconv.Itoa(c.pairs), "-turn", c.turn.String())
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stderr = stderr
	return cmd, nil
}
