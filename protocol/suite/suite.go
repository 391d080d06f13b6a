// Package suite is the list of contestants: the one place where a protocol is added. Nothing else in bakeoff names
// one. A tuned subject is the same code as its default with other options, each named in its Doc.
package suite

import (
	"slices"

	"bakeoff/clients/grpcclient"
	"bakeoff/clients/httpclient"
	"bakeoff/clients/thriftclient"
	"bakeoff/httpapi"
	"bakeoff/internal/nearest"
	"bakeoff/proto/grpcopts"
	"bakeoff/protocol"
	"bakeoff/servers/gateway"
	"bakeoff/servers/grpcserver"
	"bakeoff/servers/httpserver"
	"bakeoff/servers/thriftserver"
	"bakeoff/thrift/stack"
)

// All are the subjects, in the order in which lists show them.
var All = []protocol.Protocol{
	grpc,
	tuned(grpc, "grpc-tuned", "gRPC with standing stream workers, vtprotobuf codec, fixed 1 MiB windows, GOGC=1600, "+
		"and 4 connections above 256 calls in flight", protocol.Tuning{GCPercent: 1600, Knobs: map[string]string{
		"stream-workers": "auto", "codec": "vtproto", "window": "1048576",
	}}, func(inFlight int) int {
		if inFlight > 256 {
			return 4 // one connection's reader and writer run in lockstep there
		}
		return 1
	}),
	grpcHTTP,
	thrift,
	tuned(thrift, "thrift-tuned", "Thrift compact over framed over buffered, server's connectivity check off, GOGC=400",
		protocol.Tuning{GCPercent: 400, Knobs: map[string]string{
			"protocol": "compact", "transport": "framed", "connectivity-check": "0",
		}}, nil),
	tuned(thrift, "thrift-http", "Thrift binary over HTTP/1.1 on net/http, each call a POST, one keep-alive connection for each call in flight",
		protocol.Tuning{Knobs: map[string]string{"transport": "http"}}, nil),
	http,
	tuned(http, "http-tuned", "HTTP/1.1 with a hand-written JSON codec for the hot messages, no needless headers, answers read when they are there, GOGC=400",
		protocol.Tuning{GCPercent: 400, Knobs: map[string]string{
			"codec": "fast", "headers": "off", "read": "when-ready",
		}}, nil),
	httpStd,
	http2,
	connect,
	grpcGateway,
}

var grpc = protocol.Protocol{
	Name:        "grpc",
	Doc:         "grpc-go as it comes: HTTP/2 with protobuf, all calls over one shared connection",
	Multiplexed: true,
	Conns:       func(int) int { return 1 },
	Knobs:       grpcserver.Knobs,
	Check:       check(grpcopts.Parse),
	Serve:       grpcserver.Serve,
	Dial:        grpcclient.Dial,
}

var thrift = protocol.Protocol{
	Name:  "thrift",
	Doc:   "Apache Thrift as it comes: binary over buffered sockets, one connection for each call in flight",
	Conns: onePerCall,
	Knobs: thriftserver.Knobs,
	Check: check(stack.New),
	Serve: thriftserver.Serve,
	Dial:  thriftclient.Dial,
}

var http = protocol.Protocol{
	Name:  "http",
	Doc:   "HTTP/1.1 on fasthttp with encoding/json, one keep-alive connection for each call in flight",
	Conns: onePerCall,
	Knobs: httpserver.Knobs,
	Check: check(httpapi.ReadConn),
	Kept:  httpapi.Kept,
	Serve: httpserver.Serve,
	Dial:  httpclient.Dial,
}

// Fronts are the subjects whose servers call another one's for each answer: HTTP before each protocol. They are subjects like
// others wherever one is named, and none of All, which is of protocols.
var Fronts = []protocol.Protocol{
	front(grpc, "over one shared connection"),
	front(thrift, "over one connection for each call in flight"),
	front(http, "over one keep-alive connection for each call in flight"),
}

func front(backend protocol.Protocol, connections string) protocol.Protocol {
	return gateway.Front("front-"+backend.Name, "HTTP as in http, by a front that makes each call again to a "+backend.Name+" backend, "+connections, http, backend)
}

// check makes a Protocol.Check of what reads a protocol's knobs.
func check[T any](read func(protocol.Options) (T, error)) func(protocol.Options) error {
	return func(o protocol.Options) error {
		_, err := read(o)
		return err
	}
}

func onePerCall(inFlight int) int { return inFlight }

// tuned is p under another name and other options; conns nil keeps p's number of connections.
func tuned(p protocol.Protocol, name, doc string, t protocol.Tuning, conns func(int) int) protocol.Protocol {
	p.Name, p.Doc, p.Tuning = name, doc, t
	if conns != nil {
		p.Conns = conns
	}
	return p
}

// Find returns the subject of that name; the error of an unknown one has the names that there are, and the nearest.
func Find(name string) (protocol.Protocol, error) {
	for _, list := range [...][]protocol.Protocol{All, Fronts, PHP} {
		if i := slices.IndexFunc(list, func(p protocol.Protocol) bool { return p.Name == name }); i >= 0 {
			return list[i], nil
		}
	}
	return protocol.Protocol{}, nearest.Unknown("subject", name, Names())
}

// Names are the names of all subjects, in order.
func Names() []string {
	var names []string
	for _, list := range [...][]protocol.Protocol{All, Fronts, PHP} {
		for _, p := range list {
			names = append(names, p.Name)
		}
	}
	return names
}
