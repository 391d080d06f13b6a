package main

import (
	"context"
	"net"
	"net/http"

	"bakeoff/proto/inf"
	"bakeoff/proto/inf/infconnect"
	"bakeoff/protocol"
	"bakeoff/servers/connectserver"
)

type constantConnect struct {
	infconnect.UnimplementedDataHandler
}

func (constantConnect) DataType(context.Context, *inf.DataTypeRq) (*inf.DataTypeRp, error) {
	return grpcAnswer, nil
}

func bareConnect(ctx context.Context, l net.Listener, o protocol.Options) error {
	opts, err := connectserver.LibraryOptions(o)
	if err != nil {
		return err
	}
	_, handler := infconnect.NewDataHandler(constantConnect{}, opts...)
	return netHTTP(ctx, l, o, handler, (*http.Protocols).SetUnencryptedHTTP2)
}
