// Command peers runs bakeoff's driver and other load generators over the same servers, one after another in an
// order shuffled for each round, and prints what each pays in CPU for a call. All are measured alike: user and
// system time of the whole process from the kernel's accounting at its end, start-up included, divided by the calls
// that it reports. `make bench-peers` builds what it needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	limits "bakeoff/bench/bound"
	"bakeoff/harness/stats"
)

// bound is a ratio of CPU a call that the driver is to stay under.
type bound struct {
	ours, peer string
	most       float64
}

// bombardier and wrk send the same bytes with every call and look at no answer, so that they are held against the subject
// with the lean codec: http writes and reads its messages with encoding/json and checks them, which is no part of what
// a generator costs.
var bounds = []bound{
	{"bakeoff grpc", "ghz", 0.25},
	{"bakeoff grpc-tuned", "ghz", 0.25},
	{"bakeoff http-tuned", "bombardier", 1.0},
	{"bakeoff http-tuned", "wrk", 1.1},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run() error {
	bin := flag.String("bin", "bench/peers/bin", "folder of the built generators")
	rounds := flag.Int("rounds", 10, "rounds; every generator runs once in each")
	duration := flag.Duration("duration", 3*time.Second, "load of one run")
	concurrency := flag.Int("concurrency", 50, "calls in flight")
	seed := flag.Uint64("seed", 1, "seed of the order")
	flag.Parse()
	if *rounds < 1 || *duration < time.Second || *concurrency < 1 {
		return errors.New("-rounds and -concurrency must be at least 1, -duration at least 1s")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	b := bench{bin: *bin, duration: *duration, concurrency: *concurrency, serverCPU: "0", clientCPU: fmt.Sprint(runtime.NumCPU() - 1)}
	grpc, err := b.serve(ctx, "grpc-tuned")
	if err != nil {
		return err
	}
	defer grpc.stop()
	http, err := b.serve(ctx, "http-tuned")
	if err != nil {
		return err
	}
	defer http.stop()
	dir, err := os.MkdirTemp("", "bakeoff-peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "post.lua")
	if err := os.WriteFile(script, []byte(wrkScript), 0o644); err != nil {
		return err
	}
	contenders := []contender{
		{"bakeoff grpc", b.drive("grpc", grpc.addr)},
		{"bakeoff grpc-tuned", b.drive("grpc-tuned", grpc.addr)},
		{"ghz", b.ghz(grpc.addr)},
		{"bakeoff http", b.drive("http", http.addr)},
		{"bakeoff http-tuned", b.drive("http-tuned", http.addr)},
		{"bombardier", b.bombardier(http.addr)},
		{"wrk", b.wrk(http.addr, script)},
	}
	cost := make(map[string][]float64) // us a call, by round
	rate := make(map[string][]float64)
	order := rand.New(rand.NewPCG(*seed, 0))
	for round := range *rounds {
		order.Shuffle(len(contenders), func(i, j int) { contenders[i], contenders[j] = contenders[j], contenders[i] })
		for _, c := range contenders {
			u, err := c.run(ctx)
			if err != nil {
				return fmt.Errorf("round %d, %s: %w", round+1, c.name, err)
			}
			cost[c.name] = append(cost[c.name], u.cpu.Seconds()*1e6/float64(u.calls))
			rate[c.name] = append(rate[c.name], float64(u.calls)/duration.Seconds())
		}
		fmt.Fprintf(os.Stderr, "round %d of %d\n", round+1, *rounds)
	}
	return show(cost, rate)
}

func show(cost, rate map[string][]float64) error {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.AppendHeader(table.Row{"generator", "client CPU us/call [95 %]", "calls/s"})
	for _, name := range []string{"bakeoff grpc", "bakeoff grpc-tuned", "ghz", "bakeoff http", "bakeoff http-tuned", "bombardier", "wrk"} {
		c, _ := stats.Median(cost[name]) // every round has a figure, or run has failed
		r, _ := stats.Median(rate[name])
		t.AppendRow(table.Row{name, fmt.Sprintf("%.1f [%.1f, %.1f]", c.Median, c.Low, c.High), fmt.Sprintf("%.0f", r.Median)})
	}
	t.Render()
	missed := false
	for _, b := range bounds {
		c, ok := stats.Compare(cost[b.peer], cost[b.ours])
		if !ok {
			return fmt.Errorf("%s can't be compared with %s", b.ours, b.peer)
		}
		verdict := limits.AtMost(c.Low, c.High, c.Coverage, b.most)
		missed = missed || verdict == limits.Missed
		fmt.Printf("%s costs %.2f x %s [%.2f, %.2f]; bound %.2f: %s\n", b.ours, c.Ratio, b.peer, c.Low, c.High, b.most, verdict)
	}
	if missed {
		return errors.New("a bound was missed")
	}
	return nil
}
