package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"bakeoff/harness/control"
	"bakeoff/harness/drive"
	"bakeoff/harness/result"
	"bakeoff/harness/stats"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// figures are those of one turn.
type figures struct {
	rate float64 // calls that ended in the turn, a second
	cpu  float64 // seconds of this process a call
}

// measure is the client's process: it takes the turns and prints the subject's row.
func measure(ctx context.Context, c config, stdout io.Writer) error {
	p, err := suite.Find(c.measure)
	if err != nil {
		return err
	}
	o := options(p, c)
	client, err := p.Dial(ctx, c.addr, o)
	if err != nil {
		return err
	}
	defer client.Close()
	job := drive.Job{
		Subject: p.Name, Addr: c.addr, Options: o, Workload: "datatype", Concurrency: c.concurrency,
		Duration: c.turn, Grace: drive.DefaultGrace, CallTimeout: protocol.DefaultTimeout,
	}
	kinds := [2]func() (figures, error){
		func() (figures, error) { return bare(client, c) },
		func() (figures, error) { return driven(ctx, client, job) },
	}
	for range 2 { // warm-up of both
		for _, turn := range kinds {
			if _, err := turn(); err != nil {
				return err
			}
		}
	}
	var rates, cpus [2][]float64
	for pair := range c.pairs {
		for i := range kinds {
			kind := (i + pair) % 2 // bare first, then driver first
			f, err := kinds[kind]()
			if err != nil {
				return err
			}
			rates[kind], cpus[kind] = append(rates[kind], f.rate), append(cpus[kind], f.cpu)
		}
	}
	bareRate, _ := stats.Median(rates[0])
	rate, ok := stats.Compare(rates[0], rates[1])
	cpu, ok2 := stats.Compare(cpus[0], cpus[1])
	if !ok || !ok2 {
		return errors.New("no pair of turns can be compared")
	}
	ratio := func(c stats.Comparison) string { return fmt.Sprintf("%.3f [%.3f, %.3f]", c.Ratio, c.Low, c.High) }
	fmt.Fprintf(stdout, "%-14s %12.0f %28s %28s\n", p.Name, bareRate.Median, ratio(rate), ratio(cpu))
	if rate.High < leastThroughput { // the whole interval lies below
		return fmt.Errorf("the driver reaches %.3f of the bare loop's throughput: want %.2f", rate.Ratio, leastThroughput)
	}
	return nil
}

// bare is the loop that a driver is measured by.
func bare(client service.API, c config) (figures, error) {
	runtime.GC() // as the driver does before its window
	request := service.DataTypeRequest{Group: service.KnownGroup, Name: service.KnownName}
	var (
		stop   atomic.Bool
		total  atomic.Uint64
		failed atomic.Pointer[error]
		all    sync.WaitGroup
	)
	begin := make(chan struct{})
	for range c.concurrency {
		all.Go(func() {
			<-begin
			n := uint64(0)
			for {
				if _, err := client.DataType(context.Background(), request); err != nil {
					failed.Store(&err)
					break
				}
				if stop.Load() {
					break // the call ended after the turn
				}
				n++
			}
			total.Add(n)
		})
	}
	cpu, start := cpuTime(), time.Now()
	close(begin)
	time.Sleep(c.turn)
	stop.Store(true)
	took := time.Since(start)
	all.Wait()
	cpu = cpuTime() - cpu
	if err := failed.Load(); err != nil {
		return figures{}, *err
	}
	n := float64(total.Load())
	return figures{n / took.Seconds(), cpu.Seconds() / (n + float64(c.concurrency))}, nil
}

// lent is a client that is not the driver's to close.
type lent struct{ protocol.Client }

func (lent) Close() error { return nil }

// driven is a whole trial of the driver's, without processes: its parent is this function.
func driven(ctx context.Context, client protocol.Client, job drive.Job) (figures, error) {
	toDriver, fromParent := io.Pipe()
	toParent, fromDriver := io.Pipe()
	defer fromParent.Close()
	ended := make(chan error, 1)
	go func() {
		dial := func(context.Context, string, protocol.Options) (protocol.Client, error) { return lent{client}, nil }
		ended <- drive.Run(ctx, toDriver, fromDriver, func(drive.Job) (protocol.Protocol, error) { return protocol.Protocol{Dial: dial}, nil })
		fromDriver.Close()
	}()
	parent := control.NewPeer(toParent, fromParent)
	if err := parent.Send(job); err != nil {
		return figures{}, err
	}
	if _, err := parent.Expect(ctx, control.Ready); err != nil {
		return figures{}, err
	}
	cpu := cpuTime()
	if err := parent.Send(control.Line{Event: control.Go}); err != nil {
		return figures{}, err
	}
	if _, err := parent.Expect(ctx, control.Done); err != nil {
		return figures{}, err
	}
	cpu = cpuTime() - cpu
	if err := parent.Send(control.Line{Event: control.Report}); err != nil {
		return figures{}, err
	}
	line, err := parent.Expect(ctx, control.Result)
	if err != nil {
		return figures{}, err
	}
	var trial result.Trial
	if err := json.Unmarshal(line.Trial, &trial); err != nil {
		return figures{}, err
	}
	if o := trial.Outcomes; o.OK == 0 || o.OK != o.Started {
		return figures{}, fmt.Errorf("not every call succeeded: %+v", o)
	}
	return figures{trial.Values[result.Throughput], cpu.Seconds() / float64(trial.Outcomes.OK)}, <-ended
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0 // there is no Linux without this clock; a zero fails the comparison
	}
	return time.Duration(t.Nano())
}
