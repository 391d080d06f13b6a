// Package service is what the contestants serve: the rules of Data and RouteGuide, once, without any
// transport. It knows nothing of wires, flags, printing or of how it is measured; every protocol's server
// calls this API and every protocol's client implements it, so that the only thing that differs between
// two contestants is what carries the call.
package service

import (
	"context"
	"iter"
	"time"
)

// LoginRequest asks for a session: a client id and the secret that was agreed with it.
type LoginRequest struct {
	ClientID string
	Secret   string
}

// Session is what a login earns: a signed token, and when it stops being accepted (whole milliseconds UTC on
// every wire).
type Session struct {
	Token   string
	Expires time.Time
}

// Auth goes with each DataType request. Both fields are ignored where the server runs without auth.
type Auth struct {
	ClientID string
	Token    string
}

// DataTypeRequest looks one data type up by its group and its English name.
type DataTypeRequest struct {
	Auth  Auth
	Group string
	Name  string
}

// DataType is the answer: its code, its Chinese name, and the token for the next call (the same token, or a
// renewed one when the old one is past half of its life).
type DataType struct {
	Token  string
	CodeID int64
	CnName string
}

// Payload is a message of any size. Text is UTF-8, as all text is; Data may hold any bytes, and nil is the same as none.
type Payload struct {
	Text string
	Data []byte
}

// DataAPI is the half of single calls. Implementations may be called concurrently. Errors are *Error, except for a
// cancelled context, whose error satisfies errors.Is(err, context.Canceled), and for faults of the transport
// at the client (protocol.Fault).
type DataAPI interface {
	Login(ctx context.Context, r LoginRequest) (Session, error)
	DataType(ctx context.Context, r DataTypeRequest) (DataType, error)
	// Echo answers with what it was given and asks nobody: what it costs is the carrying. It needs no token. Neither side
	// changes the bytes while the call lasts; the answer's are the caller's own.
	Echo(ctx context.Context, p Payload) (Payload, error)
}

// Point is a place in units of 1e-7 degree, as in the public RouteGuide.
type Point struct{ Latitude, Longitude int32 }

// Rectangle is the area between two opposite corners, borders included, corners in either order.
type Rectangle struct{ Lo, Hi Point }

// Feature is a named place; an empty name says that nothing is known at the location.
type Feature struct {
	Name     string
	Location Point
}

// RouteNote is a message left at a place.
type RouteNote struct {
	Location Point
	Message  string
}

// RouteSummary is the answer to RecordRoute: points received, features passed, metres (each leg cut to whole
// metres), whole seconds from first to last point.
type RouteSummary struct{ PointCount, FeatureCount, Distance, ElapsedTime int32 }

// RouteAPI is the streaming half. Sequences are single use. An error in an input sequence ends the call with
// that error; an error in an output sequence is its last element. A consumer that stops early ends the call.
type RouteAPI interface {
	GetFeature(ctx context.Context, p Point) (Feature, error)
	ListFeatures(ctx context.Context, r Rectangle) iter.Seq2[Feature, error]
	RecordRoute(ctx context.Context, points iter.Seq2[Point, error]) (RouteSummary, error)
	// RouteChat keeps each note, then answers it with all notes kept at its place, the new one last.
	RouteChat(ctx context.Context, notes iter.Seq2[RouteNote, error]) iter.Seq2[RouteNote, error]
}

// API is everything that a contestant carries.
type API interface {
	DataAPI
	RouteAPI
}

// All makes a sequence without errors of a slice.
func All[T any](values []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// Collect reads a sequence to its end: what came before the first error, and that error.
func Collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

// Fail is the sequence that holds one error and nothing else.
func Fail[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		yield(zero, err)
	}
}
