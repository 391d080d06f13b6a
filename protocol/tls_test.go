package protocol

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bakeoff/internal/certs"
)

func files(t *testing.T) certs.Files {
	t.Helper()
	set, err := certs.Make(time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := set.Write(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// peer is a server that does the same with each connection, and closes it.
func peer(t *testing.T, do func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				do(c)
			})
		}
	})
	t.Cleanup(func() { l.Close(); conns.Wait() })
	return l.Addr().String()
}

// silent waits until its client is gone.
func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func TestSecureEndsInTime(t *testing.T) {
	addr := peer(t, silent)
	for _, row := range []struct {
		what  string
		limit time.Duration
		ctx   func() (context.Context, context.CancelFunc)
		want  string
	}{
		{"the limit", 20 * time.Millisecond, func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) },
			"tls: the server did not go on with the TLS handshake in time"},
		{"a deadline", time.Hour, func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 20*time.Millisecond)
		},
			context.DeadlineExceeded.Error()},
		{"a context that has ended", time.Hour, func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx, cancel
		}, context.Canceled.Error()},
	} {
		socket, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := row.ctx()
		_, err = secure(ctx, socket, &tls.Config{ServerName: "localhost"}, row.limit)
		cancel()
		if err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%s: got error %v, want %q", row.what, err, row.want)
		}
		if _, err := socket.Write([]byte{1}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: the socket is open: %v", row.what, err)
		}
	}
}

func TestPlainSocketStaysPlain(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	if c, err := Secure(t.Context(), a, nil); err != nil || c != a {
		t.Errorf("got %v, %v", c, err)
	}
	if Socket(a) != a || Socket(tls.Client(a, &tls.Config{ServerName: "a"})) != a {
		t.Error("Socket is not what lies under TLS")
	}
	if err := Cut(tls.Client(a, &tls.Config{ServerName: "a"})); err != nil {
		t.Error(err)
	}
	if _, err := a.Write([]byte{1}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after Cut: %v", err)
	}
}

func TestSpeaksTLS(t *testing.T) {
	f := files(t)
	pair, err := tls.LoadX509KeyPair(f.Server, f.ServerKey)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(c *tls.Config) func(net.Conn) {
		c.Certificates = []tls.Certificate{pair}
		return func(raw net.Conn) { _ = tls.Server(raw, c).HandshakeContext(t.Context()) }
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	for _, row := range []struct {
		what, addr string
		want       bool
	}{
		{"a server of TLS", peer(t, serve(&tls.Config{})), true},
		{"one that wants a certificate", peer(t, serve(&tls.Config{ClientAuth: tls.RequireAnyClientCert})), true},
		{"and in TLS 1.2", peer(t, serve(&tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12})), true},
		{"one that speaks its own protocol in it", peer(t, serve(&tls.Config{NextProtos: []string{"h2"}})), true},
		{"one that hangs up", peer(t, func(net.Conn) {}), false},
		{"one that answers plainly", peer(t, func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n"); silent(c) }), false},
		{"one that says nothing", peer(t, silent), false},
		{"nobody", gone.Addr().String(), false},
	} {
		if got := SpeaksTLS(t.Context(), row.addr); got != row.want {
			t.Errorf("%s: got %t, want %t", row.what, got, row.want)
		}
	}
}

func TestServerNames(t *testing.T) {
	for _, row := range []struct{ addr, given, want string }{
		{"bench.example:443", "", "bench.example"}, {"127.0.0.1:1", "", "127.0.0.1"}, {"[::1]:1", "", "::1"}, {":1", "", "localhost"},
		{"127.0.0.1:1", "bench.example", "bench.example"}, {"no port", "bench.example", "bench.example"},
	} {
		c, err := Options{TLS: &TLS{ServerName: row.given}}.ClientTLS(row.addr, "h2")
		if err != nil || c.ServerName != row.want || len(c.NextProtos) != 1 || c.MinVersion != tls.VersionTLS12 {
			t.Errorf("%q and %q: got %+v, %v; want %s", row.addr, row.given, c, err, row.want)
		}
	}
	if _, err := (Options{TLS: &TLS{}}).ClientTLS("no port"); err == nil || !strings.Contains(err.Error(), "no port") {
		t.Errorf("an address without a port: %v", err)
	}
	if c, err := (Options{}).ClientTLS("no port"); c != nil || err != nil {
		t.Errorf("without TLS: %v, %v", c, err)
	}
}

func TestClientFiles(t *testing.T) {
	f := files(t)
	for _, row := range []struct {
		tls  TLS
		want string
	}{
		{TLS{CA: filepath.Join(t.TempDir(), "none.pem")}, "no such file"},
		{TLS{CA: f.CAKey}, "has no certificate in PEM"},
		{TLS{ClientCert: f.Client}, "a certificate and its key go together"},
		{TLS{ClientCert: f.Client, ClientKey: f.ServerKey}, "does not match"},
		{TLS{MinVersion: "1.1"}, "must be 1.2 or 1.3"},
	} {
		if _, err := (Options{TLS: &row.tls}).ClientTLS("a:1"); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: got error %v, want %q", row.tls, err, row.want)
		}
	}
}

// TestDefaultsOfTLS: many options may share one TLS, which none of them changes.
func TestDefaultsOfTLS(t *testing.T) {
	shared := &TLS{CA: "x"}
	o := Options{TLS: shared}.Defaulted()
	if o.TLS.MinVersion != "1.2" || o.TLS.CA != "x" || shared.MinVersion != "" {
		t.Errorf("got %+v, and the given one is %+v", o.TLS, shared)
	}
	if o.Defaulted().TLS != o.TLS {
		t.Error("what is complete is copied")
	}
	if (Options{}).Defaulted().TLS != nil {
		t.Error("plain is not plain")
	}
}

func TestHandshakeWords(t *testing.T) {
	for _, row := range []struct {
		err  error
		want string
	}{
		{io.EOF, "hung up in the TLS handshake"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "hung up in the TLS handshake"},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: no application protocol")}, "refused the TLS handshake: remote error: tls: no application protocol"},
		{errors.New("something else"), "the TLS handshake failed: something else"},
	} {
		got := HandshakeFault(fmt.Errorf("wrapped: %w", row.err), "name")
		if got.Class() != BadTLS || !strings.Contains(got.Error(), strings.TrimSuffix(row.want, ": "+row.err.Error())) || !errors.Is(got, row.err) {
			t.Errorf("%v: got %v, want %q", row.err, got, row.want)
		}
	}
}
