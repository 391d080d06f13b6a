package nethttpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
	"bakeoff/servers/nethttpserver"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// versions runs a test over both.
func versions(t *testing.T, test func(t *testing.T, v nethttp.Version)) {
	for name, v := range map[string]nethttp.Version{"HTTP1": nethttp.HTTP1, "HTTP2": nethttp.HTTP2} {
		t.Run(name, func(t *testing.T) { test(t, v) })
	}
}

// server serves until it is stopped, at the latest when the test ends.
type server struct {
	addr string
	stop func() // returns when Serve has returned nil
	http *http.Transport
}

func serve(t *testing.T, v nethttp.Version, a service.API, o protocol.Options, patience time.Duration) server {
	t.Helper()
	addr, stop := servicetest.Serve(t, func(ctx context.Context, l net.Listener) error {
		return nethttpserver.ServeDraining(ctx, l, a, o, v, patience)
	})
	s := server{addr: addr, http: &http.Transport{Protocols: new(http.Protocols)}, stop: stop}
	s.http.Protocols.SetHTTP1(v == nethttp.HTTP1)
	s.http.Protocols.SetUnencryptedHTTP2(v == nethttp.HTTP2)
	t.Cleanup(s.http.CloseIdleConnections)
	return s
}

// answer is what came back of a request.
type answer struct {
	status int
	header http.Header
	body   string
}

// do makes a request over the version that s speaks.
func (s server) do(t *testing.T, method, path string, body io.Reader, header ...string) answer {
	t.Helper()
	rp := s.open(t, method, path, body, header...)
	defer rp.Body.Close()
	b, err := io.ReadAll(rp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{rp.StatusCode, rp.Header, string(b)}
}

func (s server) open(t *testing.T, method, path string, body io.Reader, header ...string) *http.Response {
	t.Helper()
	rq, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.addr+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		rq.Header.Set(header[i], header[i+1])
	}
	rp, err := s.http.RoundTrip(rq)
	if err != nil {
		t.Fatal(err)
	}
	return rp
}

// problem is the detail of an answer that is one.
func (a answer) problem(t *testing.T) (p httpapi.Problem) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.header.Get("Content-Type") != httpapi.TypeProblem || p.Status != a.status {
		t.Errorf("status %d: the problem %q of type %q: %v", a.status, a.body, a.header.Get("Content-Type"), err)
	}
	return p
}

// TestOpenAPIPaths: each version's file lists the served paths, each answers to its methods, and to others with 405.
// TestRequests has what clients may send, and what is to become of it.
// TestTokensAndHeaders: where a token is taken from, that one is handed out as a cookie, and what else stands above an answer.
// TestContextEndsWithItsClient: the rules learn that nobody waits any more.
// TestUploadPauses: an upload may take longer than the server keeps idle connections, but not pause as long.
// TestChatLines: the head comes before the first note, each note is answered before the next, and either side may fail.
// TestChatRefused: a chat that asks for no WebSocket is refused with a problem.
// TestStop: a server that is told to stop closes idle connections, and those that never carried a call, at once; lets what
// is under way end; and ends after its patience what does not.
// TestServeFails: what keeps a server from serving is an error.
