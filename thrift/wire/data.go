// Package wire turns the values of the services into Thrift's and back. Both ends use it, so that a field can't
// be forgotten at one of them. What comes from a wire may lack any struct that its IDL does not require: nothing
// here panics on a nil.
//
// Each message that can grow has a Size function: an upper bound of its encoded length in either protocol, cheap
// enough to be asked before every call.
package wire

import (
	"time"

	"bakeoff/service"
	"bakeoff/thrift/gen/inf"
)

// The upper bounds count this much for a message (its header with the method's name, the wrapping struct, all
// that does not grow) and for an element of a list.
const (
	perMessage = 128
	perElement = 32
)

// EncodeDataTypeRequest makes the request; the struct within it shares its allocation.
func EncodeDataTypeRequest(r service.DataTypeRequest) *inf.DataTypeRq {
	m := &struct {
		rq   inf.DataTypeRq
		auth inf.AuthRq
	}{
		inf.DataTypeRq{GroupName: r.Group, EnName: r.Name},
		inf.AuthRq{ClientId: r.Auth.ClientID, Token: r.Auth.Token},
	}
	m.rq.Authrq = &m.auth
	return &m.rq
}

// SizeDataTypeRequest is the upper bound of the request.
func SizeDataTypeRequest(r service.DataTypeRequest) int {
	return perMessage + len(r.Auth.ClientID) + len(r.Auth.Token) + len(r.Group) + len(r.Name)
}

// DecodeDataTypeRequest refuses a call without its argument.
func DecodeDataTypeRequest(m *inf.DataTypeRq) (service.DataTypeRequest, error) {
	if m == nil {
		return service.DataTypeRequest{}, missing("DataType", "dataTypeRq")
	}
	r := service.DataTypeRequest{Group: m.GroupName, Name: m.EnName}
	if a := m.Authrq; a != nil {
		r.Auth = service.Auth{ClientID: a.ClientId, Token: a.Token}
	}
	return r, nil
}

// EncodeDataType makes the answer; the struct within it shares its allocation.
func EncodeDataType(d service.DataType) *inf.DataTypeRp {
	m := &struct {
		rp   inf.DataTypeRp
		auth inf.AuthRp
	}{
		inf.DataTypeRp{CodeId: d.CodeID, CnName: d.CnName},
		inf.AuthRp{Token: d.Token},
	}
	m.rp.Authrp = &m.auth
	return &m.rp
}

// SizeDataType is the upper bound of the answer.
func SizeDataType(d service.DataType) int { return perMessage + len(d.Token) + len(d.CnName) }

// DecodeDataType reads the answer.
func DecodeDataType(m *inf.DataTypeRp) service.DataType {
	d := service.DataType{CodeID: m.CodeId, CnName: m.CnName}
	if a := m.Authrp; a != nil {
		d.Token = a.Token
	}
	return d
}

// EncodeLoginRequest makes the request.
func EncodeLoginRequest(r service.LoginRequest) *inf.LoginRq {
	return &inf.LoginRq{ClientId: r.ClientID, Secret: r.Secret}
}

// SizeLoginRequest is the upper bound of the request.
func SizeLoginRequest(r service.LoginRequest) int {
	return perMessage + len(r.ClientID) + len(r.Secret)
}

// DecodeLoginRequest refuses a call without its argument.
func DecodeLoginRequest(m *inf.LoginRq) (service.LoginRequest, error) {
	if m == nil {
		return service.LoginRequest{}, missing("Login", "loginRq")
	}
	return service.LoginRequest{ClientID: m.ClientId, Secret: m.Secret}, nil
}

// EncodeSession makes the answer.
func EncodeSession(s service.Session) *inf.LoginRp {
	return &inf.LoginRp{Token: s.Token, ExpiresUnixMs: s.Expires.UnixMilli()}
}

// SizeSession is the upper bound of the answer.
func SizeSession(s service.Session) int { return perMessage + len(s.Token) }

// DecodeSession reads the answer.
func DecodeSession(m *inf.LoginRp) service.Session {
	return service.Session{Token: m.Token, Expires: time.UnixMilli(m.ExpiresUnixMs).UTC()}
}

// EncodePayload makes the request or the answer of an echo; it shares the bytes.
func EncodePayload(p service.Payload) *inf.Payload { return &inf.Payload{Text: p.Text, Data: p.Data} }

// SizePayload is the upper bound of either.
func SizePayload(p service.Payload) int { return perMessage + len(p.Text) + len(p.Data) }

// DecodePayload refuses a call without its argument. The bytes are the message's.
func DecodePayload(m *inf.Payload) (service.Payload, error) {
	if m == nil {
		return service.Payload{}, missing("Echo", "payload")
	}
	return service.Payload{Text: m.Text, Data: m.Data}, nil
}
