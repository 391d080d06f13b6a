// Command accuracy holds figures of ours against what is known to be true, in real time, over real sockets and processes:
//
//   - freeze: a server that stands still (SIGSTOP) for a second of every ten, driven at 500 calls a second in the open loop
//     over gRPC, Thrift and HTTP. A tenth of the calls come while it does, and those of the first 900 ms of it take over
//     100 ms: 9 % of all. Tools that count from when a call was sent show 1 %, for only as many as they have workers wait.
//   - failing: a service that fails one call in ten. Every subject reports a tenth, in the right class.
//   - pace: how late the driver sends calls that do nothing, at 500 and at 20,000 a second.
//   - memory: resident memory of a driver after ten million calls, beside that after one million.
//   - burner: a process that always wants one CPU reads 1.00 cores, less what the kernel had it wait for others.
//   - trial: the CPU of the processes of a trial from their start to their end, beside what getrusage says of them.
//
// Each line has the truth, ours and the error; one beyond its tolerance is MISSED and the command exits with 1. The machine
// must have nothing else to do: on a busy one pace and freeze show what else it does.
//
//	accuracy [-only freeze,failing,...] [-seconds 20]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// check is a documented comparison with the truth.
type check struct {
	name string
	run  func(ctx context.Context, t *table) error
}

// window is how long the freezing servers are driven: a multiple of ten seconds.
var window time.Duration

var checks = []check{
	{"burner", burner}, {"trial", trialCPU}, {"pace", pace}, {"memory", resident}, {"failing", failing}, {"freeze", freeze},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := accuracy(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func accuracy(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("accuracy", flag.ContinueOnError)
	f.SetOutput(stderr)
	var names []string
	for _, c := range checks {
		names = append(names, c.name)
	}
	only := f.String("only", strings.Join(names, ","), "checks to make, with commas between")
	seconds := f.Int("seconds", 20, "length of the freezing servers' load, a multiple of 10")
	as := f.String("child", "", "internal: be this process of a check")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *as != "" {
		return be(ctx, *as, f.Args(), stdin, stdout)
	}
	if window = time.Duration(*seconds) * time.Second; window <= 0 || window%period != 0 {
		return fmt.Errorf("-seconds %d: must be a multiple of 10", *seconds)
	}
	wanted := strings.Split(*only, ",")
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return fmt.Errorf("-only %s: there are %s", name, strings.Join(names, ", "))
		}
	}
	t := &table{w: stdout}
	t.head()
	for _, c := range checks {
		if !slices.Contains(wanted, c.name) {
			continue
		}
		if err := c.run(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if t.missed > 0 {
		return errors.New("some figures are further from the truth than they may be")
	}
	return nil
}
