package thriftserver

import (
	"context"
	"iter"
	"net"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is an API that answers with what it was asked; hold, if set, is what DataType does first.
type echo struct {
	hold func(ctx context.Context) error
}

func (e echo) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	if e.hold != nil {
		if err := e.hold(ctx); err != nil {
			return service.DataType{}, err
		}
	}
	if r.Name == "" {
		return service.DataType{}, service.Errorf(service.NotFound, "no name")
	}
	return service.DataType{Token: r.Auth.Token, CodeID: int64(len(r.Name)), CnName: r.Name}, nil
}

func (echo) Login(_ context.Context, r service.LoginRequest) (service.Session, error) {
	return service.Session{Token: r.ClientID}, nil
}

func (echo) GetFeature(_ context.Context, p service.Point) (service.Feature, error) {
	return service.Feature{Location: p}, nil
}

func (echo) ListFeatures(_ context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return service.All([]service.Feature{{Location: r.Lo}, {Location: r.Hi}})
}

func (echo) RecordRoute(_ context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	all, err := service.Collect(points)
	return service.RouteSummary{PointCount: int32(len(all))}, err
}

func (echo) RouteChat(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return notes
}

// start serves api on a free port with short limits; stop ends it and returns what Serve returned.
func start(t *testing.T, api service.API, o protocol.Options, drain, grace time.Duration) (addr string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, l, api, o, drain, grace) }()
	t.Cleanup(cancel)
	return l.Addr().String(), func() error { cancel(); return <-served }
}

func connect(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	return c
}
