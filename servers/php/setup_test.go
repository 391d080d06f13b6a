package php_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/protocol"
	"bakeoff/protocol/conformance"
	"bakeoff/servers/grpcserver"
	"bakeoff/servers/httpserver"
	"bakeoff/servers/php"
	"bakeoff/service"
	"bakeoff/store/memory"
)

// fasthttp has one clock for the Date header, which lives as long as the process.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// needPHP skips a test where there is no PHP, unless the environment says that there must be one.
func needPHP(t testing.TB) {
	t.Helper()
	if err := php.Installed(t.Context()); err != nil {
		if os.Getenv("REQUIRE_PHP") != "" {
			t.Fatalf("REQUIRE_PHP is set: %v", err)
		}
		t.Skipf("skipped: %v", err)
	}
}

// backend is a server in Go that a front calls.
type backend struct {
	addr  string
	conns atomic.Int64 // that it has accepted
	stop  func()
}

// counting counts the connections of a listener.
type counting struct {
	net.Listener
	n *atomic.Int64
}

func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

// rules are the real ones over the store in memory, with auth, and with what the conformance kit asks for around them.
func rules(t *testing.T) service.API {
	t.Helper()
	api, err := service.New(t.Context(), memory.New(nil), service.Config{Auth: true})
	if err != nil {
		t.Fatal(err)
	}
	return conformance.Probe(api)
}

// serve starts a backend at a free port; it ends with the test, or before by its stop.
func serve(t *testing.T, kind string, api service.API) *backend {
	t.Helper()
	return serveAt(t, kind, "127.0.0.1:0", api)
}

func serveAt(t *testing.T, kind, addr string, api service.API) *backend {
	t.Helper()
	serve := map[string]func(context.Context, net.Listener, service.API, protocol.Options) error{php.HTTP: httpserver.Serve, php.GRPC: grpcserver.Serve}[kind]
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{addr: l.Addr().String()}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, counting{l, &b.conns}, api, protocol.Options{}.Defaulted()) }()
	stopped := false
	b.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the %s backend: %v", kind, err)
		}
	}
	t.Cleanup(b.stop)
	return b
}

// start starts a front; it ends with the test.
func start(t *testing.T, c php.Config) *php.Front {
	t.Helper()
	needPHP(t)
	f, err := php.Start(context.WithoutCancel(t.Context()), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// variants are the fronts that can be had before a backend.
func variants() (all []php.Config) {
	for _, backend := range []string{php.HTTP, php.GRPC} {
		all = append(all,
			php.Config{Server: php.CLIServer, Count: 4, Backend: backend},
			php.Config{Server: php.Workers, Count: 4, Backend: backend},
			php.Config{Server: php.Workers, Count: 4, Backend: backend, Reuse: true})
	}
	return all
}

func name(c php.Config) string {
	n := c.Server + "-" + c.Backend
	if c.Reuse {
		n += "-reuse"
	}
	return n
}

// ask makes one request over a connection of its own.
func ask(t *testing.T, method, url, body string, header ...string) (status int, answer string, h http.Header) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	rq, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		rq.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}}
	rp, err := client.Do(rq)
	if err != nil {
		t.Fatal(err)
	}
	defer rp.Body.Close()
	b, err := io.ReadAll(rp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return rp.StatusCode, string(b), rp.Header
}
