package convert

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"bakeoff/proto/inf"
	"bakeoff/service"
)

var grpcCodes = [...]codes.Code{
	service.InvalidArgument:   codes.InvalidArgument,
	service.Unauthenticated:   codes.Unauthenticated,
	service.NotFound:          codes.NotFound,
	service.Unavailable:       codes.Unavailable,
	service.DeadlineExceeded:  codes.DeadlineExceeded,
	service.ResourceExhausted: codes.ResourceExhausted,
	service.Internal:          codes.Internal,
}

// GRPCCode is the gRPC code of a service's code; of a number that is none, Internal.
func GRPCCode(c service.Code) codes.Code {
	if !c.Valid() {
		return codes.Internal
	}
	return grpcCodes[c]
}

// Code is the service's code of a gRPC code, where there is one.
func Code(c codes.Code) (service.Code, bool) {
	for _, s := range service.Codes() {
		if grpcCodes[s] == c {
			return s, true
		}
	}
	return 0, false
}

// Status makes the error that a handler returns: the status of the service's error, with an inf.Error as its detail,
// which tells the client that the service itself answered. Nil stays nil. Text that is not UTF-8 is mended, since
// protobuf could not carry it.
func Status(err error) error {
	e := service.AsError(err)
	if e == nil {
		return nil
	}
	code := e.Code
	if !code.Valid() {
		code = service.Internal
	}
	msg := strings.ToValidUTF8(e.Msg, "\uFFFD")
	st := status.New(GRPCCode(code), msg)
	if detailed, err := st.WithDetails(&inf.Error{Code: int32(code), Message: msg, Cause: service.CleanCause(e.Cause)}); err == nil {
		st = detailed
	}
	return st.Err()
}

// ServiceError is the error that the service itself answered with, or nil where gRPC or the transport made the status.
func ServiceError(st *status.Status) *service.Error {
	for _, d := range st.Details() {
		if e := Detail(d); e != nil {
			return e
		}
	}
	return nil
}

// Detail is the error that the service itself answered with, if that is what a detail of a status is; else nil.
func Detail(d any) *service.Error {
	m, ok := d.(*inf.Error)
	if !ok {
		return nil
	}
	c := service.Code(m.GetCode())
	if !c.Valid() {
		return nil
	}
	return &service.Error{Code: c, Msg: m.GetMessage(), Cause: service.CleanCause(m.GetCause())}
}
