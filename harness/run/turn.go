package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bakeoff/harness/control"
	"bakeoff/harness/meter"
	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// edge is all meters at one edge of a turn.
type edge struct {
	near readings
	far  remotes
}

// readings are the meters of our processes and of the machine.
type readings struct {
	server, driver, store meter.Reading
	backend               meter.Reading
	host                  meter.HostReading
}

// usages are what the roles used; nil for one that is not known.
type usages struct{ server, backend, driver, store *meter.Usage }

// turns is in how many the trial's window is measured.
func (f *family) turns() int { return max(1, f.trial.Turns) }

// add adds what was used in a later turn. What is unknown of one turn is unknown of all.
func (u *usages) add(later usages, first bool) {
	if first {
		*u = later
		return
	}
	for _, role := range []struct {
		sum   **meter.Usage
		later *meter.Usage
	}{{&u.server, later.server}, {&u.backend, later.backend}, {&u.driver, later.driver}, {&u.store, later.store}} {
		if *role.sum == nil || role.later == nil {
			*role.sum = nil
			continue
		}
		*role.sum = new((*role.sum).Add(*role.later))
	}
}

// turn measures one part of the window. Everything is quiet before it and after it: between its two readings of the meters there is the part,
// its drain and nothing else.
func (f *family) turn(ctx context.Context, turn int) error {
	before := edge{far: f.readRemotes(ctx)}
	var err error
	if before.near, err = f.read(); err != nil {
		return err
	}
	if turn == 0 {
		f.first, f.out.Started = before, time.Now()
	}
	part := f.trial.Duration / time.Duration(f.turns())
	f.stage.Store(&stage{turn: turn + 1, turns: f.turns(), began: time.Now(), window: part})
	if err := f.driver.say(control.Line{Event: control.Go}, f.Timeouts.Start); err != nil {
		return err
	}
	f.progress(Measuring, nil)
	each := parts / f.turns()
	sampled := f.sample(before.near, part, each-1)
	began := time.Now()
	ended, err := f.until(ctx, part)
	took := time.Since(began)
	inside := sampled()
	if err != nil {
		return err
	}
	var after edge
	if after.near, err = f.read(); err != nil {
		return err
	}
	after.far = f.readRemotes(ctx)
	used, err := f.used(before, after)
	if err != nil {
		return err
	}
	if err := f.notStopped(ctx, after.near, began); err != nil {
		return err
	}
	if err := f.answered(ctx, took, ended); err != nil {
		return err
	}
	f.made++
	f.awaitTurn(f.made)
	f.total.add(used, turn == 0)
	f.last = after
	f.draw(each, before.near.clocks(f), inside, after.near.clocks(f))
	return nil
}

// until hears the driver until it is done with a turn whose window is so long, and says how many calls ended.
func (f *family) until(ctx context.Context, window time.Duration) (ended uint64, err error) {
	before, limit := f.kept, time.Now().Add(window+f.Timeouts.Done)
	for quiet := window; ; {
		began := time.Now()
		line, err := f.hear(ctx, f.driver, waiting{event: control.Done, others: []string{control.SoFar}, timeout: time.Until(limit), quiet: max(0, quiet),
			when: func() string { return f.stage.Load().String() }})
		if err != nil {
			return 0, err
		}
		took := time.Since(began)
		f.tell(line, took)
		if line.Event == control.Done {
			return f.kept.OK + f.kept.FailedTotal() - before.OK - before.FailedTotal(), nil
		}
		quiet -= took
	}
}

func (f *family) read() (readings, error) {
	rs := readings{}
	for _, p := range []struct {
		c    *child
		into *meter.Reading
	}{{f.driver, &rs.driver}, {f.server, &rs.server}, {f.backend, &rs.backend}, {f.store, &rs.store}} {
		if p.c == nil {
			continue
		}
		var err error
		if *p.into, err = meter.ReadTree(p.c.cmd.Process.Pid); err != nil {
			if errors.Is(err, meter.ErrGone) && p.c.wait(time.Second) {
				return rs, p.c.death(f.stage.Load().String())
			}
			return rs, fmt.Errorf("%s: %w", p.c.name, err)
		}
	}
	rs.host = meter.Host()
	return rs, nil
}

// used is what the roles used between two edges.
func (f *family) used(before, after edge) (usages, error) {
	driver, err := meter.Sub(after.near.driver, before.near.driver)
	if err != nil {
		return usages{}, err
	}
	u := usages{driver: &driver}
	if u.server, err = f.usage(f.server, after.near.server, before.near.server, f.subRemotes("the server", &after.far.server, &before.far.server)); err != nil {
		return usages{}, err
	}
	if u.backend, err = f.usage(f.backend, after.near.backend, before.near.backend, nil); err != nil {
		return usages{}, err
	}
	u.store, err = f.usage(f.store, after.near.store, before.near.store, f.subRemotes("the store", &after.far.store, &before.far.store))
	return u, err
}

// usage is what a role used, by its process here or by its meter; nil where neither is to be had.
func (f *family) usage(c *child, after, before meter.Reading, far *meter.Usage) (*meter.Usage, error) {
	if c == nil {
		return far, nil
	}
	u, err := meter.Sub(after, before)
	return &u, err
}

// tell notes what the driver says that the trial has come to, of which the latest part took so long.
func (f *family) tell(line control.Line, part time.Duration) {
	ok, known := line.Counters[control.OK]
	if !known || part <= 0 {
		return
	}
	now := Now{OK: uint64(ok), Failed: uint64(line.Counters[control.Failed])}
	before := uint64(0)
	if f.soFar != nil {
		before = f.soFar.OK
	}
	now.Rate = float64(now.OK-min(before, now.OK)) / part.Seconds()
	f.soFar = &now
	f.keep(line)
	f.progress(Measuring, nil)
}

// parts is in how many equal parts a window is looked at, whatever its turns: as many as result.Trial has Slices.
const parts = plan.MostTurns

// clocks are the CPU clocks of our processes at one moment, by role as in result.Slice.
type clocks map[string]time.Duration

func (rs readings) clocks(f *family) clocks {
	all := clocks{"client": rs.driver.CPU}
	if f.server != nil {
		all["server"] = rs.server.CPU
	}
	if f.backend != nil {
		all["backend"] = rs.backend.CPU
	}
	if f.store != nil {
		all["store"] = rs.store.CPU
	}
	return all
}

// clocksNow reads the clocks of the processes of a reading now. One that can't be read is not there.
func (f *family) clocksNow(of readings) clocks {
	all := clocks{}
	for role, p := range map[string]struct {
		c  *child
		of meter.Reading
	}{"client": {f.driver, of.driver}, "server": {f.server, of.server}, "backend": {f.backend, of.backend}, "store": {f.store, of.store}} {
		if p.c == nil {
			continue
		}
		if cpu, err := meter.CPUOf(append([]int{p.of.PID}, p.of.Below...)...); err == nil {
			all[role] = cpu + p.of.Ended
		}
	}
	return all
}

// sample reads the clocks of the processes of a reading at the edges of equal parts within what is measured now, n of them, until the function that it
// returns is called, which gives those that were read by then. They are for a picture of the course of a trial alone.
func (f *family) sample(of readings, d time.Duration, n int) func() []clocks {
	stop, done := make(chan struct{}), make(chan []clocks, 1)
	go func() {
		var all []clocks
		defer func() { done <- all }()
		start := time.Now()
		for i := 1; i <= n; i++ {
			timer := time.NewTimer(time.Until(start.Add(d * time.Duration(i) / time.Duration(n+1))))
			select {
			case <-timer.C:
				all = append(all, f.clocksNow(of))
			case <-stop:
				timer.Stop()
				return
			}
		}
	}()
	return func() []clocks {
		close(stop)
		return <-done
	}
}

// draw notes what the roles used, in seconds, in each of so many parts of the window: between the clocks before, those inside and those after.
// Where one was not read nothing is known of the parts.
func (f *family) draw(n int, before clocks, inside []clocks, after clocks) {
	first := len(f.costs)
	f.costs = append(f.costs, make([]map[string]float64, n)...)
	if len(inside) != n-1 {
		return
	}
	for i, end := range append(inside, after) {
		used := map[string]float64{}
		for role, b := range end {
			if a, ok := before[role]; ok && b >= a {
				used[role] = (b - a).Seconds()
			}
		}
		f.costs[first+i], before = used, end
	}
}

// drawn puts what the parts of the window cost beside what happened in them.
func drawn(slices []result.Slice, costs []map[string]float64) {
	if len(slices) != len(costs) {
		return // the driver saw no parts, or not all turns took place
	}
	for i := range slices {
		slices[i].CPU = costs[i]
	}
}
