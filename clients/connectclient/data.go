package connectclient

import (
	"context"

	"bakeoff/proto/convert"
	"bakeoff/service"
)

// unary makes one call of one message each way.
func unary[Q, P any](ctx context.Context, c *client, do func(context.Context, *Q) (*P, error), rq *Q) (*P, error) {
	k, bound, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer k.Drop()
	rp, err := do(bound, rq)
	if err != nil {
		return nil, k.fail(err)
	}
	k.End(true)
	return rp, nil
}

func (c *client) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	rp, err := unary(ctx, c, c.data.Login, convert.WireLogin(r))
	if err != nil {
		return service.Session{}, err
	}
	return convert.Session(rp), nil
}

func (c *client) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	rp, err := unary(ctx, c, c.data.DataType, convert.WireDataTypeRequest(r))
	if err != nil {
		return service.DataType{}, err
	}
	return convert.DataType(rp), nil
}

func (c *client) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	rp, err := unary(ctx, c, c.data.Echo, convert.WirePayload(p))
	if err != nil {
		return service.Payload{}, err
	}
	return convert.Payload(rp)
}

func (c *client) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	rp, err := unary(ctx, c, c.route.GetFeature, convert.WirePoint(p))
	if err != nil {
		return service.Feature{}, err
	}
	return convert.Feature(rp), nil
}
