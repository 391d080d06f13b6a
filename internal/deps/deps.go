// Package deps holds the module versions while the house is being built.
package deps

import (
	_ "github.com/HdrHistogram/hdrhistogram-go"
	_ "github.com/aerospike/aerospike-client-go/v7"
	_ "github.com/agnivade/levenshtein"
	_ "github.com/apache/thrift/lib/go/thrift"
	_ "github.com/fasthttp/websocket"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/jedib0t/go-pretty/v6/table"
	_ "github.com/planetscale/vtprotobuf/protohelpers"
	_ "github.com/prometheus/procfs"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/cobra"
	_ "github.com/valyala/fasthttp"
	_ "github.com/valyala/fasthttp/fasthttputil"
	_ "go.uber.org/goleak"
	_ "golang.org/x/perf/benchfmt"
	_ "golang.org/x/perf/benchmath"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "google.golang.org/genproto/googleapis/rpc/errdetails"
	_ "google.golang.org/grpc"
	_ "google.golang.org/grpc/health"
	_ "google.golang.org/grpc/reflection"
	_ "google.golang.org/protobuf/proto"
)
