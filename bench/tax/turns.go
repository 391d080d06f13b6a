package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"bakeoff/harness/stats"
	"bakeoff/service"
)

// figures are those of one turn.
type figures struct {
	Rate float64 // calls a second
	CPU  float64 // seconds a call, of the process that is measured
}

// finding is what the turns of one subject came to.
type finding struct {
	Bare figures // medians
	// Rate and CPU are ours against the bare one's.
	Rate, CPU stats.Comparison
}

// turn makes calls for as long as a turn takes.
type turn func() (figures, error)

// takeTurns has the two take their turns, the order changing from pair to pair, after two of each to warm up.
func takeTurns(pairs int, bare, ours turn) (finding, error) {
	kinds := [2]turn{bare, ours}
	var rates, cpus [2][]float64
	for pair := -2; pair < pairs; pair++ {
		for i := range kinds {
			kind := (i + pair + 2) % 2
			f, err := kinds[kind]()
			if err != nil {
				return finding{}, err
			}
			if pair >= 0 {
				rates[kind], cpus[kind] = append(rates[kind], f.Rate), append(cpus[kind], f.CPU)
			}
		}
	}
	var f finding
	rate, ok1 := stats.Median(rates[0])
	cpu, ok2 := stats.Median(cpus[0])
	f.Bare = figures{rate.Median, cpu.Median}
	var ok3, ok4 bool
	f.Rate, ok3 = stats.Compare(rates[0], rates[1])
	f.CPU, ok4 = stats.Compare(cpus[0], cpus[1])
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return finding{}, errors.New("no pair of turns can be compared")
	}
	return f, nil
}

var (
	request = service.DataTypeRequest{Group: service.KnownGroup, Name: service.KnownName}
	answer  = service.DataType{CodeID: service.KnownCode, CnName: service.KnownCnName}
)

// probe makes sure, outside of any turn, that what is measured gives the answer.
func probe(ctx context.Context, client service.API) error {
	got, err := client.DataType(ctx, request)
	if err == nil && got != answer {
		err = fmt.Errorf("the answer is %+v, want %+v", got, answer)
	}
	return err
}

// loop is the bare loop: goroutines that call and count. clock is read while no call is in flight. As the driver does,
// it warms up, and collects the garbage of that, before what is measured: the collector empties what a client keeps to
// use again, and the first calls after it pay for that.
func (c config) loop(client service.API, clock func() (time.Duration, error)) (figures, error) {
	if _, _, err := c.calls(client, c.warmup()); err != nil {
		return figures{}, err
	}
	runtime.GC()
	before, err := clock()
	if err != nil {
		return figures{}, err
	}
	n, rate, err := c.calls(client, c.turn)
	if err != nil {
		return figures{}, err
	}
	after, err := clock()
	if err != nil {
		return figures{}, err
	}
	return figures{Rate: rate, CPU: (after - before).Seconds() / float64(n)}, nil
}

// warmup is how long a turn is warmed up before it begins.
func (c config) warmup() time.Duration { return c.turn / 4 }

// calls makes calls for a time. The rate is what the driver makes its own of: the calls for each second of a
// goroutine's time, from the start to the end of its last call.
func (c config) calls(client service.API, d time.Duration) (made uint64, rate float64, err error) {
	var (
		stop   atomic.Bool
		total  atomic.Uint64
		busy   atomic.Int64
		failed atomic.Pointer[error]
		all    sync.WaitGroup
		start  time.Time
	)
	begin := make(chan struct{})
	for range c.concurrency {
		all.Go(func() {
			<-begin
			n := uint64(0)
			for !stop.Load() {
				if _, err := client.DataType(context.Background(), request); err != nil {
					failed.Store(&err)
					break
				}
				n++
			}
			busy.Add(int64(time.Since(start)))
			total.Add(n)
		})
	}
	start = time.Now()
	close(begin)
	time.Sleep(d)
	stop.Store(true)
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, 0, *err
	}
	made = total.Load()
	return made, float64(made) * float64(c.concurrency) / time.Duration(busy.Load()).Seconds(), nil
}

// ownCPU is what this process has used. harness/meter reads /proc as well, which would itself be in the window here.
func ownCPU() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("the process clock: %w", err)
	}
	return time.Duration(t.Nano()), nil
}
