// Package planted makes a service cost more than it does, by an amount that is known: what shows a difference must find this
// one. It knows the service's API and nothing of transports or of who measures.
package planted

import (
	"context"
	"iter"
	"runtime"
	"time"

	"bakeoff/service"
)

// Extra is what each call costs in addition.
type Extra struct {
	// CPU is processor time. It is a fixed amount of work, measured by the clock of the thread when Around is called: a
	// processor that is slower during a call takes longer for it, as it does for the call itself.
	CPU time.Duration
	// Delay is time in which the call waits and nothing is done. It ends early when the call's context does. What a timer takes
	// longer is not taken off: tens of microseconds at least.
	Delay time.Duration
}

// Around puts the extra in front of every call of api, streams included, once for each call. Without any it is api itself.
func (e Extra) Around(api service.API) (service.API, error) {
	if e == (Extra{}) {
		return api, nil
	}
	c := &costly{API: api, delay: e.Delay}
	if e.CPU > 0 {
		rate, err := turnsPerSecond()
		if err != nil {
			return nil, err
		}
		c.turns = int(rate*e.CPU.Seconds() + 0.5)
	}
	return c, nil
}

// costly is safe for concurrent use, as its API is.
type costly struct {
	service.API
	turns int
	delay time.Duration
}

// pay takes the extra.
func (c *costly) pay(ctx context.Context) {
	runtime.KeepAlive(spin(c.turns))
	if c.delay <= 0 {
		return
	}
	timer := time.NewTimer(c.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done(): // the call itself says so
	}
}

func (c *costly) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	c.pay(ctx)
	return c.API.Login(ctx, r)
}

func (c *costly) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	c.pay(ctx)
	return c.API.DataType(ctx, r)
}

func (c *costly) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	c.pay(ctx)
	return c.API.Echo(ctx, p)
}

func (c *costly) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	c.pay(ctx)
	return c.API.GetFeature(ctx, p)
}

func (c *costly) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	c.pay(ctx)
	return c.API.ListFeatures(ctx, r)
}

func (c *costly) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	c.pay(ctx)
	return c.API.RecordRoute(ctx, points)
}

func (c *costly) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	c.pay(ctx)
	return c.API.RouteChat(ctx, notes)
}
