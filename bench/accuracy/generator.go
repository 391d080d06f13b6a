package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"bakeoff/harness/load"
	"bakeoff/harness/meter"
	"bakeoff/harness/record"
)

// workers make calls that return at once, or as long as call takes.
func workers(set *record.Set, n int, call load.Call) []load.Worker {
	var ws []load.Worker
	for range n {
		ws = append(ws, load.Worker{Calls: []load.Call{call}, Recorder: set.Recorder()})
	}
	return ws
}

// lateLimit is how late half of the calls may be sent, in ms: small beside the calls that are measured.
const lateLimit = 0.2

// pace drives calls that do nothing, so that what is late is the generator.
func pace(ctx context.Context, t *table) error {
	const d = 3 * time.Second
	for _, rate := range []string{"1", "500", "20000", "100000"} {
		for _, a := range load.AllArrivals {
			p, err := load.ParseProfile(rate)
			if err != nil {
				return err
			}
			set := record.New([]string{"call"}, true)
			before, err := meter.Read(os.Getpid())
			if err != nil {
				return err
			}
			s, err := load.Run(ctx, load.Options{Workers: workers(set, 50, func(context.Context, uint64) error { return nil }),
				Pacer: a.Pacer(p, d, 1), Duration: d, Precise: true})
			if err != nil {
				return err
			}
			after, err := meter.Read(os.Getpid())
			if err != nil {
				return err
			}
			used, err := meter.Sub(after, before)
			if err != nil {
				return err
			}
			cores := used.Cores()
			if cores == nil {
				return errors.New("the CPU of this process is unknown")
			}
			name := fmt.Sprintf("pace %s/s %s: ", rate, a.Name)
			t.relative(name+"calls made of those due", float64(s.Iterations+s.Dropped), float64(s.Iterations), 0.001)
			if late := set.Summary().Late; late.Hist != nil && late.Hist.TotalCount() >= 100 {
				t.bound(name+"late p50 (ms)", float64(late.Hist.ValueAtPercentile(50))/1e6, lateLimit)
				fmt.Fprintf(t.w, "%-44s p99 %.3f ms, max %.3f ms, %.1f %% of a CPU\n", "", float64(late.Hist.ValueAtPercentile(99))/1e6, float64(late.Max)/1e6, 100**cores)
			}
		}
	}
	return nil
}

// resident is the memory of a driver after so many calls of one load.
func resident(ctx context.Context, t *table) error {
	const million = 1_000_000
	set := record.New([]string{"call"}, false)
	set.Watch(time.Minute)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var calls atomic.Uint64
	rss := make(chan float64, 2)
	var unread atomic.Pointer[error]
	ws := workers(set, 8, func(context.Context, uint64) error {
		n := calls.Add(1)
		if n != million && n != 10*million {
			return nil
		}
		debug.FreeOSMemory() // what stays is what is kept
		r, err := meter.Read(os.Getpid())
		switch {
		case err != nil:
			unread.Store(&err)
		case r.RSS != nil:
			rss <- float64(*r.RSS) // the second one comes long after the first
		}
		if n == 10*million {
			cancel()
		}
		return nil
	})
	if _, err := load.Run(ctx, load.Options{Workers: ws, Duration: time.Minute}); !errors.Is(err, context.Canceled) {
		return errors.Join(errors.New("a minute was not enough"), err)
	}
	if err := unread.Load(); err != nil {
		return *err
	}
	if len(rss) != 2 {
		return errors.New("resident memory is unknown")
	}
	first := <-rss
	t.bound("memory: growth from 1 M to 10 M calls (%)", 100*(<-rss/first-1), 10)
	return nil
}
