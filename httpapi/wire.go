package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"bakeoff/service"
)

// The messages as JSON has them: the field names of the published IDL. What is absent is zero, as proto3 and Thrift
// have it, so that {} is a message of zeros: a point at 0, 0, a note without text there. Unknown fields are skipped.
// null is nothing that either of them can say, and is refused for a message and for each of its fields: it is more
// likely a mistake than a zero.
type (
	wireAuth struct {
		ClientID string `json:"clientId"`
		Token    string `json:"token"`
	}
	wireDataTypeRq struct {
		AuthRq    wireAuth `json:"authRq"`
		GroupName string   `json:"groupName"`
		EnName    string   `json:"enName"`
	}
	wireAuthRp struct {
		Token string `json:"token"`
	}
	wireDataTypeRp struct {
		AuthRp wireAuthRp `json:"authRp"`
		CodeID wireInt64  `json:"codeId"`
		CnName string     `json:"cnName"`
	}
	wireLogin struct {
		ClientID string `json:"clientId"`
		Secret   string `json:"secret"`
	}
	wireSession struct {
		Token         string    `json:"token"`
		ExpiresUnixMs wireInt64 `json:"expiresUnixMs"`
	}
	// wirePayload has its bytes in base64, as canonical proto JSON has them.
	wirePayload struct {
		Text string    `json:"text"`
		Data wireBytes `json:"data"`
	}
	wirePoint struct {
		Latitude  wireInt32 `json:"latitude"`
		Longitude wireInt32 `json:"longitude"`
	}
	wireFeature struct {
		Name     string    `json:"name"`
		Location wirePoint `json:"location"`
	}
	// wireFeatureLine is a line of ListFeatures: a feature, or how the list failed.
	wireFeatureLine struct {
		wireFeature
		Error *Problem `json:"error"`
	}
	wireSummary struct {
		PointCount   wireInt32 `json:"pointCount"`
		FeatureCount wireInt32 `json:"featureCount"`
		Distance     wireInt32 `json:"distance"`
		ElapsedTime  wireInt32 `json:"elapsedTime"`
	}
	wireNote struct {
		Location wirePoint `json:"location"`
		Message  string    `json:"message"`
	}
	// wireChat is a message of a chat: a note, the end of the sender's side, or its failure.
	wireChat struct {
		wireNote
		End   bool     `json:"end"`
		Error *Problem `json:"error"`
	}
)

// wireBytes is written in standard base64 with its padding; it is read in that, or in the alphabet of URLs, with or
// without padding, as canonical proto JSON says.
type wireBytes []byte

func (b *wireBytes) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil // findNull refuses it, and knows where it is
	}
	s := text
	if len(text) > 1 && text[0] == '"' {
		s = text[1 : len(text)-1]
	}
	if v, ok := decodeBase64(s); ok && len(s) < len(text) {
		*b = v
		return nil
	}
	var unescaped string // base64 has a slash, which JSON lets be escaped
	if bytes.IndexByte(s, '\\') >= 0 && json.Unmarshal(text, &unescaped) == nil {
		if v, ok := decodeBase64([]byte(unescaped)); ok {
			*b = v
			return nil
		}
	}
	return &json.UnmarshalTypeError{Value: clip(text) + ", only bytes in base64", Type: reflect.TypeFor[[]byte]()}
}

// decodeBase64 refuses the ends of lines, which the library skips.
func decodeBase64(s []byte) ([]byte, bool) {
	if bytes.ContainsAny(s, "\r\n") {
		return nil, false
	}
	code := base64.StdEncoding
	if bytes.ContainsAny(s, "-_") {
		code = base64.URLEncoding
	}
	if len(s)%4 != 0 {
		code = code.WithPadding(base64.NoPadding)
	}
	b, err := code.AppendDecode(nil, s)
	return b, err == nil
}

// wireInt64 is a whole number that never goes through a float: written as a number, read from a number or, as
// canonical proto JSON and JavaScript programs have it, from a string of one.
type wireInt64 int64

// wireInt32 is read likewise.
type wireInt32 int32

func (n *wireInt64) UnmarshalJSON(b []byte) error {
	v, err := wholeNumber(b, 64, int64(*n))
	*n = wireInt64(v)
	return err
}

func (n *wireInt32) UnmarshalJSON(b []byte) error {
	v, err := wholeNumber(b, 32, int64(*n))
	*n = wireInt32(v)
	return err
}

func wholeNumber(b []byte, bits int, before int64) (int64, error) {
	text := b
	if len(b) > 1 && b[0] == '"' {
		text = b[1 : len(b)-1]
	}
	if string(b) == "null" {
		return before, nil // findNull refuses it, and knows where it is
	}
	// ParseInt takes a plus sign, which JSON does not.
	if v, err := strconv.ParseInt(string(text), 10, bits); err == nil && text[0] != '+' {
		return v, nil
	}
	// encoding/json adds the field to this kind of error.
	return before, &json.UnmarshalTypeError{Value: fmt.Sprintf("%s, only a whole number of %d bits", clip(b), bits), Type: reflect.TypeFor[int64]()}
}

// clip is at most the first 40 bytes of a JSON value, for error messages.
func clip(b []byte) string {
	if len(b) > 40 {
		return string(bytes.ToValidUTF8(b[:40], nil)) + "..."
	}
	return string(b)
}

func (w *wirePoint) domain() service.Point {
	return service.Point{Latitude: int32(w.Latitude), Longitude: int32(w.Longitude)}
}

func pointWire(p service.Point) wirePoint {
	return wirePoint{Latitude: wireInt32(p.Latitude), Longitude: wireInt32(p.Longitude)}
}

func (w *wireFeature) domain() service.Feature {
	return service.Feature{Name: w.Name, Location: w.Location.domain()}
}

func dataTypeRqWire(r service.DataTypeRequest) wireDataTypeRq {
	return wireDataTypeRq{AuthRq: wireAuth{r.Auth.ClientID, r.Auth.Token}, GroupName: r.Group, EnName: r.Name}
}

func (w *wireDataTypeRq) domain() service.DataTypeRequest {
	return service.DataTypeRequest{Auth: service.Auth{ClientID: w.AuthRq.ClientID, Token: w.AuthRq.Token}, Group: w.GroupName, Name: w.EnName}
}

func dataTypeRpWire(d service.DataType) wireDataTypeRp {
	return wireDataTypeRp{AuthRp: wireAuthRp{d.Token}, CodeID: wireInt64(d.CodeID), CnName: d.CnName}
}

func (w *wireDataTypeRp) domain() service.DataType {
	return service.DataType{Token: w.AuthRp.Token, CodeID: int64(w.CodeID), CnName: w.CnName}
}

// appendStd writes v with encoding/json. None of the messages above can fail to be written; if one ever does, the
// caller reports it.
func appendStd(dst []byte, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return dst, service.Errorf(service.Internal, "writing JSON: %v", err)
	}
	return append(dst, b...), nil
}
