package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"bakeoff/harness/admin"
	harness "bakeoff/harness/run"
)

// impatience is how long what reads a process may take to answer after it has failed once, until it answers again. A host that is gone is
// silent: each reading would hold the run up for as long as the first.
const impatience = 500 * time.Millisecond

// farMeter reads a process that runs already, and says once when it can't, and once when it can again.
type farMeter struct {
	client     *admin.Client
	flag, addr string // "--store-agent", "db:9100"
	say        func(format string, args ...any)

	mu   sync.Mutex
	lost bool
}

// meterOf is nil where there is nothing to read with.
func meterOf(c *admin.Client, flag, addr string, say func(format string, args ...any)) harness.Meter {
	if c == nil {
		return nil
	}
	return (&farMeter{client: c, flag: flag, addr: addr, say: say}).read
}

// read is a harness.Meter.
func (m *farMeter) read(ctx context.Context) (harness.Remote, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	limited, cancel := ctx, func() {}
	if m.lost {
		limited, cancel = context.WithTimeoutCause(ctx, impatience, fmt.Errorf("no answer within %v", impatience))
	}
	defer cancel()
	u, err := m.client.Usage(limited)
	switch {
	case err == nil && m.lost:
		m.lost = false
		m.say("%s %s answers again", m.flag, m.addr)
	case err != nil:
		if err = reason(err); limited.Err() != nil {
			err = context.Cause(limited)
		}
		if !m.lost && !errors.Is(ctx.Err(), context.Canceled) { // it is not the run that has ended
			m.lost = true
			m.say("warning: %s %s could not be read: %v: until it can, trials have no figures from it, and it is waited for %v at a time", m.flag, m.addr, err, impatience)
		}
		return harness.Remote{}, fmt.Errorf("%s: %w", m.addr, err)
	}
	return harness.Remote{Reading: u.Reading, Counters: u.Counters, Throttled: u.Throttled}, nil
}
