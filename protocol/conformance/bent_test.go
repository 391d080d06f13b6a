package conformance

import (
	"context"
	"iter"

	"bakeoff/protocol"
	"bakeoff/service"
)

// bent is a client with some of its methods replaced.
type bent struct {
	protocol.Client
	login  func(ctx context.Context, r service.LoginRequest) (service.Session, error)
	data   func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error)
	get    func(ctx context.Context, p service.Point) (service.Feature, error)
	list   func(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error]
	record func(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error)
	chat   func(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error]
	close  func() error
}

func (b bent) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	if b.login == nil {
		return b.Client.Login(ctx, r)
	}
	return b.login(ctx, r)
}

func (b bent) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	if b.data == nil {
		return b.Client.DataType(ctx, r)
	}
	return b.data(ctx, r)
}

func (b bent) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	if b.get == nil {
		return b.Client.GetFeature(ctx, p)
	}
	return b.get(ctx, p)
}

func (b bent) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	if b.list == nil {
		return b.Client.ListFeatures(ctx, r)
	}
	return b.list(ctx, r)
}

func (b bent) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	if b.record == nil {
		return b.Client.RecordRoute(ctx, points)
	}
	return b.record(ctx, points)
}

func (b bent) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	if b.chat == nil {
		return b.Client.RouteChat(ctx, notes)
	}
	return b.chat(ctx, notes)
}

func (b bent) Close() error {
	if b.close == nil {
		return b.Client.Close()
	}
	return b.close()
}

// dial is the Dial of a protocol.
type dial = func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error)

// client makes a fault of the client that it bends.
func client(bend func(c protocol.Client) bent) func(dial) dial {
	return func(good dial) dial {
		return func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
			c, err := good(ctx, addr, o)
			if err != nil {
				return nil, err
			}
			return bend(c), nil
		}
	}
}

// answers makes a fault that changes the answers of DataType.
func answers(change func(d service.DataType, err error) (service.DataType, error)) func(dial) dial {
	return client(func(c protocol.Client) bent {
		return bent{Client: c, data: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
			d, err := c.DataType(ctx, r)
			return change(d, err)
		}}
	})
}

// requests makes a fault that changes the requests of DataType, or their context.
func requests(change func(ctx context.Context, r service.DataTypeRequest) (context.Context, service.DataTypeRequest)) func(dial) dial {
	return client(func(c protocol.Client) bent {
		return bent{Client: c, data: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
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
	return client(func(c protocol.Client) bent {
		return bent{Client: c, list: func(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
			return change(ctx, c.ListFeatures(ctx, r))
		}}
	})
}
