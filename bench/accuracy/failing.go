package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"bakeoff/protocol/suite"
	"bakeoff/service"
	"bakeoff/store/memory"
)

// failingAPI fails every tenth look-up, and counts.
type failingAPI struct {
	service.API
	err           error
	calls, failed atomic.Uint64
}

func (f *failingAPI) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	if f.calls.Add(1)%10 == 0 {
		f.failed.Add(1)
		return service.DataType{}, f.err
	}
	return f.API.DataType(ctx, r)
}

// failing has every subject carry failures of two kinds: one with a code alone, one whose cause is the store.
func failing(ctx context.Context, t *table) error {
	for _, p := range suite.All {
		for _, e := range []*service.Error{
			{Code: service.ResourceExhausted, Msg: "planted"},
			{Code: service.DeadlineExceeded, Msg: "planted", Cause: "store_timeout"},
		} {
			if err := failingOne(ctx, t, p.Name, e, 500*time.Millisecond); err != nil {
				return fmt.Errorf("%s, %s: %w", p.Name, e.Class(), err)
			}
		}
	}
	return nil
}

// errFewCalls says that so few calls were made that none was to fail.
var errFewCalls = errors.New("fewer than ten calls were made: give them more time")

func failingOne(ctx context.Context, t *table, subject string, e *service.Error, d time.Duration) (err error) {
	p, err := suite.Find(subject)
	if err != nil {
		return err
	}
	api, err := service.New(ctx, memory.New(nil), service.Config{})
	if err != nil {
		return err
	}
	f := &failingAPI{API: api, err: e}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- p.Serve(serving, l, f, p.Options(8, 0)) }()
	defer func() {
		stop()
		err = errors.Join(err, <-served)
	}()
	j, err := job(subject, l.Addr().String(), 8, d)
	if err != nil {
		return err
	}
	j.Warmup = 0 // it is counted here, too
	trial, err := inProcess(ctx, j, nothing)
	if err != nil {
		return err
	}
	if f.failed.Load() == 0 {
		return errFewCalls
	}
	o := trial.Outcomes
	if o.FailedTotal() != o.Failed[e.Class()] {
		return fmt.Errorf("failures of other classes than %s: %v", e.Class(), o.Failed)
	}
	t.relative(fmt.Sprintf("%s: failing, %s", subject, e.Class()), float64(f.failed.Load()), float64(o.Failed[e.Class()]), 0)
	t.absolute(fmt.Sprintf("%s: failing, share (%%)", subject), 10, 100*float64(o.FailedTotal())/float64(o.Started), 0.1)
	for _, h := range trial.Histograms {
		if float64(h.Min) > h.Mean || h.Mean > float64(h.Max) {
			return fmt.Errorf("%s: min %d, mean %f, max %d are not in order", h.Outcome, h.Min, h.Mean, h.Max)
		}
	}
	return nil
}
