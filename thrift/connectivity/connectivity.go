// Package connectivity carries the interval of Thrift's server-side connectivity check to the generated code.
//
// For each request the generated code starts a goroutine that looks every few milliseconds whether the client is
// still there, and cancels the handler's context when it is not. The library keeps the interval in a variable
// (thrift.ServerConnectivityCheckInterval), one for the process, which those goroutines read without a lock, some
// of them after their server has stopped: it can't be set per server, nor set at all once a request was served.
// generate.sh therefore has the generated code ask Interval of its context.
package connectivity

import (
	"context"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
)

type key struct{}

// With sets the interval for all requests that are processed under the returned context; 0 turns the check off.
func With(ctx context.Context, interval time.Duration) context.Context {
	return context.WithValue(ctx, key{}, interval)
}

// Interval is the one set by With, or else the library's own.
func Interval(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(key{}).(time.Duration); ok {
		return d
	}
	return thrift.ServerConnectivityCheckInterval
}
