package suite

import (
	"bakeoff/clients/connectclient"
	"bakeoff/proto/connectopts"
	"bakeoff/protocol"
	"bakeoff/servers/connectserver"
)

var connect = protocol.Protocol{
	Name: "connect",
	Doc: "connect-go on net/http as it comes, but for its gzip: Connect's own wire over HTTP/2 with protobuf, all calls over " +
		"one shared connection; the same handler answers gRPC, gRPC-Web and JSON",
	Multiplexed: true,
	Conns:       func(int) int { return 1 },
	Knobs:       connectserver.Knobs,
	Check:       check(connectopts.Parse),
	Serve:       connectserver.Serve,
	Dial:        connectclient.Dial,
}
