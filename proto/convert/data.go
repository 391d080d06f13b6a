// Package convert is the border between the protobuf messages and the domain: what both ends of gRPC need, once.
// Functions whose name begins with Wire make messages; the others read them. A message or sub-message that is
// missing reads as its zero value, as proto3 has it. The package knows neither the server nor the client.
package convert

import (
	"time"
	"unicode/utf8"

	"bakeoff/proto/inf"
	"bakeoff/service"
)

// WireLogin makes the request of a login.
func WireLogin(r service.LoginRequest) *inf.LoginRq {
	return &inf.LoginRq{ClientId: r.ClientID, Secret: r.Secret}
}

// Login reads the request of a login; it refuses strings that are not UTF-8.
func Login(m *inf.LoginRq) (service.LoginRequest, error) {
	r := service.LoginRequest{ClientID: m.GetClientId(), Secret: m.GetSecret()}
	if !utf8.ValidString(r.ClientID) {
		return r, notUTF8("clientId")
	}
	if !utf8.ValidString(r.Secret) {
		return r, notUTF8("secret")
	}
	return r, nil
}

// WireSession makes the answer to a login. The zero time goes as 0.
func WireSession(s service.Session) *inf.LoginRp {
	m := &inf.LoginRp{Token: s.Token}
	if !s.Expires.IsZero() {
		m.ExpiresUnixMs = s.Expires.UnixMilli()
	}
	return m
}

// Session reads the answer to a login.
func Session(m *inf.LoginRp) service.Session {
	s := service.Session{Token: m.GetToken()}
	if ms := m.GetExpiresUnixMs(); ms != 0 {
		s.Expires = time.UnixMilli(ms).UTC()
	}
	return s
}

// dataTypeRq and dataTypeRp are a message and its sub-message in one allocation.
type dataTypeRq struct {
	rq   inf.DataTypeRq
	auth inf.AuthRq
}

type dataTypeRp struct {
	rp   inf.DataTypeRp
	auth inf.AuthRp
}

// WireDataTypeRequest makes a request. It always holds an AuthRq, as the published clients' do.
func WireDataTypeRequest(r service.DataTypeRequest) *inf.DataTypeRq {
	m := new(dataTypeRq)
	m.auth.ClientId, m.auth.Token = r.Auth.ClientID, r.Auth.Token
	m.rq.AuthRq, m.rq.GroupName, m.rq.EnName = &m.auth, r.Group, r.Name
	return &m.rq
}

// DataTypeRequest reads a request; it refuses strings that are not UTF-8.
func DataTypeRequest(m *inf.DataTypeRq) (service.DataTypeRequest, error) {
	auth := m.GetAuthRq()
	r := service.DataTypeRequest{
		Auth:  service.Auth{ClientID: auth.GetClientId(), Token: auth.GetToken()},
		Group: m.GetGroupName(), Name: m.GetEnName(),
	}
	switch {
	case !utf8.ValidString(r.Auth.ClientID):
		return r, notUTF8("authRq.clientId")
	case !utf8.ValidString(r.Auth.Token):
		return r, notUTF8("authRq.token")
	case !utf8.ValidString(r.Group):
		return r, notUTF8("groupName")
	case !utf8.ValidString(r.Name):
		return r, notUTF8("enName")
	}
	return r, nil
}

// WireDataType makes an answer.
func WireDataType(d service.DataType) *inf.DataTypeRp {
	m := new(dataTypeRp)
	m.auth.Token = d.Token
	m.rp.AuthRp, m.rp.CodeId, m.rp.CnName = &m.auth, d.CodeID, d.CnName
	return &m.rp
}

// DataType reads an answer.
func DataType(m *inf.DataTypeRp) service.DataType {
	return service.DataType{Token: m.GetAuthRp().GetToken(), CodeID: m.GetCodeId(), CnName: m.GetCnName()}
}

// WirePayload makes the request or the answer of an echo. The message shares the bytes.
func WirePayload(p service.Payload) *inf.Payload { return &inf.Payload{Text: p.Text, Data: p.Data} }

// Payload reads either; it refuses text that is not UTF-8. The bytes are the message's.
func Payload(m *inf.Payload) (service.Payload, error) {
	p := service.Payload{Text: m.GetText(), Data: m.GetData()}
	if !utf8.ValidString(p.Text) {
		return p, notUTF8("text")
	}
	return p, nil
}

// notUTF8 refuses a string. The standard codec has refused it before it comes to that; the generated one lets it pass.
func notUTF8(field string) error {
	return service.Errorf(service.InvalidArgument, "%s is not valid UTF-8", field)
}
