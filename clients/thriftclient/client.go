// Package thriftclient calls the API over Thrift. A Thrift connection carries one call at a time, so the client
// is a bounded pool of them; the library's client ignores contexts, so deadlines are set on the socket and a
// cancelled context closes it. A connection is given up after any failure but a declared exception: nobody can
// tell what else would arrive on it. There are no retries.
package thriftclient

import (
	"context"
	"fmt"
	"iter"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/pool"
	"bakeoff/service"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/gen/routeguide"
	"bakeoff/thrift/stack"
	"bakeoff/thrift/wire"

	"github.com/apache/thrift/lib/go/thrift"
)

// Knobs are the options that Dial reads of protocol.Options.Knobs; connectivity-check is the server's alone.
var Knobs = stack.Knobs

type client struct {
	addr    string
	stack   *stack.Stack
	timeout time.Duration
	idle    time.Duration // a connection unused for longer is looked at before it carries a call
	pool    *pool.Pool[*conn]
	suspect *pool.Suspect // nil: calls are made over TLS
}

// Dial opens o.Conns connections to addr before it returns, or fails with addr in the error. ctx bounds the
// dialling alone.
func Dial(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	s, err := stack.New(o)
	if err != nil {
		return nil, fmt.Errorf("thrift: %w", err)
	}
	secure, err := o.ClientTLS(addr)
	if err != nil {
		return nil, fmt.Errorf("thrift: %w", err)
	}
	o = o.Defaulted()
	c := &client{addr: addr, stack: s, timeout: o.Timeout, idle: o.ServerIdle / 2}
	if secure == nil {
		c.suspect = new(pool.Suspect)
	}
	c.pool, err = pool.New(ctx, o.Conns, func(ctx context.Context) (*conn, error) {
		raw, err := o.DialContext(ctx, "tcp", addr)
		if err == nil {
			raw, err = protocol.Secure(ctx, raw, secure)
		}
		if err != nil {
			return nil, err
		}
		return newConn(s, raw)
	})
	if err != nil {
		return nil, fmt.Errorf("thrift: dial %s: %w", addr, pool.DialError(ctx, err))
	}
	return c, nil
}

// Close ends the calls in flight and those that wait.
func (c *client) Close() error {
	c.pool.Close()
	return nil
}

// fits refuses a request that is over the size limit, before a part of it is on its way.
func (c *client) fits(bound int, method string, args func() thrift.TStruct) error {
	if !c.stack.MayExceed(bound) {
		return nil
	}
	if err := c.stack.Exceeds(method, args()); err != nil {
		return service.Errorf(service.ResourceExhausted, "the request: %v", err)
	}
	return nil
}

// call has do make one call on a connection of the pool. The library's client gets no context: it would only
// look at its deadline, to read on after the socket's has passed.
func call[T any](ctx context.Context, c *client, do func(k *conn, lib context.Context) (T, error)) (T, error) {
	var none T
	now := time.Now()
	until, exact := pool.Until(ctx, now, c.timeout)
	l, err := c.pool.Draw(ctx, until, func(k *conn) bool { return k.Fit(now, c.idle) })
	if err != nil {
		return none, err
	}
	k := l.Conn
	k.Reset()
	answer, err := none, error(nil)
	if failed := k.Begin(ctx, now, until, exact); failed != nil {
		err = &stack.SocketError{Op: "begin", Err: failed}
	} else {
		answer, err = do(k, context.Background())
	}
	intact := k.End()
	if err == nil { // not intact: the context ended, or the client was closed, just after the answer
		k.answered = true
		c.pool.Put(l, intact)
		return answer, nil
	}
	if declared, ok := err.(*inf.ServiceError); ok {
		c.pool.Put(l, intact)
		return none, declaredError(declared)
	}
	err = k.callError(ctx, err)
	if !k.answered && c.suspect != nil {
		err = c.suspect.Judge(ctx, c.addr, err)
	}
	c.pool.Put(l, false)
	return none, err
}

func (c *client) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	rq := wire.EncodeLoginRequest(r)
	if err := c.fits(wire.SizeLoginRequest(r), "Login", func() thrift.TStruct { return &inf.DataLoginArgs{LoginRq: rq} }); err != nil {
		return service.Session{}, err
	}
	rp, err := call(ctx, c, func(k *conn, lib context.Context) (*inf.LoginRp, error) { return k.data.Login(lib, rq) })
	if err != nil {
		return service.Session{}, err
	}
	return wire.DecodeSession(rp), nil
}

func (c *client) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	rq := wire.EncodeDataTypeRequest(r)
	if err := c.fits(wire.SizeDataTypeRequest(r), "DataType",
		func() thrift.TStruct { return &inf.DataDataTypeArgs{DataTypeRq: rq} }); err != nil {
		return service.DataType{}, err
	}
	rp, err := call(ctx, c, func(k *conn, lib context.Context) (*inf.DataTypeRp, error) { return k.data.DataType(lib, rq) })
	if err != nil {
		return service.DataType{}, err
	}
	return wire.DecodeDataType(rp), nil
}

func (c *client) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	rq := wire.EncodePoint(p)
	rp, err := call(ctx, c, func(k *conn, lib context.Context) (*routeguide.Feature, error) { return k.route.GetFeature(lib, rq) })
	if err != nil {
		return service.Feature{}, err
	}
	return wire.DecodeFeature(rp), nil
}

// ListFeatures makes its call when the sequence is read; the features come as one list.
func (c *client) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return func(yield func(service.Feature, error) bool) {
		rq := wire.EncodeRectangle(r)
		rp, err := call(ctx, c, func(k *conn, lib context.Context) ([]*routeguide.Feature, error) {
			return k.route.ListFeatures(lib, rq)
		})
		if err != nil {
			yield(service.Feature{}, err)
			return
		}
		wire.DecodeAll(rp, wire.DecodeFeature)(yield)
	}
}

// RecordRoute reads all the points before it makes its call.
func (c *client) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	all, err := service.Collect(points)
	if err != nil {
		return service.RouteSummary{}, err
	}
	rq := wire.EncodePoints(all)
	if err := c.fits(wire.SizePoints(all), "RecordRoute",
		func() thrift.TStruct { return &routeguide.RouteGuideRecordRouteArgs{Points: rq} }); err != nil {
		return service.RouteSummary{}, err
	}
	rp, err := call(ctx, c, func(k *conn, lib context.Context) (*routeguide.RouteSummary, error) {
		return k.route.RecordRoute(lib, rq)
	})
	if err != nil {
		return service.RouteSummary{}, err
	}
	return wire.DecodeSummary(rp), nil
}

// RouteChat makes its call when the sequence is read, and reads all the notes before it; the answers come as one
// list.
func (c *client) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		all, err := service.Collect(notes)
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		rq := wire.EncodeNotes(all)
		err = c.fits(wire.SizeNotes(all), "RouteChat", func() thrift.TStruct { return &routeguide.RouteGuideRouteChatArgs{Notes: rq} })
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		rp, err := call(ctx, c, func(k *conn, lib context.Context) ([]*routeguide.RouteNote, error) { return k.route.RouteChat(lib, rq) })
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		wire.DecodeAll(rp, wire.DecodeNote)(yield)
	}
}
