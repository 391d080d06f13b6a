package main

import (
	"testing"

	"bakeoff/harness/control"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// TestServersCountTheirCalls makes one call of each kind over every protocol, and asks the server how many they were.
func TestServersCountTheirCalls(t *testing.T) {
	for _, p := range suite.All {
		t.Run(p.Name, func(t *testing.T) {
			server := start(t, t.Context(), "serve", p.Name, "--control")
			peer := control.NewPeer(server.out, server.in)
			listening, err := peer.Expect(t.Context(), control.Listening)
			if err != nil {
				t.Fatal(err)
			}
			c, err := p.Dial(t.Context(), listening.Addr, p.Options(2, 0))
			if err != nil {
				t.Fatal(err)
			}
			for want, call := range []func() error{
				func() error { return nil },
				func() error {
					_, err := c.Login(t.Context(), service.LoginRequest{ClientID: service.DemoClientID, Secret: service.DemoSecret})
					return err
				},
				func() error {
					_, err := c.DataType(t.Context(), service.DataTypeRequest{Group: service.KnownGroup, Name: service.KnownName})
					return err
				},
				func() error { _, err := c.GetFeature(t.Context(), service.Point{}); return err },
				func() error { _, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{})); return err },
				func() error { _, err := c.RecordRoute(t.Context(), service.All([]service.Point{{}, {}})); return err },
				func() error {
					_, err := service.Collect(c.RouteChat(t.Context(), service.All([]service.RouteNote{{Message: "a"}, {Message: "b"}})))
					return err
				},
			} {
				if err := call(); err != nil {
					t.Fatalf("call %d: %v", want, err)
				}
				if err := peer.Send(control.Line{Event: control.Counters}); err != nil {
					t.Fatal(err)
				}
				l, err := peer.Expect(t.Context(), control.Counters)
				if err != nil || l.Counters[control.Calls] != int64(want) {
					t.Errorf("after call %d the server says %v, %v", want, l.Counters, err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			server.in.Close()
			server.ended(t, exitOK)
		})
	}
}
