package httpapi_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/httpapi"
	"bakeoff/service"
)

var codecs = map[string]httpapi.Codec{"std": {}, "fast": {Fast: true}}

// text has what JSON, Unicode and HTML make difficult.
const text = "語音接通 \U0001F600 é \"quoted\" back\\slash <a href=\"x\">&amp; \x00\x1f\t\n\u2028\u2029\ufffd \x7f"

func TestRoundTrips(t *testing.T) {
	for name, c := range codecs {
		t.Run(name, func(t *testing.T) {
			for _, s := range []string{"", "plain", text, strings.Repeat("語", 3_000)} {
				rq := service.DataTypeRequest{Auth: service.Auth{ClientID: s, Token: s + "t"}, Group: s + "g", Name: s + "n"}
				b, err := c.AppendDataTypeRequest(nil, rq)
				check(t, err)
				gotRq, err := c.DecodeDataTypeRequest(b)
				check(t, err)
				same(t, gotRq, rq)
				for _, n := range []int64{0, 1, -1, 1<<53 + 1, math.MinInt64, math.MaxInt64} {
					rp := service.DataType{Token: s, CodeID: n, CnName: s + "c"}
					b, err := c.AppendDataType(nil, rp)
					check(t, err)
					got, err := c.DecodeDataType(b)
					check(t, err)
					same(t, got, rp)
				}
				for _, n := range []int32{0, math.MinInt32, math.MaxInt32} {
					p := service.Point{Latitude: n, Longitude: -n}
					b, err := c.AppendPoint(nil, p)
					check(t, err)
					gotP, err := c.DecodePoint(b)
					check(t, err)
					same(t, gotP, p)
					f := service.Feature{Name: s, Location: p}
					b, err = c.AppendFeature(nil, f)
					check(t, err)
					gotF, failed, err := c.DecodeFeature(b)
					if failed != nil {
						t.Errorf("a feature was read as the failure %v", failed)
					}
					check(t, err)
					same(t, gotF, f)
					note := service.RouteNote{Location: p, Message: s}
					b, err = c.AppendNote(nil, note)
					check(t, err)
					gotN, end, failed, err := c.DecodeChat(b)
					if end || failed != nil {
						t.Errorf("a note was read as end %v, failure %v", end, failed)
					}
					check(t, err)
					same(t, gotN, note)
					sum := service.RouteSummary{PointCount: n, FeatureCount: 1, Distance: -n, ElapsedTime: 2}
					b, err = c.AppendSummary(nil, sum)
					check(t, err)
					gotS, err := c.DecodeSummary(b)
					check(t, err)
					same(t, gotS, sum)
				}
				login := service.LoginRequest{ClientID: s, Secret: s + "s"}
				b, err = c.AppendLogin(nil, login)
				check(t, err)
				gotL, err := c.DecodeLogin(b)
				check(t, err)
				same(t, gotL, login)
			}
			for _, data := range [][]byte{nil, []byte(text), []byte("\x00\xff\xfe"), bytes.Repeat([]byte{0xfb}, 100_000)} {
				for _, s := range []string{"", text} {
					p := service.Payload{Text: s, Data: data}
					b, err := c.AppendPayload(nil, p)
					check(t, err)
					got, err := c.DecodePayload(b)
					check(t, err)
					same(t, got, p)
				}
			}
			session := service.Session{Token: "t", Expires: time.UnixMilli(1_700_000_000_123).UTC()}
			b, err := c.AppendSession(nil, session)
			check(t, err)
			if want := `{"token":"t","expiresUnixMs":1700000000123}`; string(b) != want {
				t.Errorf("session: got %s, want %s", b, want)
			}
			got, err := c.DecodeSession(b)
			check(t, err)
			same(t, got, session)
		})
	}
}

// TestNames pins the field names to the published IDL's.
func TestNames(t *testing.T) {
	for name, c := range codecs {
		for _, row := range []struct {
			want string
			got  func() ([]byte, error)
		}{
			{`{"authRq":{"clientId":"c","token":"t"},"groupName":"g","enName":"n"}`, func() ([]byte, error) {
				return c.AppendDataTypeRequest(nil, service.DataTypeRequest{Auth: service.Auth{ClientID: "c", Token: "t"}, Group: "g", Name: "n"})
			}},
			{`{"authRp":{"token":"t"},"codeId":-9223372036854775808,"cnName":"語"}`, func() ([]byte, error) {
				return c.AppendDataType(nil, service.DataType{Token: "t", CodeID: math.MinInt64, CnName: "語"})
			}},
			{`{"latitude":-1,"longitude":2}`, func() ([]byte, error) { return c.AppendPoint(nil, service.Point{Latitude: -1, Longitude: 2}) }},
			{`{"name":"\u003c","location":{"latitude":3,"longitude":4}}`, func() ([]byte, error) {
				return c.AppendFeature(nil, service.Feature{Name: "<", Location: service.Point{Latitude: 3, Longitude: 4}})
			}},
			{`{"location":{"latitude":0,"longitude":0},"message":"m"}`, func() ([]byte, error) { return c.AppendNote(nil, service.RouteNote{Message: "m"}) }},
			{`{"pointCount":1,"featureCount":2,"distance":3,"elapsedTime":4}`, func() ([]byte, error) {
				return c.AppendSummary(nil, service.RouteSummary{PointCount: 1, FeatureCount: 2, Distance: 3, ElapsedTime: 4})
			}},
			{`{"text":"t","data":"+/8="}`, func() ([]byte, error) {
				return c.AppendPayload(nil, service.Payload{Text: "t", Data: []byte{0xfb, 0xff}})
			}},
			{`{"text":"","data":""}`, func() ([]byte, error) { return c.AppendPayload(nil, service.Payload{}) }},
			{`{"clientId":"c","secret":"s"}`, func() ([]byte, error) { return c.AppendLogin(nil, service.LoginRequest{ClientID: "c", Secret: "s"}) }},
		} {
			got, err := row.got()
			check(t, err)
			if string(got) != row.want {
				t.Errorf("%s: got %s, want %s", name, got, row.want)
			}
		}
	}
}

// TestDecodeDataType has what others may send: each row is what must be read, or a part of the error.
func TestDecodeDataType(t *testing.T) {
	for _, row := range []struct {
		in   string
		want service.DataType
		err  string
	}{
		{in: `{}`},
		{in: "\xef\xbb\xbf{\"codeId\":1}", want: service.DataType{CodeID: 1}},
		{in: ` { "codeId" : 1 , "cnName" : "x" } ` + "\r\n", want: service.DataType{CodeID: 1, CnName: "x"}},
		{in: `{"codeId":9223372036854775807}`, want: service.DataType{CodeID: math.MaxInt64}},
		{in: `{"codeId":"9223372036854775807"}`, want: service.DataType{CodeID: math.MaxInt64}},
		{in: `{"codeId":"-9223372036854775808"}`, want: service.DataType{CodeID: math.MinInt64}},
		{in: `{"codeId":9007199254740993}`, want: service.DataType{CodeID: 1<<53 + 1}}, // 2^53 + 1 is no float64
		{in: `{"later":null,"more":[null,{"codeId":null}],"cnName":"null"}`, want: service.DataType{CnName: "null"}},
		{in: `{"later":{"a":[1,{"b":2}],"c":"}"},"codeId":5}`, want: service.DataType{CodeID: 5}},
		{in: `{"cnName":"\u8a9e\ud83d\ude00\n"}`, want: service.DataType{CnName: "語\U0001F600\n"}},
		{in: `{"\u0063nName":"x"}`, want: service.DataType{CnName: "x"}},
		{in: `{"authRp":{"token":"a","more":1}}`, want: service.DataType{Token: "a"}},

		{in: ``, err: "line 1, byte 1: unexpected end"},
		{in: `{"codeId":1`, err: "line 1, byte 12: unexpected end"},
		{in: "{\n\"codeId\":1,\n oops}", err: "line 3, byte 2: invalid character 'o'"},
		{in: `{"codeId":1} {}`, err: "line 1, byte 14: invalid character '{' after top-level value"},
		{in: `{"codeId":1}x`, err: "byte 13: invalid character 'x' after top-level value"},
		{in: `{"codeId":1,}`, err: "byte 13: invalid character '}'"},
		{in: `{"codeId":1.5}`, err: "codeId cannot be 1.5, only a whole number of 64 bits"},
		{in: `{"codeId":1e3}`, err: "codeId cannot be 1e3"},
		{in: `{"codeId":9223372036854775808}`, err: "codeId cannot be 9223372036854775808"},
		{in: `{"codeId":"+1"}`, err: `codeId cannot be "+1"`},
		{in: `{"codeId":""}`, err: `codeId cannot be ""`},
		{in: `{"codeId":01}`, err: "byte 12: invalid character '1'"},
		{in: `{"codeId":` + "\x00" + `5}`, err: "byte 11: invalid character"},
		{in: `{"codeId":true}`, err: "codeId cannot be true"},
		{in: `{"cnName":5}`, err: "cnName cannot be number"},
		{in: `{"authRp":{"token":5}}`, err: "authRp.token cannot be number"},
		{in: `[]`, err: "the message cannot be array"},
		{in: "\r\n null", err: "line 2, byte 2: the message cannot be null: {} is the message of zeros"},
		{in: "{\"codeId\":1,\n\"authRp\":null}", err: "line 2, byte 10: authRp cannot be null: leave it out for its zero"},
		{in: `{"authRp":{"token":null}}`, err: "line 1, byte 20: authRp.token cannot be null"},
		{in: `{"CODEID":null}`, err: "line 1, byte 11: CODEID cannot be null"},
		{in: `{"x":1e999,"cnName":null}`, err: "byte 21: cnName cannot be null"},
		{in: `{"codeId":1,"codeId":2}`, err: `byte 13: the name "codeId" stands twice`},
		{in: `{"codeId":1,"\u0063odeId":2}`, err: `byte 13: the name "codeId" stands twice`},
		{in: `{"x":[{"a":1},{"a":1,"b":{"a":1},"a":1}]}`, err: `byte 34: the name "a" stands twice`},
		{in: "{\"cnName\":\"\xff\"}", err: "byte 12: not valid UTF-8"},
		{in: "{\"cnName\":\"a\nb\"}", err: "invalid character '\\n' in string literal"},
		{in: `{` + manyNames(40) + `,"n0":1}`, err: `the name "n0" stands twice`},
		{in: strings.Repeat("[", 20_000), err: "exceeded max depth"},
	} {
		for name, c := range codecs {
			got, err := c.DecodeDataType([]byte(row.in))
			label := fmt.Sprintf("%s: %.60q", name, row.in)
			if row.err == "" {
				if err != nil {
					t.Errorf("%s: got error %v, want %+v", label, err, row.want)
				} else if got != row.want {
					t.Errorf("%s: got %+v, want %+v", label, got, row.want)
				}
				continue
			}
			e := service.AsError(err)
			if e == nil || e.Code != service.InvalidArgument || !strings.Contains(e.Msg, row.err) {
				t.Errorf("%s: got error %v, want invalid_argument with %q", label, err, row.err)
			}
		}
	}
}

func manyNames(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf(`"n%d":0`, i))
	}
	return strings.Join(names, ",")
}

// TestOthersDecode takes numbers as strings everywhere, and refuses the same faults in every message.
func TestOthersDecode(t *testing.T) {
	for name, c := range codecs {
		p, err := c.DecodePoint([]byte(`{"latitude":"-2147483648","longitude":2147483647}`))
		check(t, err)
		same(t, p, service.Point{Latitude: math.MinInt32, Longitude: math.MaxInt32})
		for _, in := range []string{`{"latitude":2147483648}`, `{"latitude":1}}`, `{"latitude":1,"latitude":1}`, `5`} {
			if _, err := c.DecodePoint([]byte(in)); service.AsError(err) == nil {
				t.Errorf("%s: point %s: got no error", name, in)
			}
		}
		_, failed, err := c.DecodeFeature([]byte(`{"error":{"code":"unavailable","detail":"gone"}}`))
		check(t, err)
		same(t, failed, &service.Error{Code: service.Unavailable, Msg: "gone"})
		_, end, _, err := c.DecodeChat([]byte(` {"end" : true} `))
		if !end || err != nil {
			t.Errorf("%s: the end of a chat: got %v, %v", name, end, err)
		}
		_, _, failed, err = c.DecodeChat([]byte(`{"error":{"code":"internal","detail":"x"}}`))
		check(t, err)
		same(t, failed, &service.Error{Code: service.Internal, Msg: "x"})
	}
}

// TestRefusesToReplace: JSON can't carry what is not UTF-8, and a key must not become another.
func TestRefusesToReplace(t *testing.T) {
	const bad = "a\xffb"
	for name, c := range codecs {
		for field, rq := range map[string]service.DataTypeRequest{
			"authRq.clientId": {Auth: service.Auth{ClientID: bad}}, "authRq.token": {Auth: service.Auth{Token: bad}},
			"groupName": {Group: bad}, "enName": {Name: bad},
		} {
			_, err := c.AppendDataTypeRequest(nil, rq)
			if e := service.AsError(err); e == nil || e.Code != service.InvalidArgument || !strings.HasPrefix(e.Msg, field) {
				t.Errorf("%s: got %v, want invalid_argument that names %s", name, err, field)
			}
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		if len(diff) > 400 {
			diff = diff[:400] + "..."
		}
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestBase64: bytes are read in every form that canonical proto JSON allows, and in no other.
func TestBase64(t *testing.T) {
	for name, c := range codecs {
		for _, row := range []struct {
			in   string
			want string // of the bytes
			err  string // part of it
		}{
			{`{"data":"+/8="}`, "\xfb\xff", ""},
			{`{"data":"+/8"}`, "\xfb\xff", ""},
			{`{"data":"-_8="}`, "\xfb\xff", ""},
			{`{"data":"-_8"}`, "\xfb\xff", ""},
			{`{"data":"+\/8="}`, "\xfb\xff", ""},
			{`{"data":""}`, "", ""},
			{`{}`, "", ""},
			{`{"data":"+_8="}`, "", `data cannot be "+_8=", only bytes in base64`},
			{`{"data":"+/8=="}`, "", "only bytes in base64"},
			{`{"data":"+"}`, "", "only bytes in base64"},
			{`{"data":"+/\n8="}`, "", "only bytes in base64"},
			{`{"data":5}`, "", "data cannot be 5, only bytes in base64"},
			{`{"data":[251,255]}`, "", "data cannot be [251,255], only bytes in base64"},
			{`{"data":null}`, "", "line 1, byte 9: data cannot be null"},
			{`{"data":"` + strings.Repeat("!", 1000) + `"}`, "", `!!!..., only bytes in base64`},
		} {
			got, err := c.DecodePayload([]byte(row.in))
			if row.err == "" && (err != nil || string(got.Data) != row.want) || row.err != "" && (err == nil || !strings.Contains(err.Error(), row.err)) {
				t.Errorf("%s: %.60s: got %q, %v, want %q, %q", name, row.in, got.Data, err, row.want, row.err)
			}
		}
	}
}
