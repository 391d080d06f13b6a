package grpcclient_test

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"

	"bakeoff/proto/inf"
	"bakeoff/protocol"
	"bakeoff/service"
)

// constant answers each DataType with the same value: what is left is what the calls cost.
type constant struct{ inf.UnimplementedDataServer }

func (constant) DataType(context.Context, *inf.DataTypeRq) (*inf.DataTypeRp, error) {
	return &inf.DataTypeRp{AuthRp: &inf.AuthRp{Token: "token"}, CodeId: 101, CnName: "語音接通"}, nil
}

func startConstant(b *testing.B) (addr string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := grpc.NewServer()
	inf.RegisterDataServer(s, constant{})
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	b.Cleanup(func() {
		s.Stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return l.Addr().String()
}

// BenchmarkDataType has both ends in one process. The ways that a call's time can be bounded are set side by side.
func BenchmarkDataType(b *testing.B) {
	rq := service.DataTypeRequest{Auth: service.Auth{ClientID: "bench", Token: "token"}, Group: "USER_EVENT", Name: "app_call_connect_success"}
	for _, row := range []struct {
		name    string
		timeout time.Duration
		knobs   map[string]string
		bound   func(context.Context) (context.Context, context.CancelFunc)
	}{
		{"unbounded", 0, nil, nil},
		{"timeout of the client", 10 * time.Second, nil, nil},
		{"context.WithTimeout", 0, nil, func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 10*time.Second)
		}},
		{"vtproto", 0, map[string]string{"codec": "vtproto", "window": "1048576"}, nil},
	} {
		b.Run(row.name, func(b *testing.B) {
			c := dial(b, startConstant(b), protocol.Options{InFlight: 50, Timeout: row.timeout, Knobs: row.knobs})
			b.ReportAllocs()
			b.SetParallelism(25)
			b.RunParallel(func(pb *testing.PB) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				for pb.Next() {
					call, done := ctx, context.CancelFunc(func() {})
					if row.bound != nil {
						call, done = row.bound(ctx)
					}
					if a, err := c.DataType(call, rq); err != nil || a.CodeID != 101 {
						b.Error(a, err)
						return
					}
					done()
				}
			})
		})
	}
}
