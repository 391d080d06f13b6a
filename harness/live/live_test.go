package live

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/harness/result"
	"bakeoff/harness/result/resulttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// growing is a result file that a test adds trials to.
type growing struct {
	*result.Writer
	round int
}

func newFile(t *testing.T, path string) *growing {
	t.Helper()
	w, err := result.Create(path, result.Header{Experiment: "datatype", Planned: 4, Seed: 7, Subjects: []result.Subject{{Name: "grpc", Conformant: true}, {Name: "<b>http", Conformant: true}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return &growing{Writer: w}
}

// add appends a round of both subjects.
func (g *growing) add(t *testing.T) {
	t.Helper()
	g.round++
	for i, name := range []string{"grpc", "<b>http"} {
		tr := result.Trial{Subject: name, Workload: "datatype", Mode: result.ModeClosed, Concurrency: 50, Conns: 1, Round: g.round, Order: 2*g.round - 1 + i, Messages: 1, Window: 1, Elapsed: 1,
			Outcomes: result.Outcomes{Started: 1000, OK: 990, Failed: map[string]uint64{"timeout": 10}}, Examples: []result.Example{{Class: "timeout", Message: "<script>late", Count: 10}},
			Values:     map[string]float64{result.Throughput: float64(1234 + 1000*i + g.round), result.ServerCPUPerReq: 20e-6},
			Histograms: []result.Histogram{resulttest.Times(t, "datatype", result.OutcomeOK, 990, 1e6), resulttest.Times(t, "datatype", "timeout", 10, 1e9)}}
		if err := g.Append(tr); err != nil {
			t.Fatal(err)
		}
	}
}

func serve(t *testing.T, o Options) (*Server, *httptest.Server) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() { h.Client().CloseIdleConnections(); h.Close() })
	return s, h
}

func get(t *testing.T, h *httptest.Server, path string) (int, string, http.Header) {
	t.Helper()
	r, err := h.Client().Get(h.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b), r.Header
}

func contains(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%.3000s", what, want, text)
		}
	}
}

func TestPageOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	file := newFile(t, path)
	_, h := serve(t, Options{Path: path})
	code, page, header := get(t, h, "/")
	if code != http.StatusOK {
		t.Fatal(code, page)
	}
	contains(t, "the page of an empty file", page, "There are no trials yet.", "0 of 4 trials")
	file.add(t)
	_, page, _ = get(t, h, "/")
	contains(t, "the page", page, "2 of 4 trials", "<table", "<svg", "1.24<", "2.23<", "&lt;b&gt;http",
		"round 1, grpc at 50: 10 calls of 1000 failed: timeout &lt;script&gt;late")
	if strings.Contains(page, "<b>") || strings.Contains(page, "<script>") || strings.Contains(page, "style=") {
		t.Error("the page has markup of the file's, or scripts and styles that its policy forbids")
	}
	policy := header.Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("policy %q", policy)
	}
	if header.Get("X-Content-Type-Options") != "nosniff" {
		t.Error("types may be guessed")
	}
	for path, kind := range map[string]string{"/style.css": "text/css", "/sort.js": "text/javascript", "/live.js": "text/javascript", "/body": "text/html", "/report.html": "text/html"} {
		if code, text, header := get(t, h, path); code != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), kind) || text == "" {
			t.Errorf("%s: %d, %s", path, code, header.Get("Content-Type"))
		}
	}
	if code, _, _ := get(t, h, "/file/a.jsonl/"); code != http.StatusNotFound {
		t.Errorf("another path: %d", code)
	}
}

func TestRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	newFile(t, path).add(t)
	s, err := New(Options{Path: path, Hosts: []string{"bench.example"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, host string
		want         int
	}{
		{http.MethodGet, "127.0.0.1:8099", http.StatusOK}, {http.MethodGet, "localhost:8099", http.StatusOK}, {http.MethodGet, "[::1]:1", http.StatusOK},
		{http.MethodGet, "bench.example", http.StatusOK}, {http.MethodHead, "localhost", http.StatusOK},
		{http.MethodGet, "evil.example", http.StatusMisdirectedRequest}, {http.MethodGet, "localhost.evil.example:8099", http.StatusMisdirectedRequest},
		{http.MethodPost, "localhost", http.StatusMethodNotAllowed}, {http.MethodPut, "localhost", http.StatusMethodNotAllowed}, {http.MethodDelete, "localhost", http.StatusMethodNotAllowed},
	} {
		for _, path := range []string{"/", "/body", "/report.html", "/live.js"} {
			r := httptest.NewRequest(c.method, path, nil)
			r.Host = c.host
			w := httptest.NewRecorder()
			if s.Handler().ServeHTTP(w, r); w.Code != c.want {
				t.Errorf("%s %s for %s: %d, want %d", c.method, path, c.host, w.Code, c.want)
			}
		}
	}
}

// stream reads events; each is the state that the page would show.
type stream struct {
	t *testing.T
	s *bufio.Scanner
}

func events(t *testing.T, h *httptest.Server, path string) stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := h.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Body.Close() })
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d, %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	return stream{t, bufio.NewScanner(a.Body)}
}

// until reads on to a state that is as wanted.
func (s stream) until(what string, ok func(state) bool) state {
	s.t.Helper()
	for s.s.Scan() {
		data, is := strings.CutPrefix(s.s.Text(), "data: ")
		if !is {
			continue
		}
		var st state
		if err := json.Unmarshal([]byte(data), &st); err != nil {
			s.t.Fatal(err)
		}
		if ok(st) {
			return st
		}
	}
	s.t.Fatalf("no event says %s: %v", what, s.s.Err())
	return state{}
}

// A file that another process writes is followed without being told.
func TestEventsOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	file := newFile(t, path)
	_, h := serve(t, Options{Path: path, Every: time.Millisecond})
	s := events(t, h, "/events")
	first := s.until("nothing", func(s state) bool { return s.Done == 0 && s.Total == 4 })
	file.add(t)
	second := s.until("two trials", func(s state) bool { return s.Done == 2 })
	if second.Version <= first.Version || len(second.Errors) != 2 || second.Over {
		t.Errorf("%+v after %+v", second, first)
	}
	file.add(t)
	if last := s.until("the end", func(s state) bool { return s.Done == 4 }); !last.Over {
		t.Errorf("%+v", last)
	}
	if err := os.WriteFile(path, []byte("no result file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if broken := s.until("what is wrong", func(s state) bool { return s.Failure != "" }); broken.Done != 4 || !strings.Contains(broken.Failure, "a.jsonl:1:") {
		t.Errorf("%+v", broken)
	}
	if _, page, _ := get(t, h, "/"); !strings.Contains(page, "4 of 4 trials") || !strings.Contains(page, "1.24<") {
		t.Error("the last good report is gone")
	}
}

// A run tells of changes; between them the file is left alone.
func TestEventsOfARun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	file := newFile(t, path)
	server, h := serve(t, Options{Path: path, Told: true, Every: time.Millisecond})
	server.Refresh()
	s := events(t, h, "/events")
	s.until("nothing", func(s state) bool { return s.Version == 1 })
	file.add(t)
	server.Tell(Progress{Doing: "block 1 of 2\x1b[2J", Left: 90 * time.Second})
	told := s.until("where it stands", func(s state) bool { return strings.HasPrefix(s.Doing, "block 1 of 2") })
	if told.Version != 1 || told.Done != 0 || told.Left != "1m30s" || strings.Contains(told.Doing, "\x1b") {
		t.Errorf("%+v", told)
	}
	if _, page, _ := get(t, h, "/"); !strings.Contains(page, "0 of 4 trials") {
		t.Error("a page made itself while the run measured")
	}
	server.Refresh()
	s.until("two trials", func(s state) bool { return s.Version == 2 && s.Done == 2 })
	server.Tell(Progress{Doing: "measuring", Now: "29700 calls/s now, 3 of 59400 calls failed so far\x1b[2J"})
	if told := s.until("the trial under way", func(s state) bool { return s.Now != "" }); !strings.HasPrefix(told.Now, "29700 calls/s now, 3 of") || strings.Contains(told.Now, "\x1b") {
		t.Errorf("%+v", told)
	}
	_, page, _ := get(t, h, "/")
	contains(t, "the page", page, `<p id="now">29700 calls/s now, 3 of 59400 calls failed so far`)
	server.Tell(Progress{Doing: "the run has ended", Over: true})
	if told := s.until("the end", func(s state) bool { return s.Over }); told.Now != "" {
		t.Errorf("%+v", told)
	}
	_, page, _ = get(t, h, "/")
	contains(t, "the page of the end", page, `<p id="now" hidden></p>`)
}

func TestTooManyPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	newFile(t, path)
	server, h := serve(t, Options{Path: path})
	for range maxPages {
		if !server.enter() {
			t.Fatal("full too early")
		}
	}
	if code, text, _ := get(t, h, "/events"); code != http.StatusServiceUnavailable {
		t.Errorf("%d, %s", code, text)
	}
	server.leave()
	events(t, h, "/events").until("anything", func(state) bool { return true })
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	newFile(t, filepath.Join(dir, "a.jsonl")).add(t)
	b := newFile(t, filepath.Join(dir, "b <i>.jsonl"))
	b.add(t)
	b.add(t)
	if err := os.WriteFile(filepath.Join(dir, "broken.jsonl"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	strange := filepath.Join(dir, "c%2f#?.jsonl")
	newFile(t, strange)
	outside := filepath.Join(t.TempDir(), "secret.jsonl")
	newFile(t, outside)
	if err := os.Symlink(outside, filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	_, h := serve(t, Options{Path: dir, Every: time.Millisecond})
	_, page, _ := get(t, h, "/")
	contains(t, "the list", page, `href="/file/a.jsonl/"`, "b &lt;i&gt;.jsonl", "2 of 4", "4 of 4", "broken.jsonl:1:")
	if strings.Contains(page, "link.jsonl") || strings.Contains(page, "<i>") {
		t.Error("the list has a link out of the folder, or markup of a file's name")
	}
	contains(t, "the list", page, `href="/file/c%252f%23%3F.jsonl/"`)
	if code, _, _ := get(t, h, "/file/c%252f%23%3F.jsonl/"); code != http.StatusOK {
		t.Errorf("the page of a file with a strange name: %d", code)
	}
	_, page, _ = get(t, h, "/file/b%20%3Ci%3E.jsonl/")
	contains(t, "the page of one", page, "4 of 4 trials", "All results", "<svg")
	events(t, h, "/file/a.jsonl/events").until("two trials", func(s state) bool { return s.Done == 2 })
	for _, path := range []string{"/file/none.jsonl/", "/file/link.jsonl/", "/file/..%2Fsecret.jsonl/", "/file/%2Fetc%2Fpasswd/", "/file/none.jsonl/events"} {
		if code, text, _ := get(t, h, path); code != http.StatusNotFound {
			t.Errorf("%s: %d, %.200s", path, code, text)
		}
	}
	if _, page, _ = get(t, h, "/file/broken.jsonl/"); !strings.Contains(page, "broken.jsonl:1:") {
		t.Errorf("a broken file is not told of: %s", page)
	}
	code, page, _ := get(t, h, "/beside?file=a.jsonl&file=b+%3Ci%3E.jsonl")
	if code != http.StatusOK {
		t.Fatal(code, page)
	}
	contains(t, "two runs side by side", page, "side by side", "1.24<", "<table")
	for query, want := range map[string]int{"": http.StatusBadRequest, "?file=a.jsonl": http.StatusBadRequest, "?file=a.jsonl&file=none.jsonl": http.StatusNotFound,
		"?file=a.jsonl&file=broken.jsonl": http.StatusUnprocessableEntity} {
		if code, _, _ := get(t, h, "/beside"+query); code != want {
			t.Errorf("%s: %d, want %d", query, code, want)
		}
	}
}

func TestNewRefusesWhatIsNotThere(t *testing.T) {
	if _, err := New(Options{Path: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a file that is not there was taken")
	}
}

// Serve ends with its context, also while a page is open.
func TestServeEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	newFile(t, path)
	s, err := New(Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	r, err := client.Get("http://" + l.Addr().String() + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if _, err := bufio.NewReader(r.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("it still listens")
	}
}
