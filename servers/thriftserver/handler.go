package thriftserver

import (
	"context"
	"errors"

	"bakeoff/service"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/gen/routeguide"
	"bakeoff/thrift/stack"
	"bakeoff/thrift/wire"

	"github.com/apache/thrift/lib/go/thrift"
)

// handler is what the generated processors call: those of one connection, or those of all requests over HTTP. Every error that
// it returns is the declared exception, or thrift.ErrAbandonRequest when nobody waits for the answer any more.
type handler struct {
	api   service.API
	stack *stack.Stack
	conn  *conn // nil over HTTP: net/http knows what its connections are at
}

// begin notes that the service works; the connection may be cut in the meantime, and is left so.
func (h handler) begin() {
	if h.conn != nil {
		h.conn.state.CompareAndSwap(moving, handling)
	}
}

// end notes that the service is done, and turns its error into one for the wire.
func (h handler) end(ctx context.Context, err error) error {
	if h.conn != nil {
		h.conn.state.CompareAndSwap(handling, moving)
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return thrift.ErrAbandonRequest
	}
	return wire.EncodeError(err)
}

// fits refuses an answer that is over the size limit, before a part of it is on its way.
func (h handler) fits(bound int, method string, result func() thrift.TStruct) error {
	if !h.stack.MayExceed(bound) {
		return nil
	}
	if err := h.stack.Exceeds(method, result()); err != nil {
		return wire.EncodeError(service.Errorf(service.ResourceExhausted, "the answer: %v", err))
	}
	return nil
}

func (h handler) Login(ctx context.Context, m *inf.LoginRq) (*inf.LoginRp, error) {
	r, err := wire.DecodeLoginRequest(m)
	if err != nil {
		return nil, wire.EncodeError(err)
	}
	h.begin()
	s, err := h.api.Login(ctx, r)
	if err := h.end(ctx, err); err != nil {
		return nil, err
	}
	rp := wire.EncodeSession(s)
	if err := h.fits(wire.SizeSession(s), "Login", func() thrift.TStruct { return &inf.DataLoginResult{Success: rp} }); err != nil {
		return nil, err
	}
	return rp, nil
}

func (h handler) DataType(ctx context.Context, m *inf.DataTypeRq) (*inf.DataTypeRp, error) {
	r, err := wire.DecodeDataTypeRequest(m)
	if err != nil {
		return nil, wire.EncodeError(err)
	}
	h.begin()
	d, err := h.api.DataType(ctx, r)
	if err := h.end(ctx, err); err != nil {
		return nil, err
	}
	rp := wire.EncodeDataType(d)
	if err := h.fits(wire.SizeDataType(d), "DataType", func() thrift.TStruct { return &inf.DataDataTypeResult{Success: rp} }); err != nil {
		return nil, err
	}
	return rp, nil
}

func (h handler) Echo(ctx context.Context, m *inf.Payload) (*inf.Payload, error) {
	p, err := wire.DecodePayload(m)
	if err != nil {
		return nil, wire.EncodeError(err)
	}
	h.begin()
	p, err = h.api.Echo(ctx, p)
	if err := h.end(ctx, err); err != nil {
		return nil, err
	}
	rp := wire.EncodePayload(p)
	if err := h.fits(wire.SizePayload(p), "Echo", func() thrift.TStruct { return &inf.DataEchoResult{Success: rp} }); err != nil {
		return nil, err
	}
	return rp, nil
}

func (h handler) GetFeature(ctx context.Context, m *routeguide.Point) (*routeguide.Feature, error) {
	h.begin()
	f, err := h.api.GetFeature(ctx, wire.DecodePoint(m))
	if err := h.end(ctx, err); err != nil {
		return nil, err
	}
	rp := wire.EncodeFeature(f)
	if err := h.fits(wire.SizeFeature(f), "GetFeature",
		func() thrift.TStruct { return &routeguide.RouteGuideGetFeatureResult{Success: rp} }); err != nil {
		return nil, err
	}
	return rp, nil
}

func (h handler) ListFeatures(ctx context.Context, m *routeguide.Rectangle) ([]*routeguide.Feature, error) {
	h.begin()
	all, err := service.Collect(h.api.ListFeatures(ctx, wire.DecodeRectangle(m)))
	if err := h.end(ctx, err); err != nil {
		return nil, err
	}
	rp := wire.EncodeFeatures(all)
	if err := h.fits(wire.SizeFeatures(all), "ListFeatures",
		func() thrift.TStruct { return &routeguide.RouteGuideListFeaturesResult{Success: rp} }); err != nil {
		return nil, err
	}
	return rp, nil
}

func (h handler) RecordRoute(ctx context.Context, m []*routeguide.Point) (*routeguide.RouteSummary, error) {
	h.begin()
	s, err := h.api.RecordRoute(ctx, wire.DecodeAll(m, wire.DecodePoint))
	if err := h.end(ctx, err); err != nil {
		return nil, err
	}
	return wire.EncodeSummary(s), nil
}

func (h handler) RouteChat(ctx context.Context, m []*routeguide.RouteNote) ([]*routeguide.RouteNote, error) {
	h.begin()
	all, err := service.Collect(h.api.RouteChat(ctx, wire.DecodeAll(m, wire.DecodeNote)))
	if err := h.end(ctx, err); err != nil {
		return nil, err
	}
	rp := wire.EncodeNotes(all)
	if err := h.fits(wire.SizeNotes(all), "RouteChat",
		func() thrift.TStruct { return &routeguide.RouteGuideRouteChatResult{Success: rp} }); err != nil {
		return nil, err
	}
	return rp, nil
}
