package protocol

import (
	"crypto/tls"
	"net"
	"sync"
	"testing"
)

// TestHandshakes shakes hands with servers of different minds: what came of it is told once, whatever the order.
func TestHandshakes(t *testing.T) {
	f := files(t)
	o := Options{TLS: &TLS{Cert: f.Server, Key: f.ServerKey, CA: f.CA}}
	var seen Handshakes
	if got := seen.In(o.TLS); got != o.TLS {
		t.Errorf("before any handshake: %+v", got)
	}
	o.Handshaken = seen.Note
	shake := func(most uint16, alpn ...string) {
		t.Helper()
		server, err := o.ServerTLS(alpn...)
		if err != nil {
			t.Fatal(err)
		}
		server.MaxVersion, server.CurvePreferences = most, []tls.CurveID{tls.X25519}
		addr := peer(t, func(c net.Conn) { silent(tls.Server(c, server)) })
		client, err := o.ClientTLS(addr, alpn...)
		if err != nil {
			t.Fatal(err)
		}
		var conns sync.WaitGroup
		for range 4 {
			conns.Go(func() {
				socket, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				c, err := Secure(t.Context(), socket, client)
				if err != nil {
					t.Error(err)
					return
				}
				c.Close()
			})
		}
		conns.Wait()
	}
	shake(tls.VersionTLS13, "h2")
	one := Negotiated{Version: "TLS 1.3", CipherSuite: "TLS_AES_128_GCM_SHA256", KeyExchange: "X25519", ALPN: "h2"}
	if got := seen.In(o.TLS); got == o.TLS || *got.Negotiated != one || got.CA != f.CA || o.TLS.Negotiated != nil {
		t.Errorf("%+v, want %+v beside what was asked for", got.Negotiated, one)
	}
	shake(tls.VersionTLS12)
	both := Negotiated{Version: "TLS 1.2 / TLS 1.3", CipherSuite: "TLS_AES_128_GCM_SHA256 / TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", KeyExchange: "X25519", ALPN: "h2 / none"}
	if got := seen.In(o.TLS); *got.Negotiated != both {
		t.Errorf("%+v, want %+v", got.Negotiated, both)
	}
	if got := seen.In(nil); got != nil {
		t.Errorf("of plain connections: %+v", got)
	}
}
