package protocol

import (
	"cmp"
	"crypto/tls"
	"slices"
	"strings"
	"sync"
)

// Negotiated is what the two ends of connections have agreed on in their handshakes, in words. Where connections differ, a field
// has all its words, with " / " between them.
type Negotiated struct {
	Version     string `json:"version"`      // "TLS 1.3"
	CipherSuite string `json:"cipher_suite"` // "TLS_AES_128_GCM_SHA256"
	ALPN        string `json:"alpn"`         // "h2"; NoALPN where no protocol was named
	// KeyExchange is the group: "X25519MLKEM768". It is empty for TLS 1.2, where it is chosen after the certificate has been found good.
	KeyExchange string `json:"key_exchange,omitempty"`
}

// NoALPN stands in Negotiated for connections that name no protocol, as those of Thrift.
const NoALPN = "none"

// Handshakes remembers what a client's handshakes agreed on. The zero value is ready; it may be used concurrently.
type Handshakes struct {
	mu   sync.Mutex
	seen []Negotiated // each once
}

// Note remembers a handshake. It is an Options.Handshaken.
func (h *Handshakes) Note(s tls.ConnectionState) {
	n := Negotiated{Version: tls.VersionName(s.Version), CipherSuite: tls.CipherSuiteName(s.CipherSuite), ALPN: cmp.Or(s.NegotiatedProtocol, NoALPN)}
	if s.CurveID != 0 {
		n.KeyExchange = s.CurveID.String()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.seen, n) {
		h.seen = append(h.seen, n)
	}
}

// In gives t with what was agreed on, for a result. It is t itself where there was no handshake.
func (h *Handshakes) In(t *TLS) *TLS {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t == nil || len(h.seen) == 0 {
		return t
	}
	with := *t
	with.Negotiated = &Negotiated{
		Version: h.words(func(n Negotiated) string { return n.Version }), CipherSuite: h.words(func(n Negotiated) string { return n.CipherSuite }),
		KeyExchange: h.words(func(n Negotiated) string { return n.KeyExchange }), ALPN: h.words(func(n Negotiated) string { return n.ALPN }),
	}
	return &with
}

// words are those of a field, in an order that does not depend on which connection came first.
func (h *Handshakes) words(of func(Negotiated) string) string {
	var all []string
	for _, n := range h.seen {
		if word := of(n); word != "" {
			all = append(all, word)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " / ")
}
