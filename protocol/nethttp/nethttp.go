// Package nethttp is what the protocols on net/http have in common: how their servers are run and drained, and the
// bounded, pre-opened connections of their clients. net/http's own pool of connections would dial when it likes, make
// calls again on new connections, and heed proxy variables; here a connection is a http.ClientConn of its own, which does
// none of that. The package knows no paths and no messages.
package nethttp

import "net/http"

// Version is the HTTP that is spoken on a connection: one of the constants.
type Version int

// The versions. HTTP2 without TLS is with prior knowledge: no upgrade, and no HTTP/1.1 beside it.
const (
	HTTP1 Version = 1
	HTTP2 Version = 2
	// Both is a server's alone: either, as the client asks.
	Both Version = 3
)

// ALPN is what the version is called in a handshake of TLS.
func (v Version) ALPN() string {
	if v == HTTP2 {
		return "h2"
	}
	return "http/1.1"
}

// alpn is what a server takes, in the order of its preference.
func (v Version) alpn() []string {
	if v == Both {
		return []string{HTTP2.ALPN(), HTTP1.ALPN()}
	}
	return []string{v.ALPN()}
}

func (v Version) protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(v != HTTP2)
	p.SetHTTP2(v != HTTP1)
	p.SetUnencryptedHTTP2(v != HTTP1)
	return p
}
