package thriftserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/gzipped"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
	"bakeoff/thrift/connectivity"
	"bakeoff/thrift/stack"

	"github.com/apache/thrift/lib/go/thrift"
)

// serveHTTP serves the library's handler of HTTP at stack.Path. The handlers' contexts are those of their requests, which
// net/http ends when the client goes.
func serveHTTP(ctx context.Context, l net.Listener, api service.API, s *stack.Stack, o protocol.Options, drain time.Duration) error {
	process := thrift.NewThriftHandlerFunc(requests{methodsOf(handler{api: api, stack: s}), s.Check}, s.Protocols(), s.Protocols())
	most := int64(s.MaxMessage())
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+stack.Path, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > most {
			http.Error(w, fmt.Sprintf("the request of %d bytes is over the limit of %d", r.ContentLength, most), http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, most)
		switch encoding := r.Header.Get("Content-Encoding"); encoding {
		case "":
		case gzipped.Encoding:
			body, err := gzipped.Expand(nil, r.Body, int(most))
			if errors.Is(err, gzipped.ErrTooLarge) {
				http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
				return
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		default:
			http.Error(w, fmt.Sprintf("the request's Content-Encoding is %.40q: send gzip, or none", encoding), http.StatusUnsupportedMediaType)
			return
		}
		process(w, r)
	})
	server := nethttp.Server{Version: nethttp.HTTP1, Handler: mux, Drain: drain}
	if err := server.Serve(ctx, l, o); err != nil {
		return fmt.Errorf("thrift: %w", err)
	}
	return nil
}

// requests carries out calls, each of which is a request of HTTP with its context.
type requests struct {
	methods
	check time.Duration
}

// Process reads one call and answers it. What is no call is not answered, which leaves the answer of HTTP empty.
func (r requests) Process(ctx context.Context, in, out thrift.TProtocol) (bool, thrift.TException) {
	if connectivity.Interval(ctx) != r.check {
		ctx = connectivity.With(ctx, r.check)
	}
	name, kind, seq, err := in.ReadMessageBegin(ctx)
	if err != nil {
		return false, nil
	}
	return r.process(ctx, name, kind, seq, in, out), nil
}
