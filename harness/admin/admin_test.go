package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/harness/meter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// begun is a listener of this process with these options, of which Read has a default.
func begun(t *testing.T, o Options) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if o.Read == nil {
		o.Read = Own(func() map[string]int64 { return map[string]int64{"calls": 7} })
	}
	s := Listen(l, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func dialled(t *testing.T, s *Server) *Client {
	t.Helper()
	c, err := Dial(t.Context(), s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// got is an answer. The transport is the test's own, so that its connections end with it.
func got(t *testing.T, s *Server, method, path, host string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Addr().String()+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

// burn uses that much CPU, and more by as little as it takes to see it.
func burn(d time.Duration) {
	used := func() time.Duration {
		var ru syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
			panic(err)
		}
		return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	for begin := used(); used()-begin < d; {
	}
}

// Two readings differ by what the process did between them, over the wire as beside it.
func TestUsage(t *testing.T) {
	s := begun(t, Options{Own: true})
	s.Ready(Info{Role: RoleServer, Serves: "grpc", Version: "v1"})
	c := dialled(t, s)
	if i := c.Info(); i.Role != RoleServer || i.Serves != "grpc" || i.Version != "v1" || i.CPUs < 1 || i.Go == "" || i.Examines {
		t.Errorf("info %+v", i)
	}
	before, err := c.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	near, err := meter.Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	const work = 50 * time.Millisecond
	burn(work)
	nearAfter, err := meter.Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u, err := meter.Sub(after.Reading, before.Reading)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := meter.Sub(nearAfter, near)
	if err != nil {
		t.Fatal(err)
	}
	// The far readings enclose the near ones.
	if u.CPU < inner.CPU || u.CPU < work || u.Elapsed < inner.Elapsed || u.CPU > 10*work {
		t.Errorf("read %+v where %+v lies within it", u, inner)
	}
	if after.PID != os.Getpid() || after.Counters["calls"] != 7 || after.RSS == nil || after.RSSPeak == nil || after.Voluntary == nil || after.Born == nil {
		t.Errorf("usage %+v", after)
	}
}

func TestLifeOfAListener(t *testing.T) {
	s := begun(t, Options{})
	for _, step := range []struct {
		do    func()
		ready int
	}{
		{func() {}, http.StatusServiceUnavailable},
		{func() { s.Ready(Info{}) }, http.StatusOK},
		{s.Stopping, http.StatusServiceUnavailable},
	} {
		step.do()
		for path, want := range map[string]int{"/health": http.StatusOK, "/usage": http.StatusOK, "/ready": step.ready, "/info": step.ready} {
			if code, body := got(t, s, http.MethodGet, path, ""); code != want {
				t.Errorf("%s: %d (%s), want %d", path, code, body, want)
			}
		}
	}
	_, err := Dial(t.Context(), s.Addr().String())
	if err == nil || errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "not ready") {
		t.Errorf("dialling one that is not ready: %v", err)
	}
}

// Names that are not its own are refused, whatever is asked; so are changes from other pages.
func TestHosts(t *testing.T) {
	s := begun(t, Options{Hosts: []string{"grpc", "Bake.Example"}, Examine: func(context.Context, func(int)) error { return errors.New("asked") }})
	for host, ok := range map[string]bool{
		"": true, "localhost": true, "LocalHost:123": true, "localhost.": true, "[::1]:80": true, "10.1.2.3": true, "::1": true,
		"grpc:9000": true, "GRPC": true, "bake.example": true,
		"evil.example": false, "evil.example:80": false, "127.0.0.1.evil.example": false, "grpc.evil.example": false, "localhost.evil.example": false,
	} {
		want := http.StatusMisdirectedRequest
		if ok {
			want = http.StatusOK
		}
		for _, path := range []string{"/health", "/usage", "/metrics"} {
			if code, body := got(t, s, http.MethodGet, path, host); code != want {
				t.Errorf("%s for host %q: %d (%s), want %d", path, host, code, body, want)
			}
		}
	}
	if code, body := got(t, s, http.MethodPost, "/examine", "", "Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"); code != http.StatusForbidden {
		t.Errorf("an examination for a page of elsewhere: %d (%s)", code, body)
	}
	if code, body := got(t, s, http.MethodPost, "/examine", ""); code != http.StatusOK || !strings.Contains(body, "asked") {
		t.Errorf("an examination: %d (%s)", code, body)
	}
}

func TestPprofOnlyWhenAsked(t *testing.T) {
	for asked, want := range map[bool]int{true: http.StatusOK, false: http.StatusNotFound} {
		s := begun(t, Options{Pprof: asked})
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline"} {
			if code, _ := got(t, s, http.MethodGet, path, ""); code != want {
				t.Errorf("%s, asked for: %t: %d, want %d", path, asked, code, want)
			}
		}
	}
}

func TestMetricsAndRuntime(t *testing.T) {
	s := begun(t, Options{Own: true})
	s.Ready(Info{Role: RoleServer, Serves: "grpc", Version: "v1"})
	_, body := got(t, s, http.MethodGet, "/metrics", "")
	for _, want := range []string{
		`bakeoff_info{role="server",serves="grpc",version="v1"} 1`, "bakeoff_ready 1", "bakeoff_cpu_seconds_total ", "bakeoff_resident_memory_bytes ",
		`bakeoff_operations_total{kind="calls"} 7`, "go_goroutines ", "process_open_fds ",
	} {
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("%q is missing in:\n%s", want, body)
		}
	}
	_, body = got(t, s, http.MethodGet, "/runtime", "")
	var figures map[string]float64
	if err := json.Unmarshal([]byte(body), &figures); err != nil || figures["/sched/goroutines:goroutines"] < 1 || figures["/gc/heap/live:bytes"] < 0 {
		t.Errorf("%v: %s", err, body)
	}
	// What can't be read is left out: a zero would be a figure.
	gone := begun(t, Options{Read: func() (Usage, error) { return Usage{}, meter.ErrGone }})
	code, body := got(t, gone, http.MethodGet, "/metrics", "")
	if code != http.StatusOK || strings.Contains(body, "bakeoff_cpu_seconds") || strings.Contains(body, "go_goroutines") || !strings.Contains(body, "bakeoff_ready 0") {
		t.Errorf("%d: %s", code, body)
	}
	if code, body := got(t, gone, http.MethodGet, "/usage", ""); code != http.StatusServiceUnavailable || !strings.Contains(body, "gone") {
		t.Errorf("%d: %s", code, body)
	}
}

// An examination lasts as long as its request, and there is one at a time.
func TestExamine(t *testing.T) {
	began, over := make(chan struct{}, 2), make(chan error, 2)
	s := begun(t, Options{Examine: func(ctx context.Context, tell func(int)) error {
		tell(4711)
		began <- struct{}{}
		<-ctx.Done()
		over <- context.Cause(ctx)
		return context.Cause(ctx)
	}})
	s.Ready(Info{})
	c := dialled(t, s)
	if !c.Info().Examines {
		t.Error("it does not say that it examines")
	}
	err := c.Examine(t.Context(), func(ctx context.Context, port int) error {
		<-began
		if port != 4711 {
			t.Errorf("port %d", port)
		}
		err := c.Examine(ctx, func(context.Context, int) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "one at a time") {
			t.Errorf("a second examination: %v", err)
		}
		return errors.New("what use says")
	})
	if err == nil || err.Error() != "what use says" {
		t.Errorf("%v", err)
	}
	<-over
}

// A listener that starts none in its time is not waited for.
func TestExamineHasALimit(t *testing.T) {
	s := begun(t, Options{Examine: func(ctx context.Context, _ func(int)) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}})
	s.Ready(Info{})
	err := dialled(t, s).examine(t.Context(), 50*time.Millisecond, func(context.Context, int) error { t.Error("it was used"); return nil })
	if err == nil || !strings.Contains(err.Error(), "answered nothing within 50ms: its process is stopped, or hangs") {
		t.Errorf("%v", err)
	}
}

// The end of the server that is examined ends what uses it.
func TestExamineEndsWithItsServer(t *testing.T) {
	end := make(chan struct{})
	s := begun(t, Options{Examine: func(_ context.Context, tell func(int)) error {
		tell(1)
		<-end
		return errors.New("it died")
	}})
	s.Ready(Info{})
	err := dialled(t, s).Examine(t.Context(), func(ctx context.Context, _ int) error {
		close(end)
		<-ctx.Done()
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("%v", err)
	}
	failing := begun(t, Options{Examine: func(context.Context, func(int)) error { return errors.New("no room") }})
	failing.Ready(Info{})
	err = dialled(t, failing).Examine(t.Context(), func(context.Context, int) error { t.Error("it was used"); return nil })
	if err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("%v", err)
	}
}

// What answers otherwise is told apart from what does not answer.
func TestDialForeign(t *testing.T) {
	raw := func(words string) string { // says something as soon as it is spoken to, and closes
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				if line, err := bufio.NewReader(c).ReadString('\n'); err == nil && line != "" {
					_, _ = io.WriteString(c, words) // it may be gone
				}
				c.Close()
			}
		}()
		t.Cleanup(func() { l.Close(); <-done })
		return l.Addr().String()
	}
	other := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	for name, row := range map[string]struct {
		addr, want string
	}{
		"404":        {other(http.StatusNotFound, "no"), "HTTP 404"},
		"redirect":   {other(http.StatusFound, ""), "HTTP 302"},
		"not JSON":   {other(http.StatusOK, "<html>"), "/info"},
		"other JSON": {other(http.StatusOK, `{"kind":"something"}`), `kind "something"`},
		"much":       {other(http.StatusOK, strings.Repeat("[", 2*maxAnswer)), "/info"},
		"not HTTP":   {raw("\x00\x00\x06\x04\x00\x00\x00\x00\x00"), "does not speak HTTP"},
		"no word":    {raw(""), "does not speak HTTP"},
	} {
		c, err := Dial(t.Context(), row.addr)
		if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, %v; want ErrForeign with %q", name, c, err, row.want)
		}
	}
	if _, err := Dial(t.Context(), other(http.StatusOK, `{"kind":"bakeoff-admin","schema":99}`)); err == nil || errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), "schema is 99") {
		t.Errorf("a newer one: %v", err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if _, err := Dial(t.Context(), closed.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nobody there: %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes the connection, and nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, silent.Addr().String()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no answer: %v", err)
	}
}
