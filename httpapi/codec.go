package httpapi

import (
	"time"

	"bakeoff/service"
)

// Codec turns messages into JSON and back. Its Append methods write the very same bytes whichever way it is set,
// its Decode methods return the same values and errors. They keep nothing of what they are given: the strings of a
// decoded message are copies. A Codec may be used by many goroutines.
//
// The error of a message that is not as expected is a *service.Error, InvalidArgument, with line and byte.
type Codec struct {
	// Fast reads and writes the messages of DataType, Echo, Feature and Point by hand. Anything but their plain shape is
	// given to encoding/json.
	Fast bool
}

// AppendDataTypeRequest writes the body of a DataType call.
func (c Codec) AppendDataTypeRequest(dst []byte, r service.DataTypeRequest) ([]byte, error) {
	for _, f := range [...]struct{ name, text string }{
		{"authRq.clientId", r.Auth.ClientID}, {"authRq.token", r.Auth.Token}, {"groupName", r.Group}, {"enName", r.Name},
	} {
		if err := checkText(f.name, f.text); err != nil {
			return dst, err
		}
	}
	if c.Fast {
		return fastDataTypeRq(dst, r), nil
	}
	return appendStd(dst, dataTypeRqWire(r))
}

// DecodeDataTypeRequest reads the body of a DataType call.
func (c Codec) DecodeDataTypeRequest(b []byte) (service.DataTypeRequest, error) {
	b = TrimBOM(b)
	if c.Fast {
		if r, ok := parseDataTypeRq(b); ok {
			return r, nil
		}
	}
	var w wireDataTypeRq
	err := decodeStd(b, &w)
	return w.domain(), err
}

// AppendDataType writes the answer of a DataType call.
func (c Codec) AppendDataType(dst []byte, d service.DataType) ([]byte, error) {
	if c.Fast {
		return fastDataTypeRp(dst, d), nil
	}
	return appendStd(dst, dataTypeRpWire(d))
}

// DecodeDataType reads the answer of a DataType call.
func (c Codec) DecodeDataType(b []byte) (service.DataType, error) {
	b = TrimBOM(b)
	if c.Fast {
		if d, ok := parseDataTypeRp(b); ok {
			return d, nil
		}
	}
	var w wireDataTypeRp
	err := decodeStd(b, &w)
	return w.domain(), err
}

// AppendPoint writes a line of a RecordRoute upload, without its end.
func (c Codec) AppendPoint(dst []byte, p service.Point) ([]byte, error) {
	if c.Fast {
		return fastPoint(dst, p), nil
	}
	return appendStd(dst, pointWire(p))
}

// DecodePoint reads a line of a RecordRoute upload.
func (c Codec) DecodePoint(b []byte) (service.Point, error) {
	if c.Fast {
		if p, ok := parsePoint(b); ok {
			return p, nil
		}
	}
	var w wirePoint
	err := decodeStd(b, &w)
	return w.domain(), err
}

// AppendFeature writes a feature: the answer of GetFeature, or a line of ListFeatures without its end.
func (c Codec) AppendFeature(dst []byte, f service.Feature) ([]byte, error) {
	if c.Fast {
		return fastFeature(dst, f), nil
	}
	return appendStd(dst, wireFeature{Name: f.Name, Location: pointWire(f.Location)})
}

// DecodeFeature reads what AppendFeature writes. Where a line reports that the list failed, failed is that error.
func (c Codec) DecodeFeature(b []byte) (f service.Feature, failed *service.Error, err error) {
	b = TrimBOM(b)
	if c.Fast {
		if f, ok := parseFeature(b); ok {
			return f, nil, nil
		}
	}
	var w wireFeatureLine
	if err := decodeStd(b, &w); err != nil {
		return service.Feature{}, nil, err
	}
	if w.Error != nil {
		return service.Feature{}, w.Error.Error(), nil
	}
	return w.domain(), nil, nil
}

// AppendLogin writes the body of a Login call.
func (c Codec) AppendLogin(dst []byte, r service.LoginRequest) ([]byte, error) {
	if err := checkText("clientId", r.ClientID); err != nil {
		return dst, err
	}
	if err := checkText("secret", r.Secret); err != nil {
		return dst, err
	}
	return appendStd(dst, wireLogin(r))
}

// DecodeLogin reads the body of a Login call.
func (c Codec) DecodeLogin(b []byte) (service.LoginRequest, error) {
	var w wireLogin
	err := decodeStd(TrimBOM(b), &w)
	return service.LoginRequest(w), err
}

// AppendSession writes the answer of a Login call; its time is whole milliseconds UTC.
func (c Codec) AppendSession(dst []byte, s service.Session) ([]byte, error) {
	return appendStd(dst, wireSession{Token: s.Token, ExpiresUnixMs: wireInt64(s.Expires.UnixMilli())})
}

// DecodeSession reads the answer of a Login call.
func (c Codec) DecodeSession(b []byte) (service.Session, error) {
	var w wireSession
	err := decodeStd(TrimBOM(b), &w)
	return service.Session{Token: w.Token, Expires: time.UnixMilli(int64(w.ExpiresUnixMs)).UTC()}, err
}

// AppendPayload writes the request or the answer of an Echo call.
func (c Codec) AppendPayload(dst []byte, p service.Payload) ([]byte, error) {
	if err := checkText("text", p.Text); err != nil {
		return dst, err
	}
	if c.Fast {
		return fastPayload(dst, p), nil
	}
	if p.Data == nil {
		p.Data = []byte{} // nil would be written as null
	}
	return appendStd(dst, wirePayload{p.Text, p.Data})
}

// DecodePayload reads either.
func (c Codec) DecodePayload(b []byte) (service.Payload, error) {
	b = TrimBOM(b)
	if c.Fast {
		if p, ok := parsePayload(b); ok {
			return p, nil
		}
	}
	var w wirePayload
	err := decodeStd(b, &w)
	return service.Payload{Text: w.Text, Data: w.Data}, err
}

// AppendSummary writes the answer of a RecordRoute call.
func (c Codec) AppendSummary(dst []byte, s service.RouteSummary) ([]byte, error) {
	return appendStd(dst, wireSummary{wireInt32(s.PointCount), wireInt32(s.FeatureCount), wireInt32(s.Distance), wireInt32(s.ElapsedTime)})
}

// DecodeSummary reads the answer of a RecordRoute call.
func (c Codec) DecodeSummary(b []byte) (service.RouteSummary, error) {
	var w wireSummary
	err := decodeStd(TrimBOM(b), &w)
	return service.RouteSummary{PointCount: int32(w.PointCount), FeatureCount: int32(w.FeatureCount),
		Distance: int32(w.Distance), ElapsedTime: int32(w.ElapsedTime)}, err
}

// ChatEnd is the message with which each side of a chat says that no notes of its own follow. A chat is over when
// both have said so, or have failed; the next one may begin on the same WebSocket.
const ChatEnd = `{"end":true}`

// AppendNote writes a note of a chat.
func (c Codec) AppendNote(dst []byte, n service.RouteNote) ([]byte, error) {
	if err := checkText("message", n.Message); err != nil {
		return dst, err
	}
	return appendStd(dst, wireNote{Location: pointWire(n.Location), Message: n.Message})
}

// DecodeChat reads a message of a chat: a note, the end (end is true), or the failure of the other side.
func (c Codec) DecodeChat(b []byte) (n service.RouteNote, end bool, failed *service.Error, err error) {
	if string(b) == ChatEnd {
		return n, true, nil, nil
	}
	var w wireChat
	if err := decodeStd(TrimBOM(b), &w); err != nil {
		return n, false, nil, err
	}
	if w.Error != nil {
		return n, false, w.Error.Error(), nil
	}
	return service.RouteNote{Location: w.Location.domain(), Message: w.Message}, w.End, nil, nil
}
