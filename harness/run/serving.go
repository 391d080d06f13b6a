package run

import (
	"context"
	"errors"
)

// Serving starts a store (nil: none) and one server outside of any trial, unpinned, and calls use with the server's
// address: this is how subjects are examined before they are measured. ctx for use ends when one of them dies. Both are
// gone when Serving returns; the error is use's, or says how one of them failed.
func Serving(ctx context.Context, executable, name string, store *Command, server func(store string) Command,
	use func(ctx context.Context, addr string) error) error {
	r := &runner{Config: Config{Executable: executable, Timeouts: Timeouts{}.defaulted()}, starter: newStarter()}
	defer r.starter.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &family{runner: r}
	err := f.serve(ctx, cancel, name, store, server, use)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	ends := f.stop()
	for _, end := range ends {
		if !sameDeath(end, err) {
			err = errors.Join(err, end)
		}
	}
	return err
}

func (f *family) serve(ctx context.Context, cancel context.CancelCauseFunc, name string, store *Command, server func(store string) Command,
	use func(ctx context.Context, addr string) error) error {
	var addr string
	if store != nil {
		line, err := f.listen(ctx, cancel, &f.store, Store, "store", *store)
		if err != nil {
			return err
		}
		addr = line.Addr
	}
	line, err := f.listen(ctx, cancel, &f.server, Server, name, server(addr))
	if err != nil {
		return err
	}
	return use(ctx, line.Addr)
}
