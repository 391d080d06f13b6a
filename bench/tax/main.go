// Command tax measures what our own code takes, in two parts, each for every subject of protocol/suite:
//
//   - driver: the throughput and CPU of a call that the driver makes, against those of a bare loop over the same client
//     (goroutines that call and count, nothing else). The driver is to reach 98 % of the loop's throughput. What
//     recording a call costs is measured too.
//   - server: the CPU of our server for a call, with the store in memory, against that of a server which decodes the
//     request and encodes a constant answer over the same library with the same settings, written as a user of the
//     library would write it. Our server is to take at most 1.10 of it.
//
// Both of a pair are there all the time and take turns (bare, ours, ours, bare, ...), the other one idle. A ratio is
// within one pair of turns, so that a machine that drifts takes both along; what is printed is the median of the ratios
// with its 95 % interval, and what the interval says: "holds" where all of it keeps the limit, "MISSED" where none of it
// does (the command then exits with 1), else "not decided". Servers and client are processes of their own, on CPUs
// of their own where there are two; CPU is read from the process clocks between two moments at which no call is in flight.
//
// The flags:
//
//	-part driver|server|both   what to measure (both)
//	-subjects a,b              subjects to measure (all but fronts)
//	-concurrency N             calls in flight (50)
//	-pairs N                   pairs of turns for each subject (40)
//	-turn D                    length of a turn (500ms), after a quarter of it to warm up
//	-profile DIR               write a CPU profile of each process there, named PART-SUBJECT-ROLE.pprof
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"bakeoff/protocol/suite"
)

// config is what flags tell the parent, and the parent its children.
type config struct {
	parts       []part
	subjects    []string
	concurrency int
	pairs       int
	turn        time.Duration
	profile     string
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
	which := f.String("part", "both", "what to measure: driver, server or both")
	var all []string // fronts have no bare server: what they cost is their hop
	for _, p := range suite.All {
		all = append(all, p.Name)
	}
	subjects := f.String("subjects", strings.Join(all, ","), "subjects to measure, with commas between")
	f.IntVar(&c.concurrency, "concurrency", 50, "calls in flight")
	f.IntVar(&c.pairs, "pairs", 40, "pairs of turns for each subject")
	f.DurationVar(&c.turn, "turn", 500*time.Millisecond, "length of a turn")
	f.StringVar(&c.profile, "profile", "", "directory for a CPU profile of each process, PART-SUBJECT-ROLE.pprof")
	as := f.String("child", "", "internal: be this process of a measurement; its subject and servers follow as arguments")
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.concurrency < 1 || c.pairs < 1 || c.turn <= 0 {
		return fmt.Errorf("-concurrency %d, -pairs %d, -turn %v: all must be above zero", c.concurrency, c.pairs, c.turn)
	}
	c.subjects = strings.Split(*subjects, ",")
	for _, p := range parts {
		if *which == p.name || *which == "both" {
			c.parts = append(c.parts, p)
		}
	}
	if len(c.parts) == 0 {
		return fmt.Errorf("-part %q: want driver, server or both", *which)
	}
	if *as != "" {
		return c.be(ctx, role(*as), f.Args(), stdin, stdout)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%q: there are flags only", f.Args())
	}
	for _, name := range c.subjects {
		if _, err := suite.Find(name); err != nil {
			return err
		}
	}
	return c.parent(ctx, stdout, stderr)
}
