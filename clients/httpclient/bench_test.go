package httpclient_test

import (
	"context"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// BenchmarkDataType has both ends in one process. The ways that a call's time can be bounded are set side by side.
func BenchmarkDataType(b *testing.B) {
	rq := service.DataTypeRequest{Auth: service.Auth{ClientID: "bench", Token: "token"}, Group: "USER_EVENT", Name: "app_call_connect_success"}
	constant := servicetest.API{OnDataType: func(context.Context, service.DataTypeRequest) (service.DataType, error) {
		return service.DataType{Token: "token", CodeID: 101, CnName: "語音接通"}, nil
	}}
	withTimeout := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, 10*time.Second)
	}
	for _, row := range []struct {
		name    string
		timeout time.Duration
		knobs   map[string]string
		bound   func(context.Context) (context.Context, context.CancelFunc)
	}{
		{"unbounded", 0, nil, nil},
		{"timeout of the client", 10 * time.Second, nil, nil},
		{"context.WithTimeout", 0, nil, withTimeout},
		{"tuned", 10 * time.Second, subjects["tuned"], nil},
	} {
		b.Run(row.name, func(b *testing.B) {
			o := protocol.Options{Conns: 1, Timeout: row.timeout, Knobs: row.knobs}
			c := dial(b, serve(b, constant, o), o)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				call, done := ctx, context.CancelFunc(func() {})
				if row.bound != nil {
					call, done = row.bound(ctx)
				}
				if a, err := c.DataType(call, rq); err != nil || a.CodeID != 101 {
					b.Fatal(a, err)
				}
				done()
			}
		})
	}
}
