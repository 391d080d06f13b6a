package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/service"
)

func TestRead(t *testing.T) {
	for _, row := range []struct {
		knobs map[string]string
		want  httpapi.Settings
		err   string
	}{
		{want: httpapi.Settings{Headers: true}},
		{knobs: map[string]string{"codec": "fast", "headers": "off"}, want: httpapi.Settings{Codec: httpapi.Codec{Fast: true}}},
		{knobs: map[string]string{"codec": "best"}, err: `option "codec": "best" is none of std, fast`},
		{knobs: map[string]string{"headers": ""}, err: `option "headers": "" is none of on, off`},
		{knobs: map[string]string{"compression": "gzip"}, want: httpapi.Settings{Headers: true, Compression: true}},
		{knobs: map[string]string{"compression": "br"}, err: `option compression: "br" is neither off nor gzip`},
		{knobs: map[string]string{"codecs": "std"}, err: `option "codecs": this protocol has codec, headers, compression`},
	} {
		got, err := httpapi.Read(protocol.Options{Knobs: row.knobs})
		if row.err == "" && (err != nil || got != row.want) || row.err != "" && (err == nil || err.Error() != row.err) {
			t.Errorf("%v: got %+v, %v, want %+v, %q", row.knobs, got, err, row.want, row.err)
		}
	}
}

func TestReadConn(t *testing.T) {
	for _, row := range []struct {
		keep string
		want httpapi.Settings
		kept int
		err  string
	}{
		{keep: "on", want: httpapi.Settings{Headers: true}, kept: -1},
		{keep: "off", want: httpapi.Settings{Headers: true, Closing: true}, kept: 0},
		{keep: "2", want: httpapi.Settings{Headers: true, Idle: 2}, kept: 2},
		{keep: "0", err: `option "keep-alive": "0" is none of on, off, or a number of connections from 1`, kept: -1},
		{keep: "", err: `option "keep-alive": "" is none of on, off, or a number of connections from 1`, kept: -1},
	} {
		o := protocol.Options{Knobs: map[string]string{"keep-alive": row.keep}}
		got, err := httpapi.ReadConn(o)
		if row.err == "" && (err != nil || got != row.want) || row.err != "" && (err == nil || err.Error() != row.err) {
			t.Errorf("%q: got %+v, %v, want %+v, %q", row.keep, got, err, row.want, row.err)
		}
		o.Knobs["read"] = "when-ready"
		row.want.WhenReady = true
		if got, err := httpapi.ReadConn(o); row.err == "" && (err != nil || got != row.want) {
			t.Errorf("%q, when ready: got %+v, %v, want %+v", row.keep, got, err, row.want)
		}
		o.Knobs["read"] = "later"
		if _, err := httpapi.ReadConn(o); err == nil || err.Error() != `option "read": "later" is none of at-once, when-ready` {
			t.Errorf("%q: %v", row.keep, err)
		}
		delete(o.Knobs, "read")
		if kept := httpapi.Kept(o); kept != row.kept {
			t.Errorf("%q: %d connections are kept, want %d", row.keep, kept, row.kept)
		}
		if _, err := httpapi.Read(o); err == nil {
			t.Errorf("%q: Read takes an option that it does not read", row.keep)
		}
	}
}

// TestProblems takes every code to a problem and back.
func TestProblems(t *testing.T) {
	statuses := map[service.Code]int{
		service.InvalidArgument: 400, service.Unauthenticated: 401, service.NotFound: 404, service.Unavailable: 503,
		service.DeadlineExceeded: 504, service.ResourceExhausted: 429, service.Internal: 500,
	}
	for _, code := range service.Codes() {
		for msg, cause := range map[string]string{"": "", "語音 <b>\"'&\n": "store_hot_key"} {
			sent := &service.Error{Code: code, Msg: msg, Cause: cause}
			p := httpapi.NewProblem(sent)
			if p.Status != statuses[code] || p.Title != http.StatusText(p.Status) {
				t.Errorf("%v: got status %d %q, want %d", code, p.Status, p.Title, statuses[code])
			}
			b := httpapi.AppendProblem(nil, p)
			if bytes.Contains(b, []byte(`"cause"`)) != (cause != "") {
				t.Errorf("%s: want the member cause to stand there only if there is one (%q)", b, cause)
			}
			if got := httpapi.ErrorOf(p.Status, b); *got != *sent {
				t.Errorf("%s: got %+v, want %+v", b, got, sent)
			}
			if _, got, err := (httpapi.Codec{}).DecodeFeature(httpapi.AppendFailure(nil, sent)); err != nil || *got != *sent {
				t.Errorf("in a stream: got %+v, %v, want %+v", got, err, sent)
			}
		}
	}
	large := fmt.Errorf("by way of the rules: %w", httpapi.TooLarge("note", 5))
	if p := httpapi.NewProblem(large); p.Status != 413 || p.Code != "resource_exhausted" || p.Detail != "the note is larger than the limit of 5 bytes" {
		t.Errorf("over the limit: got %+v, want status 413", p)
	}
	if got := httpapi.NewProblem(&service.Error{Code: service.Internal, Cause: "Not a cause"}).Cause; got != "" {
		t.Errorf("the cause %q was sent", got)
	}
	if got := httpapi.NewProblem(&service.Error{Code: 99}).Status; got != 500 {
		t.Errorf("a code that is none: got status %d, want 500", got)
	}
}

// TestErrorOf has the answers of others: gateways, other servers.
func TestErrorOf(t *testing.T) {
	for _, row := range []struct {
		status int
		body   string
		code   service.Code
		msg    string
	}{
		{413, `{"code":"resource_exhausted","detail":"big"}`, service.ResourceExhausted, "big"},
		{502, "<html>", service.Unavailable, `status Bad Gateway: "<html>"`},
		{503, "", service.Unavailable, "Service Unavailable"},
		{404, `{"detail":"no such place"}`, service.NotFound, "no such place"},
		{403, `{"title":5}`, service.Unauthenticated, `status Forbidden: "{\"title\":5}"`},
		{418, "", service.InvalidArgument, "I'm a teapot"},
		{429, "", service.ResourceExhausted, "Too Many Requests"},
		{504, "", service.DeadlineExceeded, "Gateway Timeout"},
		{302, "", service.Internal, "Found"},
		{500, `{"code":"new_code","detail":"x"}`, service.Internal, "x"},
		{500, strings.Repeat("x", 1000), service.Internal, `status Internal Server Error: "` + strings.Repeat("x", 40) + `"...`},
	} {
		if got := httpapi.ErrorOf(row.status, []byte(row.body)); got.Code != row.code || got.Msg != row.msg {
			t.Errorf("%d %.40q: got %v, want %v %s", row.status, row.body, got, row.code, row.msg)
		}
	}
}

func TestParsePoint(t *testing.T) {
	for in, want := range map[string]service.Point{
		"407838351,-746143763":   {Latitude: 407838351, Longitude: -746143763},
		"-2147483648,2147483647": {Latitude: -1 << 31, Longitude: 1<<31 - 1},
		"":                       {}, "1": {}, "1,": {}, "1,2,3": {}, "1.5,2": {}, "2147483648,0": {}, " 1,2": {}, strings.Repeat("9", 500) + ",1": {},
	} {
		got, err := httpapi.ParsePoint("query lo", in)
		if want != (service.Point{}) {
			if err != nil || got != want {
				t.Errorf("%q: got %v, %v, want %v", in, got, err, want)
			}
			continue
		}
		if e := service.AsError(err); e == nil || e.Code != service.InvalidArgument || !strings.HasPrefix(e.Msg, "query lo: ") || len(e.Msg) > 200 {
			t.Errorf("%q: got %v, want a short invalid_argument that names the place", in, err)
		}
	}
}

// TestOpenAPI: the file is whole: JSON, and every reference in it leads somewhere. That its paths are the served
// ones, the server's tests say.
func TestOpenAPI(t *testing.T) {
	var doc map[string]any
	check(t, json.Unmarshal(httpapi.OpenAPI, &doc))
	if doc["openapi"] != "3.1.0" {
		t.Errorf("got openapi %v", doc["openapi"])
	}
	refs := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				refs++
				var at any = doc
				for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
					at = at.(map[string]any)[name]
				}
				if at == nil {
					t.Errorf("%s leads nowhere", ref)
				}
			}
			for _, child := range v {
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(doc)
	if refs < 20 {
		t.Errorf("only %d references were seen", refs)
	}
	for _, code := range service.Codes() {
		if !bytes.Contains(httpapi.OpenAPI, []byte(`"`+code.String()+`"`)) {
			t.Errorf("code %v is not in the file", code)
		}
	}
}
