// Package certs makes the certificates of a trial: a CA of its own, and a server's and a client's certificate that it has
// signed. They are for measuring: the CA's key lies beside what it signed, so nothing else should trust it.
package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// MaxDays bounds how long certificates may be valid: some clients refuse older ones.
const MaxDays = 825

// LocalNames are the names of every server's certificate.
var LocalNames = []string{"localhost", "127.0.0.1", "::1"}

// Pair is a certificate and its key, in PEM.
type Pair struct{ Cert, Key []byte }

// Set is one CA and what it has signed.
type Set struct {
	CA, Server, Client Pair
	// From and Until bound the validity of all three, in UTC and whole seconds.
	From, Until time.Time
	// Names are what the server's certificate is for: names of hosts and IP addresses.
	Names []string
}

// early is how long before now certificates begin to be valid, for clocks that are late.
const early = 5 * time.Minute

// Make makes a set that is valid from now, or a little earlier, for so many days, for LocalNames and for hosts. All keys are
// ECDSA over P-256: the cheapest to sign with that every client takes.
func Make(now time.Time, days int, hosts ...string) (Set, error) {
	if days < 1 || days > MaxDays {
		return Set{}, fmt.Errorf("%d days: must be from 1 to %d", days, MaxDays)
	}
	return makeSet(now.Add(-early), now.AddDate(0, 0, days), hosts)
}

// Expired is a set that was valid for an hour and is not any more: for tests of who looks.
func Expired(now time.Time, hosts ...string) (Set, error) {
	return makeSet(now.Add(-2*time.Hour), now.Add(-time.Hour), hosts)
}

func makeSet(from, until time.Time, hosts []string) (Set, error) {
	s := Set{From: from.UTC().Truncate(time.Second), Until: until.UTC().Truncate(time.Second), Names: slices.Clone(LocalNames)}
	for _, h := range hosts {
		if err := checkHost(h); err != nil {
			return Set{}, err
		}
		if !slices.Contains(s.Names, h) {
			s.Names = append(s.Names, h)
		}
	}
	// A server names the CAs that it takes by their subjects alone, so no two may have the same.
	ca := s.template("bakeoff trial CA " + rand.Text())
	ca.IsCA, ca.BasicConstraintsValid, ca.MaxPathLenZero = true, true, true
	ca.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	signer, err := newKey()
	if err != nil {
		return Set{}, err
	}
	if s.CA, err = sign(ca, ca, signer, signer); err != nil {
		return Set{}, err
	}
	for _, leaf := range []struct {
		pair  *Pair
		name  string
		usage x509.ExtKeyUsage
		names []string
	}{
		{&s.Server, "bakeoff trial server", x509.ExtKeyUsageServerAuth, s.Names},
		{&s.Client, "bakeoff trial client", x509.ExtKeyUsageClientAuth, nil},
	} {
		c := s.template(leaf.name)
		c.KeyUsage, c.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{leaf.usage}
		for _, n := range leaf.names {
			if ip := net.ParseIP(n); ip != nil {
				c.IPAddresses = append(c.IPAddresses, ip)
			} else {
				c.DNSNames = append(c.DNSNames, n)
			}
		}
		key, err := newKey()
		if err != nil {
			return Set{}, err
		}
		if *leaf.pair, err = sign(c, ca, key, signer); err != nil {
			return Set{}, err
		}
	}
	return s, nil
}

// checkHost refuses what no client could ask for.
func checkHost(h string) error {
	if net.ParseIP(h) != nil {
		return nil
	}
	labels := strings.Split(strings.TrimPrefix(h, "*."), ".")
	for _, l := range labels {
		ok := l != "" && len(l) <= 63 && l[0] != '-' && l[len(l)-1] != '-'
		for _, r := range l {
			ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
		}
		if !ok || len(h) > 253 {
			return fmt.Errorf("host %q: must be the name of a host or an IP address, without a port", h)
		}
	}
	return nil
}

func (s Set) template(name string) *x509.Certificate {
	return &x509.Certificate{ // without a serial number one is drawn
		Subject:   pkix.Name{Organization: []string{"bakeoff"}, CommonName: name},
		NotBefore: s.From, NotAfter: s.Until,
	}
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func sign(c, by *x509.Certificate, key, signer *ecdsa.PrivateKey) (Pair, error) {
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, signer)
	if err != nil {
		return Pair{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}
