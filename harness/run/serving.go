package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"bakeoff/harness/plan"
)

// Serving starts a store (nil: none) and one server outside of any trial, unpinned, and calls use with the server's
// address: this is how subjects are examined before they are measured. ctx for use ends when one of them dies or is found stopped. Both are
// gone when Serving returns; the error is use's, or says how one of them failed.
func Serving(ctx context.Context, executable, name string, store *Command, server func(store string) Command,
	use func(ctx context.Context, addr string) error) error {
	return serving(ctx, Config{Executable: executable, Timeouts: Timeouts{}.defaulted()}, name, store, server, use)
}

func serving(ctx context.Context, c Config, name string, store *Command, server func(store string) Command,
	use func(ctx context.Context, addr string) error) error {
	r := &runner{Config: c, starter: newStarter()}
	defer r.starter.close()
	f := r.newFamily(ctx, plan.Trial{}, 0)
	err := f.serve(f.ctx, name, store, server, use)
	if err != nil && f.ctx.Err() != nil {
		err = context.Cause(f.ctx)
	}
	for _, c := range []*child{f.server, f.store} {
		if c.isOf(err) {
			f.blamed = c
		}
	}
	f.stop()
	for _, end := range f.ends {
		if !sameDeath(end, err) {
			err = errors.Join(err, end)
		}
	}
	return err
}

func (f *family) serve(ctx context.Context, name string, store *Command, server func(store string) Command,
	use func(ctx context.Context, addr string) error) error {
	var addr string
	if store != nil {
		line, err := f.listen(ctx, &f.store, Store, "store", *store)
		if err != nil {
			return err
		}
		addr = line.Addr
	}
	line, err := f.listen(ctx, &f.server, Server, name, server(addr))
	if err != nil {
		return err
	}
	var watching sync.WaitGroup
	used, end := context.WithCancel(ctx)
	watching.Go(func() { f.watch(used) })
	defer watching.Wait()
	defer end()
	return use(ctx, line.Addr)
}

// watch ends the family's context when a process of it is found stopped twice, one look after the other: it would only be waited for.
func (f *family) watch(ctx context.Context) {
	tick := time.NewTicker(f.Timeouts.Look)
	defer tick.Stop()
	var before *child
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		var now *child
		for _, c := range []*child{f.store, f.server} {
			if c == nil {
				continue
			}
			s := stateOf(c.pid())
			switch {
			case !s.stopped():
				continue
			case c == before:
				f.cancel(&failure{c, f.stage.Load().String(), &stoppedError{c.pid(), s, f.Timeouts.Look}})
				return
			}
			now = c
		}
		before = now
	}
}
