package suite

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bakeoff/internal/certs"
	"bakeoff/protocol"
	"bakeoff/protocol/conformance/conformancetest"
	"bakeoff/service"
	"bakeoff/store/memory"
)

// made writes the certificates of a trial, and names them.
func made(t *testing.T, hosts ...string) certs.Files {
	t.Helper()
	set, err := certs.Make(time.Now(), 1, hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return written(t, set)
}

func written(t *testing.T, set certs.Set) certs.Files {
	t.Helper()
	f, err := set.Write(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestConformanceOverTLS holds every contestant to the same vectors over TLS, with certificates of both sides.
func TestConformanceOverTLS(t *testing.T) {
	f := made(t)
	for _, p := range All {
		p.TLS = &protocol.TLS{Cert: f.Server, Key: f.ServerKey, ClientCA: f.CA, CA: f.CA, ClientCert: f.Client, ClientKey: f.ClientKey}
		t.Run(p.Name, func(t *testing.T) { conformancetest.Test(t, p, dateClock) })
	}
}

// serving runs a server of p with these options until the test ends, and gives its address.
func serving(t *testing.T, p protocol.Protocol, tls *protocol.TLS) (addr string) {
	t.Helper()
	rules, err := service.New(t.Context(), memory.New(nil), service.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.TLS = tls
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, l, rules, p.Options(1, 1)) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("%s: Serve: %v", p.Name, err)
		}
	})
	return l.Addr().String()
}

// first dials and makes a call. What a client has no way to see when it dials, its first call sees.
func first(t *testing.T, p protocol.Protocol, addr string, o protocol.Options) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := p.Dial(ctx, addr, o)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.GetFeature(ctx, service.Point{})
	return err
}

// of is what holds for a subject, or for the protocol that its name begins with.
func of(each map[string]string, subject string) string {
	if v, ok := each[subject]; ok {
		return v
	}
	family, _, _ := strings.Cut(subject, "-")
	return each[family]
}

// TestNegotiated: each client tells what it and its server have agreed on, once for each connection.
func TestNegotiated(t *testing.T) {
	f := made(t)
	alpn := map[string]string{"grpc": "h2", "http": "http/1.1", "thrift": protocol.NoALPN, "thrift-http": "http/1.1", "connect": "h2", "http2": "h2"}
	each(t, func(t *testing.T, p protocol.Protocol) {
		t.Parallel()
		want := protocol.Negotiated{Version: "TLS 1.3", CipherSuite: "TLS_AES_128_GCM_SHA256", ALPN: of(alpn, p.Name), KeyExchange: "X25519MLKEM768"}
		over := &protocol.TLS{Cert: f.Server, Key: f.ServerKey, CA: f.CA}
		addr := serving(t, p, over)
		var seen protocol.Handshakes
		var times atomic.Int64
		o := p.Options(3, 3)
		o.TLS, o.Handshaken = over, func(s tls.ConnectionState) { seen.Note(s); times.Add(1) }
		if err := first(t, p, addr, o); err != nil {
			t.Fatal(err)
		}
		if got := seen.In(over).Negotiated; got == nil || *got != want || times.Load() != 3 {
			t.Errorf("after %d handshakes: %+v, want %+v after 3", times.Load(), got, want)
		}
		plain := p.Options(1, 1)
		plain.Handshaken = func(s tls.ConnectionState) { t.Errorf("a handshake of a plain client: %+v", s) }
		if err := first(t, p, serving(t, p, nil), plain); err != nil {
			t.Error(err)
		}
	})
}

// TestTLSFaults: what the two ends don't agree on is a class of its own, with the cause and the mend in its words, at once.
func TestTLSFaults(t *testing.T) {
	good, other := made(t), made(t)
	gone, err := certs.Expired(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	late := written(t, gone)
	server := &protocol.TLS{Cert: good.Server, Key: good.ServerKey}
	asking := &protocol.TLS{Cert: good.Server, Key: good.ServerKey, ClientCA: good.CA}
	each(t, func(t *testing.T, p protocol.Protocol) {
		for _, row := range []struct {
			what   string
			server *protocol.TLS // nil: plain
			client *protocol.TLS
			says   []string
		}{
			{"a CA that has not signed it", server, &protocol.TLS{CA: other.CA}, []string{"signed by no CA that is trusted here", "--tls-ca"}},
			{"the system's CAs", server, &protocol.TLS{}, []string{"signed by no CA that is trusted here", "--tls-ca"}},
			{"another name", server, &protocol.TLS{CA: good.CA, ServerName: "bench.example"},
				[]string{"is for localhost, 127.0.0.1, ::1 and not for bench.example", "--tls-server-name", "--host bench.example"}},
			{"a plain client", server, nil, []string{"the server speaks TLS, and this client does not", "--tls"}},
			{"a plain server", nil, &protocol.TLS{CA: good.CA}, []string{"leave --tls away"}},
			{"no certificate of the client's", asking, &protocol.TLS{CA: good.CA}, []string{"asks for a client's certificate", "--client-cert"}},
			{"a client's certificate of another CA", asking, &protocol.TLS{CA: good.CA, ClientCert: other.Client, ClientKey: other.ClientKey},
				[]string{"of a CA that has not signed ours", "--client-cert"}},
		} {
			addr := serving(t, p, row.server)
			o := p.Options(1, 1)
			o.TLS = row.client
			refused(t, p.Name+": "+row.what, first(t, p, addr, o), row.says...)
		}
		// Serve refuses a certificate that has expired: the server is another.
		o := p.Options(1, 1)
		o.TLS = &protocol.TLS{CA: late.CA}
		refused(t, p.Name+": an expired certificate", first(t, p, shaking(t, late, o), o), "which is not now", "serve with a new one")
	})
}

// refused wants the fault of two ends that don't agree.
func refused(t *testing.T, what string, err error, says ...string) {
	t.Helper()
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Class() != protocol.BadTLS {
		t.Errorf("%s: got error %v, want a fault of class %s", what, err, protocol.BadTLS)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: got error %v, want %q in it", what, err, s)
		}
	}
}

// shaking is a server that shakes hands with whatever protocol is named, and does no more.
func shaking(t *testing.T, f certs.Files, o protocol.Options) (addr string) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(f.Server, f.ServerKey)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"}})
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
				_ = c.(*tls.Conn).HandshakeContext(t.Context())
			})
		}
	})
	t.Cleanup(func() { l.Close(); conns.Wait() })
	return l.Addr().String()
}

// TestSilentServer: a handshake that nobody answers ends with its context, and leaves nothing.
func TestSilentServer(t *testing.T) {
	f := made(t)
	each(t, func(t *testing.T, p protocol.Protocol) {
		l, err := net.Listen("tcp", "127.0.0.1:0") // nothing is accepted: connections wait in the kernel's queue
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		o := p.Options(1, 1)
		o.TLS = &protocol.TLS{CA: f.CA}
		began := time.Now()
		_, err = p.Dial(ctx, l.Addr().String(), o)
		if err == nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), l.Addr().String()) {
			t.Errorf("%s: got error %v, want that the deadline passed, with the address", p.Name, err)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s: it took %v", p.Name, took)
		}
	})
}

// TestServerRefusesBadTLS before it takes a connection.
func TestServerRefusesBadTLS(t *testing.T) {
	good := made(t)
	other := made(t)
	set, err := certs.Expired(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	late := written(t, set)
	each(t, func(t *testing.T, p protocol.Protocol) {
		for _, row := range []struct {
			tls  protocol.TLS
			says string
		}{
			{protocol.TLS{CA: good.CA}, "a server needs a certificate"},
			{protocol.TLS{Cert: good.Server}, "--tls-key"},
			{protocol.TLS{Cert: good.Server, Key: other.ServerKey}, "private key does not match"},
			{protocol.TLS{Cert: good.Server + ".none", Key: good.ServerKey}, "no such file"},
			{protocol.TLS{Cert: good.Server, Key: good.ServerKey, ClientCA: good.CAKey}, "has no certificate in PEM"},
			{protocol.TLS{Cert: late.Server, Key: late.ServerKey}, "which is not now"},
			{protocol.TLS{Cert: good.Server, Key: good.ServerKey, MinVersion: "1.0"}, `min_version "1.0": must be 1.2 or 1.3`},
		} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			o := p.Options(1, 1)
			o.TLS = &row.tls
			if err := p.Serve(t.Context(), l, nil, o); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%s with %+v: got error %v, want %q", p.Name, row.tls, err, row.says)
			}
			if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
				c.Close()
				t.Errorf("%s with %+v: the listener is open", p.Name, row.tls)
			}
		}
	})
}

// TestOldVersionsAreRefused: nobody who speaks less than TLS 1.2, or than what is asked for, is served.
func TestOldVersionsAreRefused(t *testing.T) {
	f := made(t)
	each(t, func(t *testing.T, p protocol.Protocol) {
		for _, row := range []struct {
			least string
			most  uint16
			ok    bool
		}{{"", tls.VersionTLS11, false}, {"", tls.VersionTLS12, true}, {"1.3", tls.VersionTLS12, false}, {"1.3", tls.VersionTLS13, true}} {
			addr := serving(t, p, &protocol.TLS{Cert: f.Server, Key: f.ServerKey, MinVersion: row.least})
			o := protocol.Options{TLS: &protocol.TLS{CA: f.CA}}
			c, err := o.ClientTLS(addr)
			if err != nil {
				t.Fatal(err)
			}
			c.MinVersion, c.MaxVersion = tls.VersionTLS10, row.most
			conn, err := tls.Dial("tcp", addr, c)
			if (err == nil) != row.ok {
				t.Errorf("%s at least %q, a client of %s: got error %v", p.Name, row.least, tls.VersionName(row.most), err)
			}
			if err == nil {
				conn.Close()
			}
		}
	})
}

// TestProtocolInTLS: each server says what it speaks, to those who ask.
func TestProtocolInTLS(t *testing.T) {
	f := made(t)
	want := map[string]string{"grpc": "h2", "http": "http/1.1", "thrift": "", "thrift-http": "http/1.1", "connect": "h2", "http2": "h2"}
	each(t, func(t *testing.T, p protocol.Protocol) {
		addr := serving(t, p, &protocol.TLS{Cert: f.Server, Key: f.ServerKey})
		o := protocol.Options{TLS: &protocol.TLS{CA: f.CA}}
		c, err := o.ClientTLS(addr, "h2", "http/1.1")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := tls.Dial("tcp", addr, c)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		state := conn.ConnectionState()
		want := of(want, p.Name)
		if state.NegotiatedProtocol != want || state.Version != tls.VersionTLS13 || state.DidResume {
			t.Errorf("%s: ALPN %q, %s, resumed %t; want %q, TLS 1.3, a whole handshake", p.Name, state.NegotiatedProtocol,
				tls.VersionName(state.Version), state.DidResume, want)
		}
	})
}

// TestNames: the server's name and the requests' authority are two things, plain and over TLS; a protocol without authority
// refuses one.
func TestNames(t *testing.T) {
	f := made(t, "bench.example")
	each(t, func(t *testing.T, p protocol.Protocol) {
		for _, client := range []*protocol.TLS{nil, {CA: f.CA, ServerName: "bench.example"}} {
			var server *protocol.TLS
			if client != nil {
				server = &protocol.TLS{Cert: f.Server, Key: f.ServerKey}
			}
			addr := serving(t, p, server)
			o := p.Options(1, 1)
			o.TLS, o.Authority = client, "other.example"
			err := first(t, p, addr, o)
			if strings.HasPrefix(p.Name, "thrift") && p.Name != "thrift-http" {
				if err == nil || !strings.Contains(err.Error(), `authority "other.example": thrift's requests name no server`) || p.Check(o) == nil {
					t.Errorf("%s with an authority: got error %v", p.Name, err)
				}
				continue
			}
			if err != nil && !found(err) {
				t.Errorf("%s with an authority and a server name: %v", p.Name, err)
			}
		}
	})
}

// found says whether the error is the service's own answer.
func found(err error) bool {
	var e *service.Error
	return errors.As(err, &e) && e.Code == service.NotFound
}
