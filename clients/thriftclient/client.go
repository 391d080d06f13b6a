// Package thriftclient calls the API over Thrift: over its own sockets, or over HTTP. A connection of either carries one
// call at a time, so the client is a bounded pool of them. A connection is given up after any failure but a declared
// exception: nobody can tell what else would arrive on it. There are no retries.
package thriftclient

import (
	"context"
	"fmt"
	"iter"

	"bakeoff/protocol"
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
	stack *stack.Stack
	line  line
}

// line carries calls, one at a time over each of its connections.
type line interface {
	// begin draws a connection for a call; the error is the call's.
	begin(ctx context.Context) (turn, error)
	// Close ends the calls in flight and those that wait.
	Close() error
}

// turn is one call's hold of a connection.
type turn interface {
	// library is the library's clients over the connection, and the context to give them.
	library() (*services, context.Context)
	// end gives the connection back, or up. It makes the call's error of what the library's client returned.
	end(ctx context.Context, err error) error
}

// services are the library's clients of both services over one connection.
type services struct {
	data  *inf.DataClient
	route *routeguide.RouteGuideClient
}

func newServices(p thrift.TProtocol) services {
	lib := thrift.NewTStandardClient(p, p)
	return services{inf.NewDataClient(lib), routeguide.NewRouteGuideClient(lib)}
}

// Dial opens o.Conns connections to addr before it returns, or fails with addr in the error. ctx bounds the
// dialling alone.
func Dial(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	s, err := stack.New(o)
	if err != nil {
		return nil, fmt.Errorf("thrift: %w", err)
	}
	c := &client{stack: s}
	if s.HTTP() {
		c.line, err = dialHTTP(ctx, addr, s, o)
	} else {
		c.line, err = dialSockets(ctx, addr, s, o)
	}
	if err != nil {
		return nil, fmt.Errorf("thrift: %w", err)
	}
	return c, nil
}

// Close ends the calls in flight and those that wait.
func (c *client) Close() error { return c.line.Close() }

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

// call has do make one call on a connection.
func call[T any](ctx context.Context, c *client, do func(s *services, lib context.Context) (T, error)) (T, error) {
	var none T
	k, err := c.line.begin(ctx)
	if err != nil {
		return none, err
	}
	s, lib := k.library()
	answer, err := do(s, lib)
	if err := k.end(ctx, err); err != nil {
		return none, err
	}
	return answer, nil
}

func (c *client) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	rq := wire.EncodeLoginRequest(r)
	if err := c.fits(wire.SizeLoginRequest(r), "Login", func() thrift.TStruct { return &inf.DataLoginArgs{LoginRq: rq} }); err != nil {
		return service.Session{}, err
	}
	rp, err := call(ctx, c, func(s *services, lib context.Context) (*inf.LoginRp, error) { return s.data.Login(lib, rq) })
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
	rp, err := call(ctx, c, func(s *services, lib context.Context) (*inf.DataTypeRp, error) { return s.data.DataType(lib, rq) })
	if err != nil {
		return service.DataType{}, err
	}
	return wire.DecodeDataType(rp), nil
}

func (c *client) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	rq := wire.EncodePayload(p)
	if err := c.fits(wire.SizePayload(p), "Echo", func() thrift.TStruct { return &inf.DataEchoArgs{Payload: rq} }); err != nil {
		return service.Payload{}, err
	}
	rp, err := call(ctx, c, func(s *services, lib context.Context) (*inf.Payload, error) { return s.data.Echo(lib, rq) })
	if err != nil {
		return service.Payload{}, err
	}
	return wire.DecodePayload(rp)
}

func (c *client) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	rq := wire.EncodePoint(p)
	rp, err := call(ctx, c, func(s *services, lib context.Context) (*routeguide.Feature, error) {
		return s.route.GetFeature(lib, rq)
	})
	if err != nil {
		return service.Feature{}, err
	}
	return wire.DecodeFeature(rp), nil
}

// ListFeatures makes its call when the sequence is read; the features come as one list.
func (c *client) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return func(yield func(service.Feature, error) bool) {
		rq := wire.EncodeRectangle(r)
		rp, err := call(ctx, c, func(s *services, lib context.Context) ([]*routeguide.Feature, error) {
			return s.route.ListFeatures(lib, rq)
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
	rp, err := call(ctx, c, func(s *services, lib context.Context) (*routeguide.RouteSummary, error) {
		return s.route.RecordRoute(lib, rq)
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
		rp, err := call(ctx, c, func(s *services, lib context.Context) ([]*routeguide.RouteNote, error) {
			return s.route.RouteChat(lib, rq)
		})
		if err != nil {
			yield(service.RouteNote{}, err)
			return
		}
		wire.DecodeAll(rp, wire.DecodeNote)(yield)
	}
}
