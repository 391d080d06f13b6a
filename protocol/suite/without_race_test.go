//go:build !race

package suite

import (
	"context"
	"testing"

	"bakeoff/clients/connectclient"
	"bakeoff/clients/grpcclient"
	"bakeoff/proto/grpcopts"
	"bakeoff/protocol"
	"bakeoff/protocol/conformance/conformancetest"
	"bakeoff/servers/grpcserver"
)

// What stands here is held to all vectors once more, under other options or at another's end. The race detector has seen the code of
// each in TestConformance, and makes some of these five times as long as a vector may be; make test runs them without it, by the end of their names.

// TestConformanceCompressedWithoutRace holds those that compress to the same vectors.
func TestConformanceCompressedWithoutRace(t *testing.T) {
	for _, p := range zips(t) {
		t.Run(p.Name, func(t *testing.T) { conformancetest.Test(t, p, dateClock) })
	}
}

// TestConnectWiresWithoutRace holds the wires of Connect that no subject of the list uses to the same vectors; gRPC's is held to them
// below.
func TestConnectWiresWithoutRace(t *testing.T) {
	for _, knobs := range []map[string]string{
		{"codec": "json"},
		{"wire": "grpc-web", "compression": "gzip"},
	} {
		p := tuned(connect, "connect", connect.Doc, protocol.Tuning{Knobs: knobs}, nil)
		name := ""
		for _, k := range []string{"wire", "codec", "compression"} {
			name += "," + knobs[k]
		}
		t.Run(name[1:], func(t *testing.T) { conformancetest.Test(t, p, dateClock) })
	}
}

// TestConnectCallsGRPCWithoutRace holds Connect's client to the vectors at grpc-go's server.
func TestConnectCallsGRPCWithoutRace(t *testing.T) {
	p := tuned(connect, "connect", connect.Doc, protocol.Tuning{}, nil)
	p.Serve = grpcserver.Serve
	p.Dial = func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
		if o.Knobs == nil {
			o.Knobs = map[string]string{"wire": "grpc"}
		}
		return connectclient.Dial(ctx, addr, o)
	}
	conformancetest.Test(t, p, dateClock)
}

// TestGRPCCallsConnectWithoutRace holds grpc-go's client to the vectors at Connect's server. Under the race detector a stream of 10,000
// takes the two libraries longer than a vector may, 4 ms a message where it is 0.07 ms without; why is not known.
func TestGRPCCallsConnectWithoutRace(t *testing.T) {
	p := connect
	p.Check, p.Knobs, p.Dial = check(grpcopts.Parse), nil, grpcclient.Dial
	conformancetest.Test(t, p, dateClock)
}

// TestOneAPIWithoutRace has the client of each HTTP/1.1 subject call the other's server: what they speak is one API.
func TestOneAPIWithoutRace(t *testing.T) {
	std, fast := httpStd, http
	std.Dial, fast.Dial = http.Dial, httpStd.Dial
	std.Name, fast.Name = "client of http, server of http-std", "client of http-std, server of http"
	for _, p := range []protocol.Protocol{std, fast} {
		t.Run(p.Name, func(t *testing.T) { conformancetest.Test(t, p, dateClock) })
	}
}

// TestNetHTTPTunedWithoutRace holds both versions to the same under other options.
func TestNetHTTPTunedWithoutRace(t *testing.T) {
	for _, p := range []protocol.Protocol{httpStd, http2} {
		p.Tuning.Knobs = map[string]string{"codec": "fast", "headers": "off"}
		p.Conns = onePerCall
		t.Run(p.Name, func(t *testing.T) { conformancetest.Test(t, p, dateClock) })
	}
}
