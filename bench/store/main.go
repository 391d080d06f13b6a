// Command store measures the embedded Aerospike, store/miniaero, through the real client: the server's CPU for a get from
// 1 and from 50 goroutines, its allocations, and the memory of a million records.
//
// Beside it stands a floor: a server that reads what comes and writes an answer that it was given once, without looking.
// It is what a Go program with the net package pays for the sockets; what miniaero takes beyond it, or less, is ours.
// All servers are there all the time and take turns, the others idle; each is a process of its own on one CPU, the
// client is on another where there are two. CPU is read from the process clocks between two moments at which no call is
// in flight. Printed are the median of the turns with its 95 % interval, the least turn (on a machine that others use it
// says what the median would be without them), the kernel's share of that CPU, the median of the ratios within one round
// of turns, and what the client takes.
//
// A bound "holds" where all of the interval keeps it, is "MISSED" where none of it does (the command then exits with 1),
// else "not decided".
//
// The flags:
//
//	-rounds N        rounds of turns (40)
//	-turn D          length of a turn (250ms)
//	-beside FILE     another build of this command, whose server takes turns too: how a change is measured
//	-profile FILE    write a CPU profile of the server with few records there
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// config is what the flags say.
type config struct {
	rounds  int
	turn    time.Duration
	beside  string
	profile string

	be      role   // of a server's process
	records int    // that it has
	servers string // of the client's process: the servers' CPUs
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := store(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "store:", err)
		os.Exit(1)
	}
}

func store(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var c config
	f := flag.NewFlagSet("store", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&c.rounds, "rounds", 40, "rounds of turns")
	f.DurationVar(&c.turn, "turn", 250*time.Millisecond, "length of a turn")
	f.StringVar(&c.beside, "beside", "", "another build of this command, whose server takes turns too")
	f.StringVar(&c.profile, "profile", "", "file for a CPU profile of the server with few records")
	f.StringVar((*string)(&c.be), "be", "", "internal: be this server, until stdin ends")
	f.IntVar(&c.records, "records", 0, "internal: how many records the server has")
	f.StringVar(&c.servers, "servers", "", "internal: be the client, with servers on these CPUs")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%q: there are flags only", f.Args())
	}
	if c.rounds < 1 || c.turn <= 0 {
		return fmt.Errorf("-rounds %d, -turn %v: both must be above zero", c.rounds, c.turn)
	}
	switch {
	case c.be != "":
		return c.serve(ctx, stdin, stdout)
	case c.servers != "":
		return c.measure(ctx, stdout, stderr)
	}
	return pinned(ctx, args, stdout, stderr)
}
