package main

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"bakeoff/harness/control"
	"bakeoff/service"
)

// counted counts the calls that a server is asked to handle, each as it begins. It stands between the transport and the
// rules, so that what a transport answers by itself, or asks twice, shows as a difference to what the driver has called.
type counted struct {
	api   service.API
	calls atomic.Int64
}

var _ service.API = (*counted)(nil)

func (c *counted) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	c.calls.Add(1)
	return c.api.Login(ctx, r)
}

func (c *counted) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	c.calls.Add(1)
	return c.api.DataType(ctx, r)
}

func (c *counted) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	c.calls.Add(1)
	return c.api.Echo(ctx, p)
}

func (c *counted) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	c.calls.Add(1)
	return c.api.GetFeature(ctx, p)
}

func (c *counted) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	c.calls.Add(1)
	return c.api.ListFeatures(ctx, r)
}

func (c *counted) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	c.calls.Add(1)
	return c.api.RecordRoute(ctx, points)
}

func (c *counted) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	c.calls.Add(1)
	return c.api.RouteChat(ctx, notes)
}

// counters are what a control line tells of it.
func (c *counted) counters() map[string]int64 {
	return map[string]int64{control.Calls: c.calls.Load()}
}

// tellCounters answers the parent's questions until ctx ends or the parent is gone, which is no error: it is how a child ends.
func tellCounters(ctx context.Context, peer *control.Peer, counters func() map[string]int64) error {
	for {
		if _, err := peer.Expect(ctx, control.Counters); err != nil {
			if ctx.Err() != nil || errors.Is(err, control.ErrGone) {
				return nil
			}
			return err
		}
		if err := peer.Send(control.Line{Event: control.Counters, Counters: counters()}); err != nil {
			return err
		}
	}
}
