// Package handlers answers the messages of protobuf from the API, once for every server of that IDL: gRPC's own, whose
// generated interfaces are in it, and those of other libraries. What is answered in place of a message is a gRPC status
// (see convert.Status). It knows no listeners and no options.
package handlers

import (
	"context"
	"io"
	"iter"

	"bakeoff/proto/convert"
	"bakeoff/proto/inf"
	"bakeoff/proto/routeguide"
	"bakeoff/service"
)

// Data answers the calls of the service of that name.
type Data struct{ API service.DataAPI }

// Login answers the call of that name.
func (d Data) Login(ctx context.Context, rq *inf.LoginRq) (*inf.LoginRp, error) {
	r, err := convert.Login(rq)
	if err != nil {
		return nil, convert.Status(err)
	}
	s, err := d.API.Login(ctx, r)
	if err != nil {
		return nil, convert.Status(err)
	}
	return convert.WireSession(s), nil
}

// DataType answers the call of that name.
func (d Data) DataType(ctx context.Context, rq *inf.DataTypeRq) (*inf.DataTypeRp, error) {
	r, err := convert.DataTypeRequest(rq)
	if err != nil {
		return nil, convert.Status(err)
	}
	a, err := d.API.DataType(ctx, r)
	if err != nil {
		return nil, convert.Status(err)
	}
	return convert.WireDataType(a), nil
}

// Echo answers the call of that name.
func (d Data) Echo(ctx context.Context, rq *inf.Payload) (*inf.Payload, error) {
	p, err := convert.Payload(rq)
	if err != nil {
		return nil, convert.Status(err)
	}
	a, err := d.API.Echo(ctx, p)
	if err != nil {
		return nil, convert.Status(err)
	}
	return convert.WirePayload(a), nil
}

// Route answers the calls of the service RouteGuide. What a client streams comes from a receive, whose message must last
// until the next one only: io.EOF says that it has sent all, any other error why the next message could not be had. An error
// of a send ends the call as it is.
type Route struct{ API service.RouteAPI }

// GetFeature answers the call of that name.
func (r Route) GetFeature(ctx context.Context, rq *routeguide.Point) (*routeguide.Feature, error) {
	f, err := r.API.GetFeature(ctx, convert.Point(rq))
	if err != nil {
		return nil, convert.Status(err)
	}
	return convert.WireFeature(f), nil
}

// ListFeatures answers the call of that name.
func (r Route) ListFeatures(ctx context.Context, rq *routeguide.Rectangle, send func(*routeguide.Feature) error) error {
	for f, err := range r.API.ListFeatures(ctx, convert.Rectangle(rq)) {
		if err != nil {
			return convert.Status(err)
		}
		if err := send(convert.WireFeature(f)); err != nil {
			return err
		}
	}
	return nil
}

// RecordRoute answers the call of that name.
func (r Route) RecordRoute(ctx context.Context, receive func() (*routeguide.Point, error)) (*routeguide.RouteSummary, error) {
	points := received(receive, func(m *routeguide.Point) (service.Point, error) { return convert.Point(m), nil })
	s, err := r.API.RecordRoute(ctx, points)
	if err != nil {
		return nil, convert.Status(err)
	}
	return convert.WireSummary(s), nil
}

// RouteChat answers the call of that name.
func (r Route) RouteChat(ctx context.Context, receive func() (*routeguide.RouteNote, error), send func(*routeguide.RouteNote) error) error {
	for n, err := range r.API.RouteChat(ctx, received(receive, convert.Note)) {
		if err != nil {
			return convert.Status(err)
		}
		if err := send(convert.WireNote(n)); err != nil {
			return err
		}
	}
	return nil
}

// received is what a client streams, until it has sent all or the call breaks.
func received[M, T any](receive func() (*M, error), read func(*M) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			m, err := receive()
			if err == io.EOF {
				return
			}
			var v T
			if err == nil {
				v, err = read(m)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}
