package php_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bakeoff/protocol/conformance"
	"bakeoff/protocol/suite"
	"bakeoff/servers/php"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// elsewhere are the vectors of calls that the front does not have: it is one of DataType and Login.
var elsewhere = map[string]bool{"bytes": true, "bytes-payload": true, "bytes-too-large": true, "deadline-stream": true, "feature": true, "rectangle": true,
	"distance": true, "chat": true, "zeros": true, "list": true, "record": true, "exchange": true, "stream-error": true,
	"input-error": true, "stop-early": true, "stream-cancel": true}

// TestConformance holds each front, as the HTTP client sees it, to what every contestant must do alike: answers, text, int64, errors with their
// causes, limits, deadlines, tokens.
func TestConformance(t *testing.T) {
	needPHP(t)
	subject, err := suite.Find("http")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range variants() {
		t.Run(name(c), func(t *testing.T) {
			t.Parallel()
			c.BackendAddr, c.Count = serve(t, c.Backend, rules(t)).addr, 8 // a kept connection waits for its own worker
			f := start(t, c)
			held := 0
			for _, v := range conformance.Vectors {
				if elsewhere[v.Name] || v.Name == "connections" && c.Server == php.CLIServer { // it ends them after each call
					continue
				}
				held++
				t.Run(v.Name, func(t *testing.T) {
					if err := conformance.Check(t.Context(), subject, f.Addr, v); err != nil {
						t.Error(conformance.Difference{Subject: name(c), Vector: v, Err: err})
					}
				})
			}
			if held < 20 {
				t.Errorf("held to %d vectors only", held)
			}
		})
	}
}

const known = `{"groupName":"` + service.KnownGroup + `","enName":"` + service.KnownName + `"}`

// TestAlone is the baseline: the front answers by itself.
func TestAlone(t *testing.T) {
	for _, server := range []string{php.CLIServer, php.Workers} {
		t.Run(server, func(t *testing.T) {
			f := start(t, php.Config{Server: server, Count: 2, Backend: php.None})
			for _, row := range []struct {
				method, path, body string
				status             int
				want               string
			}{
				{"POST", "/v1/datatype", known, 200, `{"authRp":{"token":""},"codeId":101,"cnName":"語音接通"}`},
				{"POST", "/v1/datatype?x=1", "\xef\xbb\xbf" + known, 200, `"codeId":101`},
				{"POST", "/v1/datatype", `{"groupName":"a","enName":"b"}`, 404, `"code":"not_found"`},
				{"POST", "/v1/login", `{}`, 400, "BACKEND=none"},
				{"POST", "/v1/datatype", `{`, 400, "the message is no JSON"},
				{"POST", "/v1/datatype", `[]`, 400, "must be a JSON object"},
				{"POST", "/v1/datatype", `{"groupName":5}`, 400, "groupName must be a string"},
				{"POST", "/v1/datatype", `{"authRq":null}`, 400, "authRq must be an object"},
				{"GET", "/v1/datatype", "", 405, "takes POST"},
				{"GET", "/healthz", "", 200, `{"status":"ok"}`},
				{"GET", "/elsewhere", "", 404, "there is nothing at /elsewhere"},
				{"POST", "/v1/datatype", `{"groupName":"` + strings.Repeat("x", 4<<20) + `"}`, 413, "larger than the limit"},
			} {
				status, body, h := ask(t, row.method, "http://"+f.Addr+row.path, row.body)
				if status != row.status || !strings.Contains(body, row.want) {
					t.Errorf("%s %s %.40s: got %d %.200s, want %d %s", row.method, row.path, row.body, status, body, row.status, row.want)
				}
				if status != 200 && h.Get("Content-Type") != "application/problem+json" {
					t.Errorf("%s %s: got content type %q, want a problem", row.method, row.path, h.Get("Content-Type"))
				}
			}
		})
	}
}

// TestConnections counts what the backend accepts: one connection a call, or one a worker.
func TestConnections(t *testing.T) {
	const calls = 12
	for _, c := range variants() {
		t.Run(name(c), func(t *testing.T) {
			b := serve(t, c.Backend, servicetest.API{})
			c.BackendAddr, c.Count = b.addr, 2
			f := start(t, c)
			for i := range calls {
				if status, body, _ := ask(t, "POST", "http://"+f.Addr+"/v1/datatype", known); status != 200 {
					t.Fatalf("call %d: got %d %s", i, status, body)
				}
			}
			if n := b.conns.Load(); c.Reuse && (n < 1 || n > 2) || !c.Reuse && n != calls {
				t.Errorf("%d calls, reuse %v: the backend has accepted %d connections", calls, c.Reuse, n)
			}
		})
	}
}

// TestDeadline has the front's own deadline and the caller's end a call, and the caller's arrive behind the gRPC hop.
func TestDeadline(t *testing.T) {
	for _, c := range variants() {
		t.Run(name(c), func(t *testing.T) {
			t.Parallel()
			var left atomic.Int64 // that the backend's handler had, in ms; -1 without a deadline
			ended := make(chan struct{}, 1)
			api := servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
				left.Store(-1)
				if until, ok := ctx.Deadline(); ok {
					left.Store(time.Until(until).Milliseconds())
				}
				if r.Name == "quick" {
					return service.DataType{}, nil
				}
				select {
				case <-ctx.Done():
					ended <- struct{}{}
				case <-time.After(3 * time.Second):
				}
				return service.DataType{}, ctx.Err()
			}}
			c.BackendAddr, c.Timeout = serve(t, c.Backend, api).addr, time.Second
			f := start(t, c)
			url := "http://" + f.Addr + "/v1/datatype"
			for _, row := range []struct {
				header string
				least  time.Duration
			}{{"", time.Second}, {"200m", 200 * time.Millisecond}, {"99999999H", time.Second}} {
				began := time.Now()
				status, body, _ := ask(t, "POST", url, known, "Grpc-Timeout", row.header)
				took := time.Since(began)
				if status != http.StatusGatewayTimeout || !strings.Contains(body, "deadline_exceeded") || took < row.least || took > row.least+1500*time.Millisecond {
					t.Errorf("Grpc-Timeout %q: got %d %s after %v, want 504 after %v", row.header, status, body, took, row.least)
				}
				if c.Backend == php.GRPC {
					if ms := left.Load(); ms < 1 || ms > row.least.Milliseconds() {
						t.Errorf("Grpc-Timeout %q: the backend's handler had %d ms, want at most %v", row.header, ms, row.least)
					}
					<-ended
				}
			}
			// The connection that the late answer was to come on is not used again.
			if status, body, _ := ask(t, "POST", url, `{"groupName":"g","enName":"quick"}`); status != 200 {
				t.Errorf("after deadlines: got %d %s", status, body)
			}
			for header, want := range map[string]int{"100u": 504, "5": 400, "123456789m": 400, "-1m": 400} {
				if status, body, _ := ask(t, "POST", url, known, "Grpc-Timeout", header); status != want {
					t.Errorf("Grpc-Timeout %q: got %d %s, want %d", header, status, body, want)
				}
			}
		})
	}
}

// TestToken: the token may come as a cookie or a bearer, and leaves as a cookie.
func TestToken(t *testing.T) {
	for _, c := range variants() {
		t.Run(name(c), func(t *testing.T) {
			c.BackendAddr = serve(t, c.Backend, rules(t)).addr
			url := "http://" + start(t, c).Addr
			status, body, h := ask(t, "POST", url+"/v1/login", fmt.Sprintf(`{"clientId":%q,"secret":%q}`, service.DemoClientID, service.DemoSecret))
			var session struct {
				Token         string
				ExpiresUnixMs int64
			}
			if err := json.Unmarshal([]byte(body), &session); status != 200 || err != nil || session.Token == "" {
				t.Fatalf("login: got %d %s (%v)", status, body, err)
			}
			cookie, err := http.ParseSetCookie(h.Get("Set-Cookie"))
			if err != nil || cookie.Value != session.Token || !cookie.HttpOnly || cookie.Expires.Unix() != session.ExpiresUnixMs/1000 {
				t.Errorf("login: got the cookie %q (%v), want token %s until %d", h.Get("Set-Cookie"), err, session.Token, session.ExpiresUnixMs)
			}
			lookup := fmt.Sprintf(`{"authRq":{"clientId":%q},`, service.DemoClientID) + known[1:]
			for _, row := range []struct {
				header, value string
				status        int
			}{
				{"Cookie", "a=b; token=" + session.Token, 200},
				{"Authorization", "bearer " + session.Token, 200},
				{"Cookie", "nottoken=" + session.Token, 401},
				{"Accept", "*/*", 401},
			} {
				if status, body, _ := ask(t, "POST", url+"/v1/datatype", lookup, row.header, row.value); status != row.status {
					t.Errorf("%s %.20s: got %d %s, want %d", row.header, row.value, status, body, row.status)
				}
			}
		})
	}
}

// TestBackendAway: a backend that is not there is unavailable, and what is kept of it does no harm when it is back.
func TestBackendAway(t *testing.T) {
	for _, c := range variants() {
		t.Run(name(c), func(t *testing.T) {
			b := serve(t, c.Backend, servicetest.API{})
			c.BackendAddr, c.Count = b.addr, 1
			url := "http://" + start(t, c).Addr + "/v1/datatype"
			if status, body, _ := ask(t, "POST", url, known); status != 200 {
				t.Fatalf("before: got %d %s", status, body)
			}
			b.stop()
			if status, body, _ := ask(t, "POST", url, known); status != 503 || !strings.Contains(body, c.Backend+" backend at "+b.addr) {
				t.Errorf("away: got %d %s, want 503 and who is away", status, body)
			}
			serveAt(t, c.Backend, b.addr, servicetest.API{})
			if status, body, _ := ask(t, "POST", url, known); status != 200 {
				t.Errorf("back: got %d %s", status, body)
			}
		})
	}
}

// TestKeepAlive: workers keep a caller's connection, answer what comes at once in order, and end it when told to.
func TestKeepAlive(t *testing.T) {
	f := start(t, php.Config{Server: php.Workers, Count: 1, Backend: php.None})
	rq := fmt.Sprintf("POST /v1/datatype HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%%s\r\n%s", len(known), known)
	keep, end := fmt.Sprintf(rq, ""), fmt.Sprintf(rq, "Connection: close\r\n")
	for _, row := range []struct {
		sent     string
		statuses []int
	}{
		{keep + keep + end + keep, []int{200, 200, 200}},
		{"GET /healthz HTTP/1.0\r\n\r\n", []int{200}},
		{"nonsense\r\n\r\n", []int{400}},
		{"GET / HTTP/1.1\r\nno colon\r\n\r\n", []int{400}},
		{"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", []int{400}},
		{"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", []int{411}},
		{"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", []int{413}},
		{"GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 20<<10), []int{431}},
	} {
		conn, err := net.Dial("tcp", f.Addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(row.sent)); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(conn)
		for i, want := range row.statuses {
			rp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatalf("%.40q, answer %d: %v", row.sent, i, err)
			}
			if rp.StatusCode != want {
				t.Errorf("%.40q, answer %d: got %d, want %d", row.sent, i, rp.StatusCode, want)
			}
			if _, err := io.Copy(io.Discard, rp.Body); err != nil {
				t.Error(err)
			}
		}
		if b, err := r.ReadByte(); err == nil {
			t.Errorf("%.40q: got byte %q behind the answers, want the end", row.sent, b)
		}
		conn.Close()
	}
}

// TestRefused: what can't be started is said before anything is, or by the front.
func TestRefused(t *testing.T) {
	for want, c := range map[string]php.Config{
		`server "apache": must be cli-server or workers`: {Server: "apache", Count: 1, Backend: php.None},
		"0 processes: must be from 1 to 999":             {Server: php.Workers, Backend: php.None},
		`backend "thrift"`:                               {Server: php.Workers, Count: 1, Backend: "thrift"},
		`backend http at ""`:                             {Server: php.Workers, Count: 1, Backend: php.HTTP},
		"a cli-server keeps nothing":                     {Server: php.CLIServer, Count: 1, Backend: php.HTTP, BackendAddr: "127.0.0.1:1", Reuse: true},
		`address "127.0.0.1:99999"`:                      {Server: php.Workers, Count: 1, Backend: php.None, Addr: "127.0.0.1:99999"},
		`address "nowhere"`:                              {Server: php.CLIServer, Count: 1, Backend: php.None, Addr: "nowhere"},
		"must be whole milliseconds":                     {Server: php.Workers, Count: 1, Backend: php.None, Timeout: time.Microsecond},
	} {
		if _, err := php.Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want %s", c, err, want)
		}
	}
	taken := serve(t, php.HTTP, servicetest.API{}).addr
	needPHP(t)
	for want, c := range map[string]php.Config{
		"LISTEN is '" + taken + "'":    {Server: php.Workers, Count: 1, Backend: php.None, Addr: taken},
		"Failed to listen on " + taken: {Server: php.CLIServer, Count: 1, Backend: php.None, Addr: taken},
		"BACKEND_ADDR is 'nowhere'":    {Server: php.Workers, Count: 1, Backend: php.HTTP, BackendAddr: "nowhere"},
	} {
		if f, err := php.Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, error %v, want %s", c, f, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, err := php.Start(ctx, php.Config{Server: php.Workers, Count: 1, Backend: php.None}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: got %v, error %v", f, err)
	}
}

// TestWorkerDies: a front that has lost a worker ends as a whole, and says so.
func TestWorkerDies(t *testing.T) {
	needPHP(t)
	f, err := php.Start(t.Context(), php.Config{Server: php.Workers, Count: 2, Backend: php.None})
	if err != nil {
		t.Fatal(err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", f.Pid, f.Pid))
	if err != nil {
		t.Skipf("skipped: this kernel does not list children: %v", err)
	}
	pids := strings.Fields(string(children)) // the first is the guard
	if out, err := exec.Command("kill", "-KILL", pids[len(pids)-1]).CombinedOutput(); err != nil {
		t.Fatalf("kill: %v %s", err, out)
	}
	<-f.Done()
	if err := f.Stop(); err == nil || !strings.Contains(err.Error(), "worker "+pids[len(pids)-1]+" ended by itself") {
		t.Errorf("got error %v, want the worker that died", err)
	}
}

// TestStarterKilled: a front whose starter is killed does not stay behind.
func TestStarterKilled(t *testing.T) {
	if os.Getenv("PHP_TEST_STARTER") != "" {
		f, err := php.Start(context.Background(), php.Config{Server: os.Getenv("PHP_TEST_STARTER"), Count: 2, Backend: php.None})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("front %s\n", f.Addr)
		<-f.Done()
		return
	}
	needPHP(t)
	for _, server := range []string{php.CLIServer, php.Workers} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestStarterKilled$")
		cmd.Env = append(os.Environ(), "PHP_TEST_STARTER="+server)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		addr, ok := strings.CutPrefix(strings.TrimSpace(line), "front ")
		var conn net.Conn
		if ok {
			conn, err = net.Dial("tcp", addr)
		}
		if kerr := cmd.Process.Kill(); kerr != nil {
			t.Error(kerr)
		}
		_ = cmd.Wait() // killed
		if err != nil || !ok {
			t.Fatalf("%s: the starter said %q: %v", server, line, err)
		}
		if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		var nerr net.Error
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.As(err, &nerr) && nerr.Timeout() {
			t.Errorf("%s: a connection to the front still stands after its starter was killed: %v", server, err)
		}
		conn.Close()
	}
}
