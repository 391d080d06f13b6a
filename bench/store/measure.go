package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"bakeoff/bench/bound"
	"bakeoff/harness/stats"
)

// The bounds that we hold ourselves to.
const (
	mostCPU    = 12e-6 // seconds of the server's a get, at 50 goroutines; a real Aerospike takes about 24 us on such a core
	mostAllocs = 0.1   // a get, whatever the number of records: what the client's tending allocates is in it
	mostMemory = 400e6 // bytes that a million records of two small bins take at their peak, while they are written
	million    = 1_000_000
)

// server is a server to be measured.
type server struct {
	name    string
	be      role
	records int
	binary  string // "" is this one
	profile string
	bound   bool // held to mostCPU
}

func (c config) contenders() []server {
	all := []server{
		{name: "floor", be: floored},
		{name: "miniaero, 10 records", be: embedded, records: 10, profile: c.profile, bound: true},
		{name: "miniaero, 100,000 records", be: embedded, records: 100_000, bound: true},
	}
	if c.beside != "" {
		all = append(all, server{name: "beside, 10 records", be: embedded, records: 10, binary: c.beside})
	}
	return all
}

// goroutines that get at a time: a lone caller's, and the one that the bound is about.
var goroutines = []int{1, mostGoroutines}

// measure has all servers take their turns, then weighs a million records. It stops at what fails, and goes on after what
// is missed.
func (c config) measure(ctx context.Context, stdout, stderr io.Writer) error {
	missed, err := c.gets(ctx, stdout, stderr)
	if err != nil {
		return err
	}
	v, err := c.weigh(ctx, stdout, stderr)
	if err != nil {
		return err
	}
	if v == bound.Missed {
		missed = errors.Join(missed, errors.New("missed: the memory of a million records"))
	}
	return missed
}

func (c config) gets(ctx context.Context, stdout, stderr io.Writer) (missed, err error) {
	var all []*contender
	defer func() {
		for _, x := range all {
			x.client.Close()
			err = errors.Join(err, x.stop())
		}
	}()
	for _, s := range c.contenders() {
		p, err := c.start(ctx, s, stderr)
		if err != nil {
			return nil, err
		}
		x, err := dial(s, p)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", s.name, err), p.stop())
		}
		all = append(all, x)
	}
	for round := -2; round < c.rounds; round++ { // the first two warm up
		for _, n := range goroutines {
			order := slices.Clone(all)
			if round%2 != 0 {
				slices.Reverse(order)
			}
			for _, x := range order {
				if err := x.turn(ctx, n, c.turn, round >= 0); err != nil {
					return nil, err
				}
			}
		}
	}
	fmt.Fprintf(stdout, "get through the real client, %d rounds of turns of %v\n", c.rounds, c.turn)
	for _, n := range goroutines {
		missed = errors.Join(missed, table(stdout, n, all))
	}
	return missed, nil
}

// table prints the figures at n goroutines; its error is what was missed.
func table(w io.Writer, n int, all []*contender) (missed error) {
	fmt.Fprintf(w, "\n%d at a time\n%-26s %10s %26s %7s %10s %24s %14s %12s\n", n,
		"server", "gets/s", "server CPU a get, us", "least", "in kernel",
		"ratio to the floor", "client's CPU", "allocs a get")
	floor := all[0].figures[n]
	for _, x := range all {
		f := x.figures[n]
		cpu, ok := stats.Median(f.cpu)
		rate, ok2 := stats.Median(f.rate)
		client, ok5 := stats.Median(f.client)
		allocs, ok3 := stats.Median(f.allocs)
		ratio, ok4 := stats.Compare(floor.cpu, f.cpu)
		if !ok || !ok2 || !ok3 || !ok4 || !ok5 {
			return errors.Join(missed, fmt.Errorf("%s: no figures", x.server.name))
		}
		fmt.Fprintf(w, "%-26s %10.0f %26s %7.2f %10s %24s %14.2f %12.3f", x.server.name, rate.Median,
			fmt.Sprintf("%.2f [%.2f, %.2f]", cpu.Median*1e6, cpu.Low*1e6, cpu.High*1e6), slices.Min(f.cpu)*1e6, f.kernel(),
			fmt.Sprintf("%.3f [%.3f, %.3f]", ratio.Ratio, ratio.Low, ratio.High), client.Median*1e6, allocs.Median)
		if x.bound {
			a := bound.AtMost(allocs.Low, allocs.High, allocs.Coverage, mostAllocs)
			fmt.Fprintf(w, "  at most %.1f allocations: %s", mostAllocs, a)
			if a == bound.Missed {
				missed = errors.Join(missed, fmt.Errorf("missed: allocations of %s", x.server.name))
			}
		}
		if x.bound && n == mostGoroutines {
			v := bound.AtMost(cpu.Low, cpu.High, cpu.Coverage, mostCPU)
			fmt.Fprintf(w, "; at most %.0f us: %s", mostCPU*1e6, v)
			if v == bound.Missed {
				missed = errors.Join(missed, fmt.Errorf("missed: the CPU of a get from %d goroutines, %s", n, x.server.name))
			}
		}
		fmt.Fprintln(w)
	}
	return missed
}

// weigh fills a server with a million records and reads its process's memory.
func (c config) weigh(ctx context.Context, stdout, stderr io.Writer) (v bound.Verdict, err error) {
	s := server{name: "a million records", be: embedded, records: million}
	p, err := c.start(ctx, s, stderr)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	x, err := dial(s, p)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.name, err)
	}
	defer x.client.Close()
	r, err := p.read()
	if err != nil {
		return "", err
	}
	if r.RSS == nil || r.RSSPeak == nil {
		fmt.Fprintf(stdout, "\n%d records of 2 small bins: the memory of a process is not known here\n", million)
		return bound.Undecided, nil
	}
	peak := float64(*r.RSSPeak)
	v = bound.AtMost(peak, peak, 1, mostMemory)
	fmt.Fprintf(stdout, "\n%d records of 2 small bins: %.0f MB resident, %.0f MB at the peak while they were written; "+
		"at most %.0f MB: %s\n", million, float64(*r.RSS)/1e6, peak/1e6, mostMemory/1e6, v)
	return v, nil
}
