package suite

import (
	"bakeoff/clients/grpcgatewayclient"
	"bakeoff/protocol"
	"bakeoff/servers/grpcgateway"
)

var grpcGateway = protocol.Protocol{
	Name: "grpc-gateway",
	Doc: "JSON over net/http's HTTP/2, translated by grpc-gateway's generated code into calls to grpc-go in the same process, " +
		"over a connection in memory; all calls over one shared connection",
	Multiplexed: true,
	Conns:       func(int) int { return 1 },
	Knobs:       grpcgateway.Knobs,
	Check:       check(grpcgateway.Check),
	Serve:       grpcgateway.Serve,
	Dial:        grpcgatewayclient.Dial,
}
