package httpapi_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bakeoff/httpapi"
	"bakeoff/service"
)

// The two settings of the codec must mean the same for every input, errors included.

func seeds(f *testing.F) {
	for _, s := range []string{
		``, `{}`, `null`, `[]`, `{"authRq":{"clientId":"c","token":"t"},"groupName":"g","enName":"n"}`,
		`{"authRq":{"clientId":"c","clientId":"t"}}`, `{"groupName":"\u8a9e","enName":"語"}`, "\xef\xbb\xbf{}", `{"groupName":"a\"b"}`,
		`{"authRp":{"token":"t"},"codeId":-9223372036854775808,"cnName":"語"}`, `{"codeId":"12"}`, `{"codeId":1.0}`, `{"codeId":-0}`, `{"codeId":-}`,
		`{"codeId":00}`, `{"CODEID":7}`, `{"codeId":1}x`, `{"codeId":1`, "{\"cnName\":\"\xff\"}", `{"latitude":1,"longitude":-2}`,
		`{"name":"x","location":{"latitude":1,"longitude":-2}}`, `{"error":{"code":"internal"}}`, `{"name":"","location":null}`, `{"":1}`,
		"{\"codeId\":\x005}", `{"latitude":2147483648}`, ` { "latitude" : 1 } `, `{"latitude":1,}`, `{"latitude":1 "longitude":2}`, `{"end":true}`,
		`{"location":{"latitude":1,"longitude":-2},"message":"m"}`, `{"lATITUDE":1,"latitude":2}`, `{"ſ":1}`, `{"toKen":"x"}`,
	} {
		f.Add([]byte(s))
	}
}

type result[T any] struct {
	Value T
	Code  service.Code
	Msg   string
}

func resultOf[T any](v T, err error) result[T] {
	if e := service.AsError(err); e != nil {
		return result[T]{v, e.Code, e.Msg}
	}
	return result[T]{Value: v}
}

func agree[T any](t *testing.T, in []byte, decode func(c httpapi.Codec, b []byte) (T, error), encode func(c httpapi.Codec, v T) ([]byte, error)) {
	t.Helper()
	kept := bytes.Clone(in)
	std := resultOf(decode(httpapi.Codec{}, in))
	fast := resultOf(decode(httpapi.Codec{Fast: true}, in))
	if diff := cmp.Diff(std, fast); diff != "" {
		t.Fatalf("%q: -std +fast:\n%s", in, diff)
	}
	if !bytes.Equal(in, kept) {
		t.Fatalf("%q was changed to %q", kept, in)
	}
	if std.Code != 0 {
		if std.Code != service.InvalidArgument || std.Msg == "" {
			t.Fatalf("%q: got error %v %q, want invalid_argument that says why", in, std.Code, std.Msg)
		}
		return
	}
	a, errA := encode(httpapi.Codec{}, std.Value)
	b, errB := encode(httpapi.Codec{Fast: true}, std.Value)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Fatalf("%+v: std writes %s (%v), fast %s (%v)", std.Value, a, errA, b, errB)
	}
	again, err := decode(httpapi.Codec{Fast: true}, b)
	if diff := cmp.Diff(std.Value, again); err != nil || diff != "" {
		t.Fatalf("%s read again: %v -want +got:\n%s", b, err, diff)
	}
}

func FuzzDataTypeRequest(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		agree(t, in, httpapi.Codec.DecodeDataTypeRequest, func(c httpapi.Codec, v service.DataTypeRequest) ([]byte, error) {
			return c.AppendDataTypeRequest(nil, v)
		})
	})
}

func FuzzDataType(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		agree(t, in, httpapi.Codec.DecodeDataType, func(c httpapi.Codec, v service.DataType) ([]byte, error) { return c.AppendDataType(nil, v) })
	})
}

func FuzzPayload(f *testing.F) {
	seeds(f)
	for _, s := range []string{
		`{"text":"語","data":"+/8="}`, `{"data":"-_8"}`, `{"data":"+_8="}`, `{"data":"+\/8="}`, `{"data":"8"}`, `{"data":null}`, `{"data":[1]}`, `{"DATA":"AA=="}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		agree(t, in, httpapi.Codec.DecodePayload, func(c httpapi.Codec, v service.Payload) ([]byte, error) { return c.AppendPayload(nil, v) })
	})
}

func FuzzPoint(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		agree(t, in, httpapi.Codec.DecodePoint, func(c httpapi.Codec, v service.Point) ([]byte, error) { return c.AppendPoint(nil, v) })
	})
}

func FuzzFeature(f *testing.F) {
	seeds(f)
	type line struct {
		Feature service.Feature
		Failed  *service.Error
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		agree(t, in, func(c httpapi.Codec, b []byte) (line, error) {
			v, failed, err := c.DecodeFeature(b)
			return line{v, failed}, err
		}, func(c httpapi.Codec, v line) ([]byte, error) {
			if v.Failed != nil {
				return httpapi.AppendFailure(nil, v.Failed), nil
			}
			return c.AppendFeature(nil, v.Feature)
		})
	})
}

// FuzzStrings writes any strings, valid or not: both settings write the same bytes.
func FuzzStrings(f *testing.F) {
	f.Add("語音接通", int64(5), int32(-5))
	f.Add(text, int64(-1<<63), int32(-1<<31))
	f.Add("a\xffb\xe8\xaa", int64(0), int32(0))
	f.Fuzz(func(t *testing.T, s string, n int64, m int32) {
		write := func(c httpapi.Codec) []byte {
			b, _ := c.AppendDataType(nil, service.DataType{Token: s, CodeID: n, CnName: s})
			b, _ = c.AppendFeature(b, service.Feature{Name: s, Location: service.Point{Latitude: m, Longitude: ^m}})
			return b
		}
		if a, b := write(httpapi.Codec{}), write(httpapi.Codec{Fast: true}); !bytes.Equal(a, b) {
			t.Fatalf("%q: std writes %s, fast %s", s, a, b)
		}
	})
}

// FuzzOthers reads the messages that have one decoder only; each answers or refuses, and chats mean one thing.
func FuzzOthers(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		var c httpapi.Codec
		_, errLogin := c.DecodeLogin(in)
		_, errSession := c.DecodeSession(in)
		_, errSummary := c.DecodeSummary(in)
		_, _, _, errChat := c.DecodeChat(in)
		for _, err := range []error{errLogin, errSession, errSummary, errChat} {
			if e := service.AsError(err); e != nil && e.Code != service.InvalidArgument {
				t.Fatalf("%q: got %v, want invalid_argument", in, err)
			}
		}
		if e := httpapi.ErrorOf(503, in); !e.Code.Valid() {
			t.Fatalf("%q: the code of a problem is %d", in, e.Code)
		}
		if p, err := httpapi.ParsePoint("path", string(in)); err == nil {
			again, err := httpapi.ParsePoint("path", string(httpapi.AppendPoint(nil, p)))
			if err != nil || again != p {
				t.Fatalf("%q: %v read again is %v, %v", in, p, again, err)
			}
		}
	})
}
