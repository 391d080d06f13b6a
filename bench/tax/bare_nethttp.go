package main

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"

	"google.golang.org/grpc"

	"bakeoff/httpapi"
	"bakeoff/proto/inf"
	"bakeoff/protocol"
	"bakeoff/servers/grpcserver"
)

// constantHTTP takes every request for a DataType call, whatever its path.
func constantHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		body, err = constantStd(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", httpapi.TypeJSON)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that is gone is net/http's to notice
}

func bareHTTP1(ctx context.Context, l net.Listener, o protocol.Options) error {
	return netHTTP(ctx, l, o, http.HandlerFunc(constantHTTP), (*http.Protocols).SetHTTP1)
}

func bareHTTP2(ctx context.Context, l net.Listener, o protocol.Options) error {
	return netHTTP(ctx, l, o, http.HandlerFunc(constantHTTP), (*http.Protocols).SetUnencryptedHTTP2)
}

func bareGRPCHTTP(ctx context.Context, l net.Listener, o protocol.Options) error {
	opts, err := grpcserver.LibraryOptions(o)
	if err != nil {
		return err
	}
	server := grpc.NewServer(opts...)
	defer server.Stop()
	inf.RegisterDataServer(server, constantGRPC{})
	return netHTTP(ctx, l, o, server, (*http.Protocols).SetUnencryptedHTTP2)
}

// netHTTP serves one version of HTTP by net/http.
func netHTTP(ctx context.Context, l net.Listener, o protocol.Options, h http.Handler, version func(*http.Protocols, bool)) error {
	idle := o.Defaulted().ServerIdle
	server := &http.Server{
		Handler: h, Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: math.MaxInt32},
		ReadTimeout: idle, IdleTimeout: idle,
	}
	version(server.Protocols, true)
	return until(ctx, func() error { return server.Serve(l) }, func() { _ = server.Close() })
}
