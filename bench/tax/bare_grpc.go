package main

import (
	"context"
	"net"

	"google.golang.org/grpc"

	"bakeoff/proto/inf"
	"bakeoff/protocol"
	"bakeoff/servers/grpcserver"
)

type constantGRPC struct{ inf.UnimplementedDataServer }

// grpcAnswer is one for all calls: encoding only reads it.
var grpcAnswer = &inf.DataTypeRp{AuthRp: &inf.AuthRp{}, CodeId: answer.CodeID, CnName: answer.CnName}

func (constantGRPC) DataType(context.Context, *inf.DataTypeRq) (*inf.DataTypeRp, error) {
	return grpcAnswer, nil
}

func bareGRPC(ctx context.Context, l net.Listener, o protocol.Options) error {
	opts, err := grpcserver.LibraryOptions(o)
	if err != nil {
		return err
	}
	server := grpc.NewServer(opts...)
	inf.RegisterDataServer(server, constantGRPC{})
	return until(ctx, func() error { return server.Serve(l) }, server.Stop)
}
