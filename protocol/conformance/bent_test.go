package conformance

import (
	"context"
	"io"
	"iter"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// bent is a client with some of its methods replaced.
type bent struct {
	servicetest.API
	io.Closer
}

// dial is the Dial of a protocol.
type dial = func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error)

// client makes a fault of a client in which bend replaces some methods.
func client(bend func(c protocol.Client) servicetest.API) func(dial) dial {
	return func(good dial) dial {
		return func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
			c, err := good(ctx, addr, o)
			if err != nil {
				return nil, err
			}
			api := bend(c)
			api.Base = c
			return bent{api, c}, nil
		}
	}
}

// answers makes a fault that changes the answers of DataType.
func answers(change func(d service.DataType, err error) (service.DataType, error)) func(dial) dial {
	return client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
			d, err := c.DataType(ctx, r)
			return change(d, err)
		}}
	})
}

// requests makes a fault that changes the requests of DataType, or their context.
func requests(change func(ctx context.Context, r service.DataTypeRequest) (context.Context, service.DataTypeRequest)) func(dial) dial {
	return client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
			return c.DataType(change(ctx, r))
		}}
	})
}

// options makes a fault of a client that takes its options to be others.
func options(change func(o *protocol.Options)) func(dial) dial {
	return func(good dial) dial {
		return func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
			change(&o)
			return good(ctx, addr, o)
		}
	}
}

// lists makes a fault that changes what ListFeatures brings.
func lists(change func(ctx context.Context, seq iter.Seq2[service.Feature, error]) iter.Seq2[service.Feature, error]) func(dial) dial {
	return client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnListFeatures: func(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
			return change(ctx, c.ListFeatures(ctx, r))
		}}
	})
}

// closing makes a fault of a client that closes otherwise.
func closing(otherwise func(c protocol.Client) error) func(dial) dial {
	return func(good dial) dial {
		return func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
			c, err := good(ctx, addr, o)
			if err != nil {
				return nil, err
			}
			return bent{servicetest.API{Base: c}, closer(func() error { return otherwise(c) })}, nil
		}
	}
}

type closer func() error

func (f closer) Close() error { return f() }
