package nethttpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
	"bakeoff/servers/nethttpserver"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func TestOpenAPIPaths(t *testing.T) {
	versions(t, func(t *testing.T, v nethttp.Version) {
		s := serve(t, v, servicetest.API{}, protocol.Options{}, time.Second)
		var doc struct{ Paths map[string]map[string]any }
		if a := s.do(t, "GET", "/openapi.json", nil); json.Unmarshal([]byte(a.body), &doc) != nil || a.status != 200 {
			t.Fatalf("the OpenAPI file: status %d", a.status)
		}
		want := []string{httpapi.PathChat, httpapi.PathDataType, httpapi.PathEcho, httpapi.PathFeatures, httpapi.PathFeatures + "/{place}", httpapi.PathHealth,
			httpapi.PathLogin, httpapi.PathOpenAPI, httpapi.PathRoutes}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(doc.Paths)); !slices.Equal(got, want) {
			t.Errorf("the OpenAPI file has paths %q, served are %q", got, want)
		}
		for path, methods := range doc.Paths {
			path = strings.Replace(path, "{place}", "1,2", 1)
			for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
				a := s.do(t, method, path, nil)
				_, listed := methods[strings.ToLower(method)]
				if served := a.status != 404 && a.status != 405; served != listed {
					t.Errorf("%s %s: got status %d, listed is %v", method, path, a.status, listed)
				}
				if allow := a.header.Get("Allow"); a.status == 405 && (allow == "" || strings.Contains(allow, method)) {
					t.Errorf("%s %s: got Allow %q", method, path, allow)
				}
			}
		}
		if a := s.do(t, "GET", "/v1/nothing", nil); a.status != 404 || a.problem(t).Code != "not_found" {
			t.Errorf("a path that is none: got status %d", a.status)
		}
	})
}

func TestRequests(t *testing.T) {
	const limit = 10_000
	long := strings.Repeat("x", 50*limit)
	const point = `{"latitude":1,"longitude":2}`
	versions(t, func(t *testing.T, v nethttp.Version) {
		s := serve(t, v, servicetest.API{}, protocol.Options{MaxMessage: limit}, time.Second)
		for _, row := range []struct {
			name, path, body, contentType string
			status                        int
			want                          string
		}{
			{"plain", httpapi.PathDataType, `{"groupName":"g"}`, "", 200, `"cnName":"g|"`},
			{"charset", httpapi.PathDataType, `{}`, "Application/JSON; charset=utf-8", 200, `"cnName":"|"`},
			{"wrong type", httpapi.PathDataType, `{}`, "text/plain", 415, "send application/json"},
			{"no body", httpapi.PathDataType, "", "", 400, "line 1, byte 1"},
			{"bad JSON", httpapi.PathDataType, "{\noops", "", 400, "line 2, byte 1"},
			{"over the limit", httpapi.PathDataType, long, "", 413, "larger than the limit of 10000 bytes"},
			{"points", httpapi.PathRoutes, point + "\n" + point, "application/x-ndjson", 200, `"pointCount":2`},
			{"a bad point", httpapi.PathRoutes, point + "\n{]\n", "", 400, "message 2"},
			{"a point over the limit", httpapi.PathRoutes, point + "\n" + long, "", 413, "point in line 2 is larger than the limit"},
		} {
			for _, chunked := range []bool{false, true} {
				var body io.Reader = strings.NewReader(row.body)
				if chunked {
					body = io.MultiReader(body) // net/http does not know its length
				}
				var header []string
				if row.contentType != "" {
					header = []string{"Content-Type", row.contentType}
				}
				a := s.do(t, "POST", row.path, body, header...)
				got := a.body
				if a.status >= 400 {
					got = a.problem(t).Detail
				}
				if a.status != row.status || !strings.Contains(got, row.want) {
					t.Errorf("%s, chunked %v: got %d %.200q, want %d %q", row.name, chunked, a.status, got, row.status, row.want)
				}
			}
		}
	})
}

func TestTokensAndHeaders(t *testing.T) {
	versions(t, func(t *testing.T, v nethttp.Version) {
		s := serve(t, v, servicetest.API{}, protocol.Options{}, time.Second)
		a := s.do(t, "POST", httpapi.PathLogin, strings.NewReader(`{"clientId":"c","secret":"s"}`))
		if got, want := strings.ToLower(a.header.Get("Set-Cookie")), strings.ToLower("token=c/s; Path=/; Expires=Sun, 17 Mar 2030 17:46:40 GMT; HttpOnly; SameSite=Lax"); got != want {
			t.Errorf("login: got cookie %q, want %q", got, want)
		}
		for _, row := range []struct{ header, value, body, want string }{
			{"X", "", `{}`, ""},
			{"Cookie", "token=c; other=x", `{}`, "c"},
			{"Authorization", "bearer h", `{}`, "h"},
			{"Authorization", "Basic aDpo", `{}`, ""},
			{"Cookie", "token=c", `{"authRq":{"token":"b"}}`, "b"},
		} {
			a := s.do(t, "POST", httpapi.PathDataType, strings.NewReader(row.body), row.header, row.value)
			if want := `{"authRp":{"token":"` + row.want + `"},`; !strings.HasPrefix(a.body, want) {
				t.Errorf("%s %q, %s: got %s, want %s", row.header, row.value, row.body, a.body, want)
			}
			if got := slices.Sorted(maps.Keys(a.header)); !slices.Equal(got, []string{"Content-Length", "Content-Type", "Date"}) {
				t.Errorf("got headers %q", got)
			}
		}
		off := serve(t, v, servicetest.API{}, protocol.Options{Knobs: map[string]string{"headers": "off"}}, time.Second)
		for _, path := range []string{httpapi.PathFeatures + "/1,2", httpapi.PathFeatures + "?lo=1,2&hi=3,4"} {
			if a := off.do(t, "GET", path, nil); a.header.Get("Date") != "" || a.header.Get("Content-Type") != "" || a.status != 200 {
				t.Errorf("%s without headers: got %d, %v", path, a.status, a.header)
			}
		}
	})
}

func TestContextEndsWithItsClient(t *testing.T) {
	versions(t, func(t *testing.T, v nethttp.Version) {
		begun, ended := make(chan struct{}), make(chan struct{})
		s := serve(t, v, servicetest.API{OnGetFeature: func(ctx context.Context, _ service.Point) (service.Feature, error) {
			close(begun)
			<-ctx.Done()
			close(ended)
			return service.Feature{}, ctx.Err()
		}}, protocol.Options{}, time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		rq, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.addr+"/v1/features/1,2", nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() { <-begun; cancel() }()
		if rp, err := s.http.RoundTrip(rq); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", rp, err)
		}
		<-ended
	})
}

func TestUploadPauses(t *testing.T) {
	const idle = 600 * time.Millisecond
	versions(t, func(t *testing.T, v nethttp.Version) {
		s := serve(t, v, servicetest.API{}, protocol.Options{ServerIdle: idle}, time.Second)
		r, w := io.Pipe()
		go func() {
			tick := time.NewTicker(idle / 4)
			defer tick.Stop()
			for range 8 { // twice the idle time
				<-tick.C
				_, _ = io.WriteString(w, "{}\n")
			}
			w.Close()
		}()
		if a := s.do(t, "POST", httpapi.PathRoutes, r); a.status != 200 || !strings.Contains(a.body, `"pointCount":8`) {
			t.Errorf("got %d %s, want 8 points", a.status, a.body)
		}
		stops, last := io.Pipe()
		defer last.Close()
		go func() { _, _ = io.WriteString(last, "{}\n") }()
		if a := s.do(t, "POST", httpapi.PathRoutes, stops); a.status != 408 || a.problem(t).Code != "deadline_exceeded" {
			t.Errorf("an upload that stops: got %d %s, want 408", a.status, a.body)
		}
	})
}

func TestChatLines(t *testing.T) {
	const limit = 1000
	s := serve(t, nethttp.HTTP2, servicetest.API{}, protocol.Options{MaxMessage: limit}, time.Second)
	for _, row := range []struct{ name, last, want string }{
		{"the end", `{"end":true}`, `{"end":true}`},
		{"the body's end", "", `{"end":true}`},
		{"the client's failure", `{"error":{"detail":"mine","code":"not_found"}}`, `"detail":"mine","code":"not_found"`},
		{"no JSON", `oops`, `"code":"invalid_argument"`},
		{"over the limit", `{"message":"` + strings.Repeat("x", 9*limit) + `"}`, `"status":413`},
	} {
		r, w := io.Pipe()
		rp := s.open(t, "POST", httpapi.PathChat, r, "Content-Type", "application/x-ndjson")
		if rp.StatusCode != 200 || rp.Header.Get("Content-Type") != httpapi.TypeNDJSON {
			t.Fatalf("%s: got status %d, %v", row.name, rp.StatusCode, rp.Header)
		}
		lines := bufio.NewScanner(rp.Body)
		for i := range 3 {
			fmt.Fprintf(w, `{"message":"%d"}`+"\n", i)
			if !lines.Scan() || !strings.Contains(lines.Text(), fmt.Sprintf(`"message":"%d"`, i)) {
				t.Fatalf("%s: note %d: got %q, %v", row.name, i, lines.Text(), lines.Err())
			}
		}
		_, _ = io.WriteString(w, row.last)
		w.Close()
		if !lines.Scan() || !strings.Contains(lines.Text(), row.want) {
			t.Errorf("%s: got %q, %v, want %q", row.name, lines.Text(), lines.Err(), row.want)
		}
		if lines.Scan() || lines.Err() != nil {
			t.Errorf("%s: after it: got %q, %v", row.name, lines.Text(), lines.Err())
		}
		rp.Body.Close()
	}
}

func TestChatRefused(t *testing.T) {
	s := serve(t, nethttp.HTTP1, servicetest.API{}, protocol.Options{}, time.Second)
	if a := s.do(t, "GET", httpapi.PathChat, nil); a.status != 400 || !strings.Contains(a.problem(t).Detail, "/v1/chat is a WebSocket") {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestStop(t *testing.T) {
	versions(t, func(t *testing.T, v nethttp.Version) {
		begun, release := make(chan struct{}, 2), make(chan struct{})
		api := servicetest.API{
			OnGetFeature: func(context.Context, service.Point) (service.Feature, error) {
				begun <- struct{}{}
				<-release
				return service.Feature{Name: "done"}, nil
			},
			OnListFeatures: func(ctx context.Context, _ service.Rectangle) iter.Seq2[service.Feature, error] {
				begun <- struct{}{}
				<-ctx.Done()
				return service.Fail[service.Feature](ctx.Err())
			},
		}
		s := serve(t, v, api, protocol.Options{}, time.Minute)
		fresh, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer fresh.Close()
		got := make(chan answer)
		go func() { got <- s.do(t, "GET", "/v1/features/1,2", nil) }()
		<-begun
		stopped := make(chan struct{})
		go func() { defer close(stopped); s.stop() }()
		if b, err := io.ReadAll(fresh); len(b) > 0 && v == nethttp.HTTP1 {
			t.Errorf("a connection without a call: got %q, %v, want its end", b, err)
		}
		select {
		case <-stopped:
			t.Error("the server stopped with a call in flight")
		default:
		}
		close(release)
		if a := <-got; a.status != 200 || !strings.Contains(a.body, "done") {
			t.Errorf("the call: got %d %s", a.status, a.body)
		}
		<-stopped

		s = serve(t, v, api, protocol.Options{}, 50*time.Millisecond)
		go func() {
			rq, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.addr+"/v1/features?lo=1,2&hi=3,4", nil)
			if rp, err := s.http.RoundTrip(rq); err == nil {
				_, _ = io.Copy(io.Discard, rp.Body)
				rp.Body.Close()
			}
			close(got)
		}()
		<-begun
		s.stop()
		<-got
	})
}

func TestServeFails(t *testing.T) {
	versions(t, func(t *testing.T, v nethttp.Version) {
		for what, row := range map[string]struct {
			knobs map[string]string
			close bool
			says  string
		}{
			"a wrong option":    {map[string]string{"codec": "best"}, false, "best"},
			"a closed listener": {nil, true, "use of closed network connection"},
		} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			if row.close {
				l.Close()
			}
			if err := nethttpserver.ServeDraining(t.Context(), l, servicetest.API{}, protocol.Options{Knobs: row.knobs}, v, time.Second); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%s: got error %v, want %q", what, err, row.says)
			}
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
				c.Close()
				t.Errorf("%s: the listener is open", what)
			}
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := nethttpserver.ServeDraining(over, l, servicetest.API{}, protocol.Options{}, v, time.Second); err != nil {
			t.Errorf("a context that is over: got error %v", err)
		}
	})
}
