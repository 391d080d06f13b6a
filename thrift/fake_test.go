package thrift_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"bakeoff/service"
)

// fake is an API whose answers tell what was asked. Names of data types steer it: "code N" fails with code N,
// "block" waits for its context or release, "size N" answers with N bytes.
type fake struct {
	started chan struct{} // one element for each "block" that began
	release chan struct{} // closed to let every "block" answer
	ended   chan error    // what the context of a "block" said at its end
}

func newFake() *fake {
	return &fake{started: make(chan struct{}, 1000), release: make(chan struct{}), ended: make(chan error, 1000)}
}

var expiry = time.UnixMilli(1_700_000_000_123).UTC()

func (f *fake) Login(_ context.Context, r service.LoginRequest) (service.Session, error) {
	if r.Secret != "right" {
		return service.Session{}, service.Errorf(service.Unauthenticated, "wrong secret of %s", r.ClientID)
	}
	return service.Session{Token: "token of " + r.ClientID, Expires: expiry}, nil
}

func (f *fake) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	var n int
	switch {
	case r.Name == "block":
		f.started <- struct{}{}
		var err error
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-f.release:
		}
		f.ended <- err
		return service.DataType{CnName: "released"}, err
	case scan(r.Name, "code %d", &n):
		return service.DataType{}, service.Errorf(service.Code(n), "failure %d", n)
	case scan(r.Name, "size %d", &n):
		return service.DataType{CnName: strings.Repeat("x", n)}, nil
	case r.Name == "max":
		return service.DataType{CodeID: math.MaxInt64}, nil
	case r.Name == "min":
		return service.DataType{CodeID: math.MinInt64}, nil
	}
	return service.DataType{Token: r.Auth.ClientID + "/" + r.Auth.Token, CodeID: int64(len(r.Name)), CnName: r.Group + "|" + r.Name}, nil
}

func (f *fake) Echo(_ context.Context, p service.Payload) (service.Payload, error) { return p, nil }

func scan(s, format string, n *int) bool {
	_, err := fmt.Sscanf(s, format, n)
	return err == nil
}

func (f *fake) GetFeature(_ context.Context, p service.Point) (service.Feature, error) {
	if p.Latitude < 0 {
		return service.Feature{}, service.Errorf(service.NotFound, "nothing in the south")
	}
	return service.Feature{Name: fmt.Sprint("at ", p.Latitude), Location: p}, nil
}

// ListFeatures answers with as many features as Lo.Latitude says, then fails if Hi is in the south.
func (f *fake) ListFeatures(_ context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	return func(yield func(service.Feature, error) bool) {
		for i := range r.Lo.Latitude {
			if !yield(service.Feature{Name: fmt.Sprint("feature ", i), Location: service.Point{Latitude: i, Longitude: -i}}, nil) {
				return
			}
		}
		if r.Hi.Latitude < 0 {
			yield(service.Feature{}, service.Errorf(service.Unavailable, "the south is closed"))
		}
	}
}

func (f *fake) RecordRoute(_ context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	var s service.RouteSummary
	for p, err := range points {
		if err != nil {
			return s, err
		}
		s.PointCount++
		s.Distance += p.Latitude
	}
	return s, nil
}

// RouteChat answers each note with itself.
func (f *fake) RouteChat(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return notes
}
