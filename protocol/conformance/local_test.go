package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"sync"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/pool"
	"bakeoff/service"
)

// local is the least that a protocol can be: the client calls the server's API directly, and a connection carries
// one byte to and fro for each call, so that what the kit does with connections is felt. It must pass, and it is
// what the faulty protocols are made of.
func local() protocol.Protocol {
	var servers sync.Map // address -> service.API
	return protocol.Protocol{
		Name: "local", Doc: "direct calls, for the test of the kit",
		Conns: func(inFlight int) int { return inFlight },
		Serve: func(ctx context.Context, l net.Listener, api service.API, o protocol.Options) error {
			if _, err := o.Settings(nil); err != nil {
				return err
			}
			servers.Store(l.Addr().String(), api)
			return echoBytes(ctx, l)
		},
		Dial: func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
			o = o.Defaulted()
			if _, err := o.Settings(nil); err != nil {
				return nil, err
			}
			conns, err := pool.New(ctx, o.Conns, func(ctx context.Context) (*localConn, error) {
				c, err := o.DialContext(ctx, "tcp", addr)
				return &localConn{c}, err
			})
			if err != nil {
				return nil, fmt.Errorf("dial %s: %w", addr, err)
			}
			first, err := conns.Get(ctx)
			if err == nil {
				err = exchangeByte(first.Conn) // then the server has begun, and its API is known
				conns.Put(first, err == nil)
			}
			if err != nil {
				return nil, fmt.Errorf("dial %s: %w", addr, err)
			}
			api, _ := servers.Load(addr)
			life, end := context.WithCancelCause(context.Background())
			return &localClient{api: api.(service.API), conns: conns, o: o, life: life, end: end}, nil
		},
	}
}

// echoBytes answers each byte with itself, and ends like a server: it waits until its clients have hung up, or for 1 s.
func echoBytes(ctx context.Context, l net.Listener) error {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	var conns sync.WaitGroup
	for {
		c, err := l.Accept()
		if err != nil {
			conns.Wait()
			return nil
		}
		conns.Go(func() {
			defer c.Close()
			defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Now().Add(time.Second)) })()
			io.Copy(c, c)
		})
	}
}

func exchangeByte(c net.Conn) error {
	_, errWrite := c.Write([]byte{1})
	_, errRead := io.ReadFull(c, make([]byte, 1))
	return errors.Join(errWrite, errRead)
}

type localConn struct{ net.Conn }

func (c *localConn) Abort() { c.Close() }

type localClient struct {
	api   service.API
	conns *pool.Pool[*localConn]
	o     protocol.Options
	life  context.Context
	end   context.CancelCauseFunc
}

func (c *localClient) Close() error {
	c.end(protocol.ErrClosed)
	c.conns.Close()
	return nil
}

// call holds a connection while f runs, under the call's context, the client's life and its timeout.
func (c *localClient) call(ctx context.Context, f func(ctx context.Context) error) error {
	if err := protocol.CallError(ctx); err != nil {
		return err
	}
	if c.life.Err() != nil {
		return pool.Closed()
	}
	caller := ctx
	if _, ok := ctx.Deadline(); !ok && c.o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.o.Timeout)
		defer cancel()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	lease, err := c.conns.Get(ctx)
	if err == nil {
		_, errWrite := lease.Conn.Write([]byte{1})
		err = f(ctx)
		_, errRead := io.ReadFull(lease.Conn, make([]byte, 1))
		lost := errors.Join(errWrite, errRead)
		c.conns.Put(lease, lost == nil)
		if lost != nil {
			err = &protocol.Fault{Kind: protocol.Reset, Err: lost}
		}
	}
	switch {
	case err == nil:
		return nil
	case c.life.Err() != nil:
		return pool.Closed()
	case protocol.CallError(caller) != nil:
		return protocol.CallError(caller)
	case ctx.Err() != nil:
		return &protocol.Fault{Kind: protocol.Timeout, Err: ctx.Err()}
	}
	return recoded(err, func(e *service.Error) { e.Cause = service.CleanCause(e.Cause) })
}

func (c *localClient) sized(what string, bytes int) error {
	if bytes > c.o.MaxMessage {
		return service.Errorf(service.ResourceExhausted, "%s of %d bytes", what, bytes)
	}
	return nil
}

func (c *localClient) Login(ctx context.Context, r service.LoginRequest) (s service.Session, err error) {
	err = c.call(ctx, func(ctx context.Context) error {
		s, err = c.api.Login(ctx, r)
		return err
	})
	return s, err
}

func (c *localClient) Echo(ctx context.Context, p service.Payload) (answer service.Payload, err error) {
	if err := c.sized("a request", len(p.Text)+len(p.Data)); err != nil {
		return answer, err
	}
	err = c.call(ctx, func(ctx context.Context) error {
		answer, err = c.api.Echo(ctx, p)
		return err
	})
	return answer, err
}

func (c *localClient) DataType(ctx context.Context, r service.DataTypeRequest) (d service.DataType, err error) {
	if err := c.sized("a request", len(r.Group)+len(r.Name)); err != nil {
		return d, err
	}
	err = c.call(ctx, func(ctx context.Context) error {
		if d, err = c.api.DataType(ctx, r); err != nil {
			return err
		}
		return c.sized("an answer", len(d.CnName))
	})
	return d, err
}

func (c *localClient) GetFeature(ctx context.Context, p service.Point) (f service.Feature, err error) {
	err = c.call(ctx, func(ctx context.Context) error {
		f, err = c.api.GetFeature(ctx, p)
		return err
	})
	return f, err
}

func (c *localClient) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (s service.RouteSummary, err error) {
	err = c.call(ctx, func(ctx context.Context) error {
		s, err = c.api.RecordRoute(ctx, points)
		return err
	})
	return s, err
}

func (c *localClient) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return stream(ctx, c, func(ctx context.Context) iter.Seq2[service.Feature, error] { return c.api.ListFeatures(ctx, r) })
}

func (c *localClient) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return stream(ctx, c, func(ctx context.Context) iter.Seq2[service.RouteNote, error] { return c.api.RouteChat(ctx, notes) })
}

func stream[T any](ctx context.Context, c *localClient, open func(ctx context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		stopped := false
		err := c.call(ctx, func(ctx context.Context) error {
			for v, err := range open(ctx) {
				if err != nil {
					return err
				}
				if !yield(v, nil) {
					stopped = true
					return nil
				}
			}
			return nil
		})
		if err != nil && !stopped {
			var none T
			yield(none, err)
		}
	}
}
