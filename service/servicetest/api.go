// Package servicetest has the API that tests of servers, clients and kits are made of: one that answers with what it
// was asked, and any of whose answers a test gives itself. It knows no transport.
package servicetest

import (
	"context"
	"iter"
	"time"

	"bakeoff/service"
)

// API answers by the functions that are set, and for the rest by Base; without a Base the answers tell what was
// asked, as the methods say. The zero value is of use. It may be called concurrently if its functions may be.
type API struct {
	Base service.API

	OnLogin        func(context.Context, service.LoginRequest) (service.Session, error)
	OnDataType     func(context.Context, service.DataTypeRequest) (service.DataType, error)
	OnEcho         func(context.Context, service.Payload) (service.Payload, error)
	OnGetFeature   func(context.Context, service.Point) (service.Feature, error)
	OnListFeatures func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error]
	OnRecordRoute  func(context.Context, iter.Seq2[service.Point, error]) (service.RouteSummary, error)
	OnRouteChat    func(context.Context, iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error]
}

var _ service.API = API{}

// Expires is the end of every session that Login answers with.
var Expires = time.UnixMilli(1_900_000_000_123).UTC()

// Login answers with a token of client id and secret: "id/secret".
func (a API) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	switch {
	case a.OnLogin != nil:
		return a.OnLogin(ctx, r)
	case a.Base != nil:
		return a.Base.Login(ctx, r)
	}
	return service.Session{Token: r.ClientID + "/" + r.Secret, Expires: Expires}, nil
}

// DataType answers with the token, the bytes of the group's name, and both names: "group|name".
func (a API) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	switch {
	case a.OnDataType != nil:
		return a.OnDataType(ctx, r)
	case a.Base != nil:
		return a.Base.DataType(ctx, r)
	}
	return service.DataType{Token: r.Auth.Token, CodeID: int64(len(r.Group)), CnName: r.Group + "|" + r.Name}, nil
}

// Echo answers with what it was given.
func (a API) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	switch {
	case a.OnEcho != nil:
		return a.OnEcho(ctx, p)
	case a.Base != nil:
		return a.Base.Echo(ctx, p)
	}
	return p, nil
}

// GetFeature answers with a feature at any place.
func (a API) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	switch {
	case a.OnGetFeature != nil:
		return a.OnGetFeature(ctx, p)
	case a.Base != nil:
		return a.Base.GetFeature(ctx, p)
	}
	return service.Feature{Name: "地點", Location: p}, nil
}

// ListFeatures answers with the corners, "lo" and "hi".
func (a API) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	switch {
	case a.OnListFeatures != nil:
		return a.OnListFeatures(ctx, r)
	case a.Base != nil:
		return a.Base.ListFeatures(ctx, r)
	}
	return service.All([]service.Feature{{Name: "lo", Location: r.Lo}, {Name: "hi", Location: r.Hi}})
}

// RecordRoute counts the points.
func (a API) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	switch {
	case a.OnRecordRoute != nil:
		return a.OnRecordRoute(ctx, points)
	case a.Base != nil:
		return a.Base.RecordRoute(ctx, points)
	}
	var s service.RouteSummary
	for _, err := range points {
		if err != nil {
			return service.RouteSummary{}, err
		}
		s.PointCount++
	}
	return s, nil
}

// RouteChat answers each note with itself.
func (a API) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	switch {
	case a.OnRouteChat != nil:
		return a.OnRouteChat(ctx, notes)
	case a.Base != nil:
		return a.Base.RouteChat(ctx, notes)
	}
	return notes
}
