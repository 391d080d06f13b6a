package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"bakeoff/protocol"
)

// bare is a server that decodes a DataType request and encodes a constant answer, as a user of the library writes it
// who has nothing else to do. It takes the options that our server takes (limits, idle time, knobs) and none of our
// code beyond those. It serves until ctx ends.
type bare func(ctx context.Context, l net.Listener, o protocol.Options) error

// bares has the bare server of each subject.
var bares = map[string]bare{
	"grpc": bareGRPC, "grpc-tuned": bareGRPC,
	"thrift": bareThrift, "thrift-tuned": bareThrift, "thrift-http": bareThriftHTTP,
	"http": bareHTTP, "http-tuned": bareHTTP,
	"http-std": bareHTTP1, "http2": bareHTTP2, "grpc-http": bareGRPCHTTP,
	"connect":      bareConnect,
	"grpc-gateway": bareGateway,
}

func serveBare(ctx context.Context, l net.Listener, p protocol.Protocol, o protocol.Options) error {
	serve := bares[p.Name]
	if serve == nil {
		return errors.Join(fmt.Errorf("there is no bare server for %s: add one to bares", p.Name), l.Close())
	}
	return serve(ctx, l, o)
}

// until serves, and has stop end it when ctx ends.
func until(ctx context.Context, serve func() error, stop func()) error {
	served := make(chan error, 1)
	go func() { served <- serve() }()
	select {
	case err := <-served:
		return fmt.Errorf("the bare server ended: %w", errors.Join(err, ctx.Err()))
	case <-ctx.Done():
		stop()
		<-served
		return nil
	}
}
