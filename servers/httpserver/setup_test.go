package httpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/protocol"
	"bakeoff/servers/httpserver"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// fasthttp has one clock for the Date header, which lives as long as the process.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// echo answers each call with what was asked.
var echo servicetest.API

// server is one that serves until it is stopped, at the latest when the test ends.
type server struct {
	addr string
	stop func() // returns when Serve has returned nil
}

func serve(t *testing.T, a service.API, o protocol.Options) server {
	t.Helper()
	return serveDraining(t, a, o, 3*time.Second)
}

func serveDraining(t *testing.T, a service.API, o protocol.Options, patience time.Duration) server {
	t.Helper()
	addr, stop := servicetest.Serve(t, func(ctx context.Context, l net.Listener) error {
		return httpserver.ServeDraining(ctx, l, a, o, patience)
	})
	return server{addr: addr, stop: stop}
}

// answer is what came back of a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// problem reads the body as a problem.
func (a answer) problem(t *testing.T) (p struct {
	Type, Title, Detail, Code, Cause string
	Status                           int
}) {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("status %d: got content type %q of a problem, body %.200q", a.status, got, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &p); err != nil {
		t.Errorf("the problem %q: %v", a.body, err)
	}
	if p.Status != a.status || p.Title != http.StatusText(a.status) || p.Type != "about:blank" {
		t.Errorf("a problem with status %d has %+v", a.status, p)
	}
	return p
}

// do makes a request with net/http, whose HTTP is not fasthttp's.
func do(t *testing.T, method, url, body string, header ...string) answer {
	t.Helper()
	return doReader(t, method, url, strings.NewReader(body), header...)
}

func doReader(t *testing.T, method, url string, body io.Reader, header ...string) answer {
	t.Helper()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	rq, err := http.NewRequestWithContext(t.Context(), method, "http://"+url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		rq.Header.Set(header[i], header[i+1])
	}
	rp, err := tr.RoundTrip(rq)
	if err != nil {
		t.Fatal(err)
	}
	defer rp.Body.Close()
	b, err := io.ReadAll(rp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{rp.StatusCode, rp.Header, string(b)}
}

// post is a body that a client may send, and what is to become of it.
type post struct {
	name, body, contentType string
	status                  int
	want                    string // the answer's body or a part of it, or of the problem's detail
}

// check sends it, with and without its length in the head.
func (p post) check(t *testing.T, url string) {
	t.Helper()
	for _, chunked := range []bool{false, true} {
		var body io.Reader = strings.NewReader(p.body)
		if chunked {
			body = io.MultiReader(body) // net/http does not know its length
		}
		var header []string
		if p.contentType != "" {
			header = []string{"Content-Type", p.contentType}
		}
		a := doReader(t, "POST", url, body, header...)
		got := a.body
		if a.status >= 400 {
			got = a.problem(t).Detail
		}
		if a.status != p.status || !strings.Contains(got, p.want) {
			t.Errorf("%s, chunked %v: got %d %.200q, want %d %.200q", p.name, chunked, a.status, got, p.status, p.want)
		}
	}
}
