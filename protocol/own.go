package protocol

import (
	"cmp"
	"context"
	"fmt"
	"net"

	"bakeoff/service"
)

// OverOwn serves a front, of which l is the listener, over a backend of its own: one in the same process, over a socket of loopback, that answers by api
// under the options o. over serves the front before the backend's address, and closes l; where it can't be called l is closed, too. The backend outlives
// over by what that drains; when the backend ends before, the context of over ends, for a front without a backend serves nobody. Errors of the
// backend come first, and begin with the front's name.
func OverOwn(ctx context.Context, l net.Listener, name string, backend Protocol, o Options, api service.API, over func(ctx context.Context, addr string) error) error {
	inner, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		_ = l.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan error, 1)
	go func() {
		err := backend.Serve(life, inner, api, o)
		if err != nil {
			err = fmt.Errorf("the backend of %s: %w", name, err)
			stop(err)
		}
		ended <- err
	}()
	err = over(ctx, inner.Addr().String())
	end()
	return cmp.Or(<-ended, err)
}
