package run

import (
	"context"
	"errors"
)

// Serving starts one server outside of any trial, unpinned, and calls use with its address: this is how subjects are
// examined before they are measured. ctx for use ends when the server dies. The server is gone when Serving returns; the
// error is use's, or says how the server failed.
func Serving(ctx context.Context, executable, name string, c Command, use func(ctx context.Context, addr string) error) error {
	r := &runner{Config: Config{Executable: executable, Timeouts: Timeouts{}.defaulted()}, starter: newStarter()}
	defer r.starter.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &family{runner: r}
	line, err := f.listen(ctx, cancel, &f.server, Server, name, c)
	if err == nil {
		err = use(ctx, line.Addr)
	}
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
