package peek

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"bakeoff/internal/certs"
)

// TestAtTLS looks through TLS of either version: at the other side's farewell, at data, and at the end without a word.
func TestAtTLS(t *testing.T) {
	set, err := certs.Make(time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(set.Server.Cert, set.Server.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, row := range []struct {
			what string
			do   func(peer *tls.Conn) error
			want State
		}{
			{"says nothing", func(*tls.Conn) error { return nil }, Quiet},
			{"sends a byte", func(peer *tls.Conn) error { _, err := peer.Write([]byte{1}); return err }, Bytes},
			{"sends three bytes", func(peer *tls.Conn) error { _, err := peer.Write([]byte{1, 2, 3}); return err }, Bytes},
			{"says farewell", (*tls.Conn).CloseWrite, Closed},
			{"closes", (*tls.Conn).Close, Closed},
			{"is cut off", func(peer *tls.Conn) error { return peer.NetConn().Close() }, Closed},
		} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			raw, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			accepted, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			peer := tls.Server(accepted, &tls.Config{Certificates: []tls.Certificate{pair}, MaxVersion: version, SessionTicketsDisabled: true})
			c := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
			shaken := make(chan error, 1)
			go func() { shaken <- peer.Handshake() }()
			if err := c.Handshake(); err != nil {
				t.Fatal(err)
			}
			if err := <-shaken; err != nil {
				t.Fatal(err)
			}
			if err := row.do(peer); err != nil {
				t.Fatal(err)
			}
			if got := At(c); got != row.want { // what is sent on the loopback has arrived when the call returns
				t.Errorf("%s, a peer that %s: got state %d, want %d", tls.VersionName(version), row.what, got, row.want)
			}
			peer.NetConn().Close()
			raw.Close()
			l.Close()
		}
	}
}
