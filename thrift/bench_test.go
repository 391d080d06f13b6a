package thrift_test

import (
	"context"
	"net"
	"testing"

	"bakeoff/clients/thriftclient"
	"bakeoff/protocol"
	"bakeoff/servers/thriftserver"
	"bakeoff/service"
	"bakeoff/thrift/gen/inf"

	"github.com/apache/thrift/lib/go/thrift"
)

// constant answers DataType with always the same, as a service and as a handler of the library.
type constant struct{ *fake }

func (constant) DataType(context.Context, service.DataTypeRequest) (service.DataType, error) {
	return service.DataType{Token: "token", CodeID: 101, CnName: "語音接通"}, nil
}

type constantHandler struct{ inf.Data }

var answer = &inf.DataTypeRp{Authrp: &inf.AuthRp{Token: "token"}, CodeId: 101, CnName: "語音接通"}

func (constantHandler) DataType(context.Context, *inf.DataTypeRq) (*inf.DataTypeRp, error) {
	return answer, nil
}

// BenchmarkDataType makes one call after another: with our client and the library's bare one, to our server and
// to the library's bare one, all over binary and buffered. The differences are what our code costs.
func BenchmarkDataType(b *testing.B) {
	conf := &thrift.TConfiguration{}
	transports, protocols := thrift.NewTBufferedTransportFactory(8192), thrift.NewTBinaryProtocolFactoryConf(conf)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() { served <- thriftserver.Serve(ctx, l, constant{}, protocol.Options{}) }()
	defer func() { cancel(); <-served }()

	socket, err := thrift.NewTServerSocket("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	if err := socket.Listen(); err != nil {
		b.Fatal(err)
	}
	bare := thrift.NewTSimpleServer4(inf.NewDataProcessor(constantHandler{}), socket, transports, protocols)
	go bare.AcceptLoop()
	defer bare.Stop()

	for _, server := range []struct{ name, addr string }{{"our server", l.Addr().String()}, {"bare server", socket.Addr().String()}} {
		b.Run("our client, "+server.name, func(b *testing.B) {
			c, err := thriftclient.Dial(b.Context(), server.addr, protocol.Options{Timeout: protocol.DefaultTimeout})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			r := service.DataTypeRequest{Group: "USER_EVENT", Name: "app_call_connect_success"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.DataType(ctx, r); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("bare client, "+server.name, func(b *testing.B) {
			s := thrift.NewTSocketConf(server.addr, conf)
			if err := s.Open(); err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			t, err := transports.GetTransport(s)
			if err != nil {
				b.Fatal(err)
			}
			c := inf.NewDataClientFactory(t, protocols)
			b.ReportAllocs()
			for b.Loop() {
				r := &inf.DataTypeRq{Authrq: &inf.AuthRq{}, GroupName: "USER_EVENT", EnName: "app_call_connect_success"}
				if _, err := c.DataType(ctx, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
