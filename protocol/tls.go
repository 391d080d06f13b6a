package protocol

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// TLS says how a connection is protected, to both of its ends. It names files and holds no key, so that it may stand in a
// result. Cert, Key and ClientCA are read by the server, the others by the client.
//
// All protocols get the same and differ in ALPN alone: TLS 1.2 at least (two ends of ours agree on 1.3), the cipher
// suites that HTTP/2 allows, and no resumption: each connection pays for a whole handshake, be it the first or one that
// was dialled again.
type TLS struct {
	// Cert and Key are the server's certificate, with what leads to its CA, and the key of it.
	Cert string `json:"cert,omitempty"`
	Key  string `json:"key,omitempty"`
	// ClientCA has the server ask each client for a certificate that this CA has signed; empty: it asks for none.
	ClientCA string `json:"client_ca,omitempty"`
	// CA is whom the client trusts; empty: whom the system does.
	CA string `json:"ca,omitempty"`
	// ClientCert and ClientKey are what the client shows when it is asked.
	ClientCert string `json:"client_cert,omitempty"`
	ClientKey  string `json:"client_key,omitempty"`
	// ServerName is the name that the server's certificate must be for; empty: the host that is dialled.
	ServerName string `json:"server_name,omitempty"`
	// MinVersion is MinTLS or "1.3".
	MinVersion string `json:"min_version,omitempty"`
	// Negotiated is what a client and its server have agreed on. It is told and never asked for: a driver writes it into its trial's
	// options, and both ends ignore it.
	Negotiated *Negotiated `json:"negotiated,omitempty"`
}

// MinTLS is the oldest version that is spoken where nothing else is said.
const MinTLS = "1.2"

// defaulted leaves t as it is: many options may point to it.
func (t *TLS) defaulted() *TLS {
	if t == nil || t.MinVersion != "" {
		return t
	}
	d := *t
	d.MinVersion = MinTLS
	return &d
}

// config is what both ends have in common.
func (t *TLS) config(alpn []string) (*tls.Config, error) {
	c := &tls.Config{
		NextProtos: alpn,
		// What gRPC would choose by itself, given to all: the suites of TLS 1.2 that RFC 9113 does not forbid.
		CipherSuites: []uint16{
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
		},
		SessionTicketsDisabled: true,
	}
	switch t.MinVersion {
	case "", MinTLS:
		c.MinVersion = tls.VersionTLS12
	case "1.3":
		c.MinVersion = tls.VersionTLS13
	default:
		return nil, fmt.Errorf("tls: min_version %q: must be %s or 1.3", t.MinVersion, MinTLS)
	}
	return c, nil
}

// ServerTLS is what a server protects its connections with, nil for plain ones; alpn are the names of the protocol that it
// speaks in them. An error names the file that is wrong.
func (o Options) ServerTLS(alpn ...string) (*tls.Config, error) {
	if o.TLS == nil {
		return nil, nil
	}
	c, err := o.TLS.config(alpn)
	if err != nil {
		return nil, err
	}
	if o.TLS.Cert == "" || o.TLS.Key == "" {
		return nil, errors.New("tls: a server needs a certificate and its key (--tls-cert and --tls-key; 'bakeoff certs DIR' makes them)")
	}
	cert, err := keyPair(o.TLS.Cert, o.TLS.Key)
	if err != nil {
		return nil, err
	}
	c.Certificates = []tls.Certificate{cert}
	if o.TLS.ClientCA != "" {
		if c.ClientCAs, err = pool(o.TLS.ClientCA); err != nil {
			return nil, err
		}
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// ClientTLS is what a client of the server at addr protects its connections with, nil for plain ones.
func (o Options) ClientTLS(addr string, alpn ...string) (*tls.Config, error) {
	if o.TLS == nil {
		return nil, nil
	}
	c, err := o.TLS.config(alpn)
	if err != nil {
		return nil, err
	}
	if c.ServerName = o.TLS.ServerName; c.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
		if c.ServerName = host; host == "" {
			c.ServerName = "localhost"
		}
	}
	if o.TLS.CA != "" {
		if c.RootCAs, err = pool(o.TLS.CA); err != nil {
			return nil, err
		}
	}
	var own *tls.Certificate
	if o.TLS.ClientCert != "" || o.TLS.ClientKey != "" {
		cert, err := keyPair(o.TLS.ClientCert, o.TLS.ClientKey)
		if err != nil {
			return nil, err
		}
		own = &cert
	}
	if o.Handshaken != nil {
		c.VerifyConnection = func(s tls.ConnectionState) error {
			o.Handshaken(s)
			return nil
		}
	}
	c.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) { return show(own, asked) }
	return c, nil
}

// show answers a server that asks for a certificate. What it would refuse is refused here: in TLS 1.3 the client's
// handshake ends before the server's verdict, which may be lost when the server closes the connection behind it.
func show(own *tls.Certificate, asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
	if own == nil {
		return nil, errNoCertificate
	}
	if err := asked.SupportsCertificate(own); err != nil {
		return nil, fmt.Errorf("%w: %w", errOtherCA, err)
	}
	return own, nil
}

var (
	errNoCertificate = errors.New("no certificate was given")
	errOtherCA       = errors.New("the certificate is not what it asks for")
)

// keyPair reads a certificate and its key, and refuses one that nobody would take now.
func keyPair(cert, key string) (tls.Certificate, error) {
	if cert == "" || key == "" {
		return tls.Certificate{}, fmt.Errorf("tls: a certificate and its key go together: there is only %s%s", cert, key)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return pair, fmt.Errorf("tls: certificate %s with key %s: %w", cert, key, err)
	}
	leaf := pair.Leaf
	if now := time.Now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return pair, fmt.Errorf("tls: certificate %s is valid from %s to %s, which is not now: make a new one ('bakeoff certs DIR --force'), or set the clock",
			cert, leaf.NotBefore.UTC().Format(time.RFC3339), leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return pair, nil
}

// pool reads the certificates of whom to trust.
func pool(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("tls: CA: %w", err)
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls: CA: %s has no certificate in PEM", file)
	}
	return p, nil
}

// Socket is what lies under TLS, or c itself.
func Socket(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}

// Cut closes a connection at once. Under TLS it leaves the farewell out, which waits for a peer that does not read.
func Cut(c net.Conn) error { return Socket(c).Close() }
