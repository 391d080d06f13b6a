package httpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// TestOpenAPIPaths: the file lists the served paths, each answers to its method, and to others with 405.
func TestOpenAPIPaths(t *testing.T) {
	s := serve(t, echo, protocol.Options{})
	a := do(t, "GET", s.addr+"/openapi.json", "")
	var doc struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(a.body), &doc); err != nil || a.status != 200 || a.body != string(httpapi.OpenAPI) {
		t.Fatalf("the OpenAPI file: status %d, %v", a.status, err)
	}
	want := []string{httpapi.PathChat, httpapi.PathDataType, httpapi.PathFeatures, httpapi.PathFeatures + "/{place}", httpapi.PathHealth,
		httpapi.PathLogin, httpapi.PathEcho, httpapi.PathOpenAPI, httpapi.PathRoutes}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(doc.Paths)); !slices.Equal(got, want) {
		t.Errorf("the OpenAPI file has paths %q, served are %q", got, want)
	}
	for path, methods := range doc.Paths {
		path = strings.Replace(path, "{place}", "1,2", 1)
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			a := do(t, method, s.addr+path, "")
			_, listed := methods[strings.ToLower(method)]
			if served := a.status != 404 && a.status != 405; served != listed {
				t.Errorf("%s %s: got status %d, listed is %v", method, path, a.status, listed)
			}
			if a.status == 405 {
				p := a.problem(t)
				if allow := a.header.Get("Allow"); allow == "" || strings.Contains(allow, method) || p.Code != "invalid_argument" {
					t.Errorf("%s %s: got Allow %q, code %q", method, path, allow, p.Code)
				}
			}
		}
	}
	for _, path := range []string{"/", "/v1", "/v1/datatype/", "/v1/features/", "/healthz/x", "/v1/DataType"} {
		if a := do(t, "GET", s.addr+path, ""); a.status != 404 || a.problem(t).Code != "not_found" {
			t.Errorf("%s: got status %d, want 404", path, a.status)
		}
	}
	if a := do(t, "GET", s.addr+"/healthz", ""); a.status != 200 || a.body != `{"status":"ok"}` {
		t.Errorf("healthz: got %d %q", a.status, a.body)
	}
}

// TestBodies has what clients may send to a path that takes JSON.
func TestBodies(t *testing.T) {
	const limit = 10_000
	const good = `{"groupName":"g","enName":"n"}`
	const goodAnswer = `{"authRp":{"token":""},"codeId":1,"cnName":"g|n"}`
	// What stands around the text in {"groupName":""} counts too: 16 bytes.
	sized := func(n int) string { return `{"groupName":"` + strings.Repeat("x", n-16) + `"}` }
	for name, knobs := range map[string]map[string]string{"std": nil, "fast": {"codec": "fast"}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, echo, protocol.Options{MaxMessage: limit, Knobs: knobs})
			for _, row := range []post{
				{name: "plain", body: good, contentType: "application/json", status: 200, want: goodAnswer},
				{name: "charset", body: good, contentType: "Application/JSON; charset=utf-8", status: 200, want: goodAnswer},
				{name: "no type", body: good, status: 200, want: goodAnswer},
				{name: "byte-order mark", body: "\xef\xbb\xbf" + good, status: 200, want: goodAnswer},
				{name: "wrong type", body: good, contentType: "text/plain", status: 415, want: "send application/json"},
				{name: "prefix of the type", body: good, contentType: "application/json5", status: 415, want: "send application/json"},
				{name: "no body", status: 400, want: "line 1, byte 1: unexpected end"},
				{name: "bad JSON", body: "{\n\"groupName\": oops}", status: 400, want: "line 2, byte 14"},
				{name: "nothing set", body: "{}", status: 200, want: `{"authRp":{"token":""},"codeId":0,"cnName":"|"}`},
				{name: "null", body: "\n null", status: 400, want: "line 2, byte 2: the message cannot be null"},
				{name: "null where an object belongs", body: `{"authRq":null}`, status: 400, want: "line 1, byte 11: authRq cannot be null"},
				{name: "garbage after it", body: good + "x", status: 400, want: "after top-level value"},
				{name: "twice", body: `{"enName":"a","enName":"b"}`, status: 400, want: "stands twice"},
				{name: "at the limit", body: sized(limit - 100), status: 200, want: fmt.Sprintf(`"codeId":%d`, limit-116)},
				{name: "one over the limit", body: sized(limit + 1), status: 413, want: "larger than the limit of 10000 bytes"},
				{name: "far over the limit", body: sized(50 * limit), status: 413, want: "larger than the limit of 10000 bytes"},
			} {
				row.check(t, s.addr+httpapi.PathDataType)
			}
		})
	}
}

// TestLargeAnswer: an answer is held to the limit too.
func TestLargeAnswer(t *testing.T) {
	s := serve(t, servicetest.API{OnGetFeature: func(context.Context, service.Point) (service.Feature, error) {
		return service.Feature{Name: strings.Repeat("x", 1000)}, nil
	}}, protocol.Options{MaxMessage: 1000})
	a := do(t, "GET", s.addr+"/v1/features/1,2", "")
	if p := a.problem(t); a.status != 413 || p.Code != "resource_exhausted" {
		t.Errorf("got status %d, %+v, want 413", a.status, p)
	}
}

// TestCodes: each code has its status, and what is no *service.Error is internal.
func TestCodes(t *testing.T) {
	s := serve(t, servicetest.API{OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
		for _, c := range service.Codes() {
			if c.String() == r.Name {
				return service.DataType{}, fmt.Errorf("around it: %w", &service.Error{Code: c, Msg: "語音 <" + r.Name + ">", Cause: "planted"})
			}
		}
		return service.DataType{}, io.ErrNoProgress
	}}, protocol.Options{})
	for name, want := range map[string]int{"invalid_argument": 400, "unauthenticated": 401, "not_found": 404, "unavailable": 503,
		"deadline_exceeded": 504, "resource_exhausted": 429, "internal": 500} {
		a := do(t, "POST", s.addr+httpapi.PathDataType, `{"enName":"`+name+`"}`)
		if p := a.problem(t); a.status != want || p.Code != name || p.Detail != "語音 <"+name+">" || p.Cause != "planted" {
			t.Errorf("%s: got status %d, %+v, want %d", name, a.status, p, want)
		}
	}
	a := do(t, "POST", s.addr+httpapi.PathDataType, `{"enName":"other"}`)
	if p := a.problem(t); a.status != 500 || p.Code != "internal" || p.Detail != io.ErrNoProgress.Error() {
		t.Errorf("another error: got status %d, %+v, want 500", a.status, p)
	}
}

// TestTokens: where a token is taken from, and when one is set as a cookie.
func TestTokens(t *testing.T) {
	s := serve(t, servicetest.API{
		OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
			token := r.Auth.Token
			if r.Name == "renew" {
				token += "+"
			}
			return service.DataType{Token: token, CnName: r.Auth.Token}, nil
		},
	}, protocol.Options{})
	a := do(t, "POST", s.addr+httpapi.PathLogin, `{"clientId":"c","secret":"s"}`)
	if want := `{"token":"c/s","expiresUnixMs":1900000000123}`; a.body != want {
		t.Errorf("login: got %s, want %s", a.body, want)
	}
	if got, want := a.header.Get("Set-Cookie"), "token=c/s; expires=Sun, 17 Mar 2030 17:46:40 GMT; path=/; HttpOnly; SameSite=Lax"; got != want {
		t.Errorf("login: got cookie %q, want %q", got, want)
	}
	const body, cookie, bearer = `,"authRq":{"token":"b"}`, "token=c; other=x", "bearer h"
	for _, row := range []struct {
		name, body, cookie, bearer, enName string
		want, set                          string
	}{
		{name: "none"},
		{name: "body", body: body, want: "b"},
		{name: "cookie", cookie: cookie, want: "c"},
		{name: "bearer", bearer: bearer, want: "h"},
		{name: "body first", body: body, cookie: cookie, bearer: bearer, want: "b"},
		{name: "cookie before bearer", cookie: cookie, bearer: bearer, want: "c"},
		{name: "empty in the body", body: `,"authRq":{"token":""}`, cookie: cookie, want: "c"},
		{name: "another scheme", bearer: "Basic aDpo"},
		{name: "renewed", body: body, enName: "renew", want: "b", set: "token=b+; path=/; HttpOnly; SameSite=Lax"},
		{name: "renewed from the cookie", cookie: cookie, enName: "renew", want: "c", set: "token=c+; path=/; HttpOnly; SameSite=Lax"},
	} {
		var header []string
		if row.cookie != "" {
			header = append(header, "Cookie", row.cookie)
		}
		if row.bearer != "" {
			header = append(header, "Authorization", row.bearer)
		}
		a := do(t, "POST", s.addr+httpapi.PathDataType, `{"enName":"`+row.enName+`"`+row.body+`}`, header...)
		var got struct{ CnName string }
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || got.CnName != row.want {
			t.Errorf("%s: the token is %q, want %q (%d %s)", row.name, got.CnName, row.want, a.status, a.body)
		}
		if set := a.header.Get("Set-Cookie"); set != row.set {
			t.Errorf("%s: got cookie %q, want %q", row.name, set, row.set)
		}
	}
}

func TestPlaces(t *testing.T) {
	s := serve(t, echo, protocol.Options{})
	for _, row := range []struct {
		path   string
		status int
		want   string
	}{
		{"/v1/features/407838351,-746143763", 200, `{"name":"地點","location":{"latitude":407838351,"longitude":-746143763}}`},
		{"/v1/features/-2147483648%2C2147483647", 200, `{"name":"地點","location":{"latitude":-2147483648,"longitude":2147483647}}`},
		{"/v1/features/1;2", 400, "path: "},
		{"/v1/features/1,2147483648", 400, "path: the longitude"},
		{"/v1/features?lo=1,2&hi=3,4", 200, `{"name":"lo","location":{"latitude":1,"longitude":2}}` + "\n" + `{"name":"hi","location":{"latitude":3,"longitude":4}}` + "\n"},
		{"/v1/features?lo=1,2", 400, "query hi: "},
		{"/v1/features", 400, "query lo: "},
	} {
		a := do(t, "GET", s.addr+row.path, "")
		got := a.body
		if a.status >= 400 {
			got = a.problem(t).Detail
		}
		if a.status != row.status || !strings.HasPrefix(got, row.want) {
			t.Errorf("%s: got %d %q, want %d %q", row.path, a.status, got, row.status, row.want)
		}
		if head := do(t, "HEAD", s.addr+row.path, ""); head.status != row.status || head.body != "" {
			t.Errorf("HEAD %s: got %d %q", row.path, head.status, head.body)
		}
	}
}

// TestHeaders: what is sent beside the answer, in the default and with headers off.
func TestHeaders(t *testing.T) {
	for knob, want := range map[string][]string{
		"on":  {"Content-Length", "Content-Type", "Date", "Server"},
		"off": {"Content-Length"},
	} {
		s := serve(t, echo, protocol.Options{Knobs: map[string]string{"headers": knob}})
		a := do(t, "POST", s.addr+httpapi.PathDataType, `{}`)
		if got := slices.Sorted(maps.Keys(a.header)); !slices.Equal(got, want) {
			t.Errorf("headers %s: got %q, want %q", knob, got, want)
		}
		if knob == "on" && a.header.Get("Content-Type") != "application/json" {
			t.Errorf("got content type %q", a.header.Get("Content-Type"))
		}
	}
}
