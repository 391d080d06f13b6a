package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"bakeoff/harness/result"
)

// The freezing server's times, and the load on it. There are workers for all calls that come while it stands still, so
// that none is sent late.
const (
	period     = 10 * time.Second
	frozen     = time.Second
	freezeFrom = 4 * time.Second // within each period
	freezeRate = "500"
	freezers   = 600
)

func freeze(ctx context.Context, t *table) error {
	for _, subject := range subjects {
		if err := freezeOne(ctx, t, subject); err != nil {
			return fmt.Errorf("%s: %w", subject, err)
		}
	}
	return nil
}

func freezeOne(ctx context.Context, t *table, subject string) (err error) {
	s, addr, err := server(ctx, subject)
	if err != nil {
		return err
	}
	defer func() {
		_ = s.cmd.Process.Signal(syscall.SIGCONT) // a stopped process does not end; one that is gone needs nothing
		_, ending := s.end()
		err = errors.Join(err, ending)
	}()
	j, err := job(subject, addr, freezers, window)
	if err != nil {
		return err
	}
	j.Rate = freezeRate
	trial, err := inProcess(ctx, j, func() error { return freezes(ctx, s, time.Now()) })
	if err != nil {
		return err
	}
	m, share, err := response(trial, 100*time.Millisecond)
	if err != nil {
		return err
	}
	o := trial.Outcomes
	t.absolute(subject+": freeze, calls not made or failed", 0, float64(o.Dropped+o.FailedTotal()+o.CutOff), 0)
	t.absolute(subject+": freeze, share over 100 ms (%)", 9, 100*share, 0.5)
	for _, q := range []struct {
		name     string
		q, truth float64 // the share over x is (1-x)/10
	}{{"p95", 0.95, 0.5}, {"p99", 0.99, 0.9}, {"p99.9", 0.999, 0.99}, {"max", 1, 1}} {
		ns, _ := m.Quantile(q.q)
		t.relative(subject+": freeze, "+q.name+" (s)", q.truth, float64(ns)/1e9, 0.02)
	}
	return nil
}

// freezes stops the server for a second of each period that begins with from.
func freezes(ctx context.Context, s *process, from time.Time) error {
	for at := freezeFrom; at < window; at += period {
		for _, step := range []struct {
			at  time.Duration
			sig syscall.Signal
		}{{at, syscall.SIGSTOP}, {at + frozen, syscall.SIGCONT}} {
			select {
			case <-time.After(time.Until(from.Add(step.at))):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := s.cmd.Process.Signal(step.sig); err != nil {
				return fmt.Errorf("%v for the server: %w", step.sig, err)
			}
		}
	}
	return nil
}

// response is the response times of a trial's calls that succeeded, and the share of them over a limit.
func response(trial result.Trial, limit time.Duration) (result.Merged, float64, error) {
	for _, h := range trial.Histograms {
		if h.Outcome != result.OutcomeOK || h.Time != result.TimeResponse {
			continue
		}
		m, err := result.Merge(h)
		if err != nil {
			return m, 0, err
		}
		d, err := h.Decode()
		if err != nil {
			return m, 0, err
		}
		over := int64(0)
		for _, bar := range d.Distribution() {
			if bar.From > int64(limit) {
				over += bar.Count
			}
		}
		return m, float64(over) / float64(m.Count), nil
	}
	return result.Merged{}, 0, errors.New("no call succeeded")
}
