package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"bakeoff/service"
)

// The hot messages, written by hand. What they write equals encoding/json byte for byte; what they read is the
// plain shape only (known names, each at most once, no escapes, numbers as numbers): for all else they say no, and
// the caller asks encoding/json, so that the two can never disagree on a meaning or an error.

func fastDataTypeRq(dst []byte, r service.DataTypeRequest) []byte {
	dst = appendString(append(dst, `{"authRq":{"clientId":`...), r.Auth.ClientID)
	dst = appendString(append(dst, `,"token":`...), r.Auth.Token)
	dst = appendString(append(dst, `},"groupName":`...), r.Group)
	dst = appendString(append(dst, `,"enName":`...), r.Name)
	return append(dst, '}')
}

func fastDataTypeRp(dst []byte, d service.DataType) []byte {
	dst = appendString(append(dst, `{"authRp":{"token":`...), d.Token)
	dst = strconv.AppendInt(append(dst, `},"codeId":`...), d.CodeID, 10)
	dst = appendString(append(dst, `,"cnName":`...), d.CnName)
	return append(dst, '}')
}

func fastPayload(dst []byte, p service.Payload) []byte {
	dst = slices.Grow(dst, len(p.Text)+base64.StdEncoding.EncodedLen(len(p.Data))+len(`{"text":"","data":""}`))
	dst = appendString(append(dst, `{"text":`...), p.Text)
	dst = base64.StdEncoding.AppendEncode(append(dst, `,"data":"`...), p.Data)
	return append(dst, `"}`...)
}

func fastPoint(dst []byte, p service.Point) []byte {
	dst = strconv.AppendInt(append(dst, `{"latitude":`...), int64(p.Latitude), 10)
	dst = strconv.AppendInt(append(dst, `,"longitude":`...), int64(p.Longitude), 10)
	return append(dst, '}')
}

func fastFeature(dst []byte, f service.Feature) []byte {
	dst = appendString(append(dst, `{"name":`...), f.Name)
	dst = fastPoint(append(dst, `,"location":`...), f.Location)
	return append(dst, '}')
}

// plainASCII has the bytes that encoding/json writes as they are.
var plainASCII = func() (t [utf8.RuneSelf]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return t
}()

func appendString(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if !plainASCII[c] {
				return appendEscaped(dst, s)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r == '\u2028' || r == '\u2029' {
			return appendEscaped(dst, s)
		}
		i += n
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

func appendEscaped(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // a string is always written
		return append(dst, `""`...)
	}
	return append(dst, b...)
}

func parseDataTypeRq(b []byte) (r service.DataTypeRequest, ok bool) {
	p := parser{s: string(b)}
	var seen int
	for name, more := p.begin(); more; name, more = p.next() {
		switch name {
		case "authRq":
			p.once(&seen, 1)
			var inner int
			for name, more := p.begin(); more; name, more = p.next() {
				switch name {
				case "clientId":
					p.once(&inner, 1)
					r.Auth.ClientID = p.text()
				case "token":
					p.once(&inner, 2)
					r.Auth.Token = p.text()
				default:
					return r, false
				}
			}
		case "groupName":
			p.once(&seen, 2)
			r.Group = p.text()
		case "enName":
			p.once(&seen, 4)
			r.Name = p.text()
		default:
			return r, false
		}
	}
	return r, p.done()
}

func parseDataTypeRp(b []byte) (d service.DataType, ok bool) {
	p := parser{s: string(b)}
	var seen int
	for name, more := p.begin(); more; name, more = p.next() {
		switch name {
		case "authRp":
			p.once(&seen, 1)
			var inner int
			for name, more := p.begin(); more; name, more = p.next() {
				if name != "token" {
					return d, false
				}
				p.once(&inner, 1)
				d.Token = p.text()
			}
		case "codeId":
			p.once(&seen, 2)
			d.CodeID = p.number(64)
		case "cnName":
			p.once(&seen, 4)
			d.CnName = p.text()
		default:
			return d, false
		}
	}
	return d, p.done()
}

func parsePayload(b []byte) (v service.Payload, ok bool) {
	p := parser{s: string(b)}
	var seen int
	for name, more := p.begin(); more; name, more = p.next() {
		switch name {
		case "text":
			p.once(&seen, 1)
			v.Text = p.text()
		case "data":
			p.once(&seen, 2)
			v.Data = p.base64()
		default:
			return v, false
		}
	}
	return v, p.done()
}

func parsePoint(b []byte) (service.Point, bool) {
	p := parser{s: string(b)}
	v := p.point()
	return v, p.done()
}

func parseFeature(b []byte) (f service.Feature, ok bool) {
	p := parser{s: string(b)}
	var seen int
	for name, more := p.begin(); more; name, more = p.next() {
		switch name {
		case "name":
			p.once(&seen, 1)
			f.Name = p.text()
		case "location":
			p.once(&seen, 2)
			f.Location = p.point()
		default:
			return f, false
		}
	}
	return f, p.done()
}
