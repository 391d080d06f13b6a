package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"bakeoff/protocol"
	"bakeoff/thrift/connectivity"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/stack"
)

// bareThriftHTTP has the library's handler alone, whatever the path. What bounds a request there is the library's limit of a message.
func bareThriftHTTP(ctx context.Context, l net.Listener, o protocol.Options) error {
	s, err := stack.New(o)
	if err != nil {
		return err
	}
	processor := checkingEach{inf.NewDataProcessor(constantThrift{}), s.Check}
	return netHTTP(ctx, l, o, http.HandlerFunc(thrift.NewThriftHandlerFunc(processor, s.Protocols(), s.Protocols())), (*http.Protocols).SetHTTP1)
}

// checkingEach is checking where each request brings a context of its own.
type checkingEach struct {
	thrift.TProcessor
	interval time.Duration
}

func (c checkingEach) Process(ctx context.Context, in, out thrift.TProtocol) (bool, thrift.TException) {
	if connectivity.Interval(ctx) != c.interval {
		ctx = connectivity.With(ctx, c.interval)
	}
	return c.TProcessor.Process(ctx, in, out)
}
