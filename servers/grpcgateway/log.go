package grpcgateway

import (
	"io"
	"os"

	"google.golang.org/grpc/grpclog"
)

// The library writes a line to stderr for each client that hangs up in the middle of a stream, or sends what can't be read.
// Those are no events here: what counts reaches the client. gRPC's own lines come by Errorln and stay, and whoever sets
// gRPC's variable for it gets all. A logger can be set only before anything is logged.
func init() {
	if os.Getenv("GRPC_GO_LOG_SEVERITY_LEVEL") == "" {
		grpclog.SetLoggerV2(quiet{grpclog.NewLoggerV2(io.Discard, io.Discard, os.Stderr)}) // gRPC's own, where nobody sets one
	}
}

type quiet struct{ grpclog.LoggerV2 }

func (quiet) Error(...any)          {}
func (quiet) Errorf(string, ...any) {}
