package thriftserver

import (
	"context"
	"net"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers with what it was asked, and refuses a request without a name.
var echo = servicetest.API{OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
	if r.Name == "" {
		return service.DataType{}, service.Errorf(service.NotFound, "no name")
	}
	return service.DataType{Token: r.Auth.Token, CodeID: int64(len(r.Name)), CnName: r.Name}, nil
}}

// holding is an API in which wait comes before each answer to DataType.
func holding(wait func(ctx context.Context) error) servicetest.API {
	return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
		if err := wait(ctx); err != nil {
			return service.DataType{}, err
		}
		return echo.OnDataType(ctx, r)
	}}
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
