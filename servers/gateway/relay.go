package gateway

import (
	"context"
	"errors"
	"iter"
	"sync"

	"bakeoff/protocol"
	"bakeoff/service"
)

// relay is the API of a front: the backend's client, whose faults are answers of the front. It may be used as the client may.
type relay struct{ protocol.Client }

func (r relay) Login(ctx context.Context, q service.LoginRequest) (service.Session, error) {
	s, err := r.Client.Login(ctx, q)
	return s, answer(err)
}

func (r relay) DataType(ctx context.Context, q service.DataTypeRequest) (service.DataType, error) {
	d, err := r.Client.DataType(ctx, q)
	return d, answer(err)
}

func (r relay) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	p, err := r.Client.Echo(ctx, p)
	return p, answer(err)
}

func (r relay) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	f, err := r.Client.GetFeature(ctx, p)
	return f, answer(err)
}

func (r relay) ListFeatures(ctx context.Context, area service.Rectangle) iter.Seq2[service.Feature, error] {
	return answers(r.Client.ListFeatures(ctx, area))
}

func (r relay) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	s, err := r.Client.RecordRoute(ctx, points)
	return s, answer(err)
}

// RouteChat waits at its end until notes are not read any more: a client may read them in a goroutine of its own, and leave that
// behind, where it would read what comes after the chat. A front has told its client the end by then, so that the client ends
// its side, or hangs up.
func (r relay) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		var reading sync.Mutex // held while notes are read
		over := false
		answers(r.Client.RouteChat(ctx, func(yield func(service.RouteNote, error) bool) {
			reading.Lock()
			defer reading.Unlock()
			if !over {
				notes(yield)
			}
		}))(yield)
		reading.Lock()
		defer reading.Unlock()
		over = true
	}
}

func answers[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if !yield(v, answer(err)) {
				return
			}
		}
	}
}

// answer is what a front answers when its call to the backend fails with err. What the backend said is passed on, and so is
// what the caller's own sequence failed with.
func answer(err error) error {
	var said *service.Error
	var fault *protocol.Fault
	if err == nil || errors.As(err, &said) || !errors.As(err, &fault) {
		return err
	}
	code := service.Unavailable
	switch fault.Kind {
	case protocol.Timeout:
		code = service.DeadlineExceeded
	case protocol.Malformed:
		code = service.Internal
	}
	return &service.Error{Code: code, Msg: "the backend: " + fault.Error(), Cause: "backend_" + fault.Kind}
}
