package httpapi_test

import (
	"strings"
	"testing"

	"bakeoff/httpapi"
	"bakeoff/service"
)

// TestZerosAndNulls: {} is every message of zeros, and null is none of them, nor of their parts.
func TestZerosAndNulls(t *testing.T) {
	for name, c := range codecs {
		for message, row := range map[string]struct {
			decode func(b []byte) (any, error)
			zero   any
			nulls  map[string]string // a message with a null in it, and where its error says that it is
		}{
			"login": {func(b []byte) (any, error) { return c.DecodeLogin(b) }, service.LoginRequest{},
				map[string]string{`{"secret":null}`: "byte 11: secret cannot be null"}},
			"request": {func(b []byte) (any, error) { return c.DecodeDataTypeRequest(b) }, service.DataTypeRequest{},
				map[string]string{`{"authRq":null}`: "byte 11: authRq cannot be null", `{"authRq":{"clientId":null}}`: "byte 23: authRq.clientId cannot be null"}},
			"point": {func(b []byte) (any, error) { return c.DecodePoint(b) }, service.Point{},
				map[string]string{`{"latitude":1,"longitude":null}`: "byte 27: longitude cannot be null"}},
			"summary": {func(b []byte) (any, error) { return c.DecodeSummary(b) }, service.RouteSummary{},
				map[string]string{`{"distance":null}`: "byte 13: distance cannot be null"}},
			"feature": {func(b []byte) (any, error) {
				f, failed, err := c.DecodeFeature(b)
				if failed != nil {
					t.Errorf("%s: read as the failure %v", b, failed)
				}
				return f, err
			}, service.Feature{}, map[string]string{`{"location":null}`: "byte 13: location cannot be null", `{"error":null}`: "byte 10: error cannot be null"}},
			"note": {func(b []byte) (any, error) {
				n, end, failed, err := c.DecodeChat(b)
				if end || failed != nil {
					t.Errorf("%s: read as end %v, failure %v", b, end, failed)
				}
				return n, err
			}, service.RouteNote{}, map[string]string{
				`{"location":{"latitude":null}}`: "byte 25: location.latitude cannot be null", `{"end":null}`: "byte 8: end cannot be null"}},
		} {
			if got, err := row.decode([]byte(`{}`)); err != nil || got != row.zero {
				t.Errorf("%s, %s: {} is %+v, %v, want zeros", name, message, got, err)
			}
			if got, err := row.decode([]byte(`{"later":{"a":[null]},"more":null}`)); err != nil || got != row.zero {
				t.Errorf("%s, %s: nulls in unknown fields are %+v, %v, want zeros", name, message, got, err)
			}
			row.nulls["null"] = "line 1, byte 1: the message cannot be null: {} is the message of zeros"
			for in, want := range row.nulls {
				_, err := row.decode([]byte(in))
				if e := service.AsError(err); e == nil || e.Code != service.InvalidArgument || !strings.Contains(e.Msg, want) {
					t.Errorf("%s, %s: %s: got %v, want invalid_argument with %q", name, message, in, err, want)
				}
			}
		}
	}
}

// TestNullsOfOthers: a problem may be anybody's, and say null where it has nothing to say.
func TestNullsOfOthers(t *testing.T) {
	_, _, failed, err := httpapi.Codec{}.DecodeChat([]byte(`{"error":{"title":null,"detail":"x","code":"internal","cause":null}}`))
	if err != nil || failed == nil || *failed != (service.Error{Code: service.Internal, Msg: "x"}) {
		t.Errorf("got %v, %v, want internal: x", failed, err)
	}
}
