package grpcserver_test

import (
	"context"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/clients/grpcclient"
	"bakeoff/protocol"
	"bakeoff/servers/grpcserver"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// subjects are the knobs that tests run under: as the library ships, and all of them turned.
var subjects = map[string]map[string]string{
	"default": nil,
	"tuned": {
		"stream-workers": "auto", "window": "1048576", "shared-write-buffer": "on", "read-buffer": "65536", "write-buffer": "65536",
		"codec": "vtproto",
	},
}

// each runs a test under every subject.
func each(t *testing.T, test func(t *testing.T, o protocol.Options)) {
	for name, knobs := range subjects {
		t.Run(name, func(t *testing.T) { test(t, protocol.Options{Conns: 1, InFlight: 50, Knobs: knobs}) })
	}
}

// serve starts a server on a port of its own; the returned function ends it and waits until Serve has returned nil.
func serve(t *testing.T, a service.API, o protocol.Options) (addr string, stop func()) {
	t.Helper()
	return serveDraining(t, a, o, 5*time.Second)
}

func serveDraining(t *testing.T, a service.API, o protocol.Options, drain time.Duration) (addr string, stop func()) {
	t.Helper()
	return servicetest.Serve(t, func(ctx context.Context, l net.Listener) error { return grpcserver.ServeDraining(ctx, l, a, o, drain) })
}

func dial(t *testing.T, addr string, o protocol.Options) protocol.Client {
	t.Helper()
	c, err := grpcclient.Dial(t.Context(), addr, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

// both is a server and a client to it.
func both(t *testing.T, a service.API, o protocol.Options) protocol.Client {
	t.Helper()
	addr, _ := serve(t, a, o)
	return dial(t, addr, o)
}
