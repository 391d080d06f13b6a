package grpcclient

import (
	"context"

	"bakeoff/proto/convert"
	"bakeoff/service"
)

func (c *client) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	call, release := c.bound(ctx)
	defer release()
	n := c.conn()
	rp, err := n.data.Login(call, convert.WireLogin(r))
	if err != nil {
		return service.Session{}, c.fail(ctx, call, n, err)
	}
	return convert.Session(rp), nil
}

func (c *client) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	call, release := c.bound(ctx)
	defer release()
	n := c.conn()
	rp, err := n.data.DataType(call, convert.WireDataTypeRequest(r))
	if err != nil {
		return service.DataType{}, c.fail(ctx, call, n, err)
	}
	return convert.DataType(rp), nil
}

func (c *client) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	call, release := c.bound(ctx)
	defer release()
	n := c.conn()
	rp, err := n.data.Echo(call, convert.WirePayload(p))
	if err != nil {
		return service.Payload{}, c.fail(ctx, call, n, err)
	}
	return service.Payload{Text: rp.GetText(), Data: rp.GetData()}, nil
}
