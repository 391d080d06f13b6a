package suite

import (
	"context"
	"fmt"

	"bakeoff/clients/grpcclient"
	"bakeoff/clients/nethttpclient"
	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/servers/grpcserver"
	"bakeoff/servers/nethttpserver"
)

var httpStd = protocol.Protocol{
	Name:  "http-std",
	Doc:   "HTTP/1.1 on net/http with encoding/json, the same API as http, one keep-alive connection for each call in flight",
	Conns: onePerCall,
	Knobs: httpapi.Knobs,
	Check: check(httpapi.Read),
	Serve: nethttpserver.Serve1,
	Dial:  nethttpclient.Dial1,
}

var http2 = protocol.Protocol{
	Name:        "http2",
	Doc:         "HTTP/2 on net/http with encoding/json, without TLS by prior knowledge (h2c), all calls over one shared connection",
	Multiplexed: true,
	Conns:       func(int) int { return 1 },
	Knobs:       httpapi.Knobs,
	Check:       check(httpapi.Read),
	Serve:       nethttpserver.Serve2,
	Dial:        nethttpclient.Dial2,
}

var grpcHTTP = protocol.Protocol{
	Name:        "grpc-http",
	Doc:         "grpc-go's handlers on net/http's HTTP/2 server (ServeHTTP) in place of its own, called by grpc's client over one shared connection",
	Multiplexed: true,
	Conns:       grpc.Conns,
	Knobs:       grpcserver.KnobsOverHTTP,
	Check:       check(grpcserver.CheckOverHTTP),
	Serve:       grpcserver.ServeOverHTTP,
	Dial: func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
		if _, err := grpcserver.CheckOverHTTP(o); err != nil { // the client by itself would take more
			return nil, fmt.Errorf("grpc: %w", err)
		}
		return grpcclient.Dial(ctx, addr, o)
	},
}
