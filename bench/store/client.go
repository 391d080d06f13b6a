package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"bakeoff/harness/meter"
)

// mostGoroutines is how many get at a time, at most.
const mostGoroutines = 50

// maxKeys bounds the records that are asked for, spread over all that a server has.
const maxKeys = 1000

// contender is a server that takes turns, and a client of its own.
type contender struct {
	server
	*process
	client *as.Client
	policy *as.BasePolicy
	keys   []*as.Key

	figures map[int]*series // by goroutines
}

// series are the figures of the turns, in their order.
type series struct {
	cpu    []float64 // seconds of the server's, a get
	client []float64 // seconds of the client's, a get
	rate   []float64 // gets a second
	allocs []float64 // of the server's, a get

	user, system time.Duration // of the server's, all turns together
	splitUnknown bool
}

// kernel is the kernel's share of the server's CPU, "unknown" where that is not told.
func (s *series) kernel() string {
	all := s.user + s.system
	if s.splitUnknown || all <= 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.0f %%", 100*s.system.Seconds()/all.Seconds())
}

// dial connects the real client, all its connections open, and makes sure that the answers are right.
func dial(s server, p *process) (*contender, error) {
	host, text, err := net.SplitHostPort(p.addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	cp := as.NewClientPolicy()
	cp.ConnectionQueueSize, cp.LimitConnectionsToQueueSize = mostGoroutines+1, true
	cp.MaxErrorRate = 0
	client, aerr := as.NewClientWithPolicy(cp, host, port)
	if aerr != nil {
		return nil, aerr
	}
	c := &contender{server: s, process: p, client: client, policy: as.NewPolicy(), figures: map[int]*series{}}
	c.policy.TotalTimeout, c.policy.SocketTimeout, c.policy.MaxRetries = 5*time.Second, 5*time.Second, 0
	if _, aerr := client.WarmUp(0); aerr != nil {
		client.Close()
		return nil, aerr
	}
	n := min(max(1, s.records), maxKeys)
	for i := range n {
		k, aerr := as.NewKey(namespace, set, i*max(1, s.records)/n)
		if aerr != nil {
			client.Close()
			return nil, aerr
		}
		c.keys = append(c.keys, k)
		rec, aerr := client.Get(c.policy, k)
		if aerr != nil {
			client.Close()
			return nil, fmt.Errorf("get of %v: %w", k, aerr)
		}
		if !reflect.DeepEqual(map[string]any(rec.Bins), bins()) {
			client.Close()
			return nil, fmt.Errorf("get of %v answered %v, want %v", k, rec.Bins, bins())
		}
	}
	return c, nil
}

// turn has n goroutines get for a while and keeps the figures, unless it is to warm up. The meters are read while no
// call is in flight.
func (c *contender) turn(ctx context.Context, n int, length time.Duration, keep bool) error {
	runtime.GC() // the client's garbage is of its own turn
	var (
		stop   atomic.Bool
		total  atomic.Int64
		failed atomic.Pointer[error]
		all    sync.WaitGroup
	)
	allocated, err := c.allocations(ctx)
	if err != nil {
		return err
	}
	before, err := c.read()
	if err != nil {
		return err
	}
	ownBefore, err := meter.Read(os.Getpid())
	if err != nil {
		return err
	}
	began := time.Now()
	for g := range n {
		all.Go(func() {
			gets := 0
			for i := g; !stop.Load(); i++ {
				if _, aerr := c.client.Get(c.policy, c.keys[i%len(c.keys)]); aerr != nil {
					err := error(aerr)
					failed.Store(&err)
					stop.Store(true)
					break
				}
				gets++
			}
			total.Add(int64(gets))
		})
	}
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
	stop.Store(true)
	all.Wait()
	took := time.Since(began)
	after, err := c.read()
	if err != nil {
		return err
	}
	own, err := meter.Read(os.Getpid())
	if err != nil {
		return err
	}
	now, err := c.allocations(ctx)
	if err != nil {
		return err
	}
	if err := failed.Load(); err != nil {
		return fmt.Errorf("%s: %w", c.server.name, *err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	gets := float64(total.Load())
	if gets == 0 {
		return fmt.Errorf("%s: not one get ended within a turn of %v", c.server.name, length)
	}
	if keep {
		s := c.figures[n]
		if s == nil {
			s = &series{}
			c.figures[n] = s
		}
		if used, err := meter.Sub(after, before); err != nil || used.User == nil || used.System == nil {
			s.splitUnknown = true
		} else {
			s.user, s.system = s.user+*used.User, s.system+*used.System
		}
		s.cpu = append(s.cpu, (after.CPU-before.CPU).Seconds()/gets)
		s.client = append(s.client, (own.CPU-ownBefore.CPU).Seconds()/gets)
		s.rate = append(s.rate, gets/took.Seconds())
		s.allocs = append(s.allocs, float64(now-allocated)/gets)
	}
	return nil
}
