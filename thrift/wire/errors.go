package wire

import (
	"fmt"

	"bakeoff/service"
	"bakeoff/thrift/gen/inf"
)

// EncodeError makes the declared exception of any error of a service.
func EncodeError(err error) *inf.ServiceError {
	e := service.AsError(err)
	m := &inf.ServiceError{Code: int32(e.Code), Message: e.Msg}
	if cause := service.CleanCause(e.Cause); cause != "" {
		m.Cause = &cause
	}
	return m
}

// DecodeError makes the service's error of the declared exception; a code that is none of ours is an error of
// its own, because whoever sent it speaks another dialect.
func DecodeError(m *inf.ServiceError) error {
	if code := service.Code(m.Code); code.Valid() {
		return &service.Error{Code: code, Msg: m.Message, Cause: service.CleanCause(m.GetCause())}
	}
	return &UnknownCodeError{Code: m.Code, Msg: m.Message}
}

// UnknownCodeError is a declared exception whose code is not one of service.Codes.
type UnknownCodeError struct {
	Code int32
	Msg  string
}

func (e *UnknownCodeError) Error() string {
	return fmt.Sprintf("the exception has code %d, which is none of ours: %s", e.Code, e.Msg)
}

func missing(method, argument string) error {
	return service.Errorf(service.InvalidArgument, "%s: the call has no %s", method, argument)
}
