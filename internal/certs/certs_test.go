package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// leaf reads a pair as its user does.
func leaf(t *testing.T, p Pair) *x509.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		t.Fatal(err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		t.Errorf("the key is %T, want ECDSA over P-256", pair.PrivateKey)
	}
	return pair.Leaf
}

func TestMake(t *testing.T) {
	now := time.Now()
	s, err := Make(now, 30, "bench.example", "10.0.0.7", "localhost", "fe80::1")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"localhost", "127.0.0.1", "::1", "bench.example", "10.0.0.7", "fe80::1"}; !slices.Equal(s.Names, want) {
		t.Errorf("names %v, want %v", s.Names, want)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(s.CA.Cert)
	server, client, ca := leaf(t, s.Server), leaf(t, s.Client), leaf(t, s.CA)
	for _, name := range s.Names {
		if ip := strings.Contains(name, ":"); ip {
			name = "[" + name + "]" // VerifyOptions wants an IPv6 address so
		}
		if _, err := server.Verify(x509.VerifyOptions{DNSName: name, Roots: trusted}); err != nil {
			t.Errorf("the server's certificate for %s: %v", name, err)
		}
	}
	if _, err := server.Verify(x509.VerifyOptions{DNSName: "other.example", Roots: trusted}); err == nil {
		t.Error("the server's certificate is taken for a host that was not named")
	}
	asClient := x509.VerifyOptions{Roots: trusted, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if _, err := client.Verify(asClient); err != nil {
		t.Errorf("the client's certificate: %v", err)
	}
	if _, err := server.Verify(asClient); err == nil {
		t.Error("the server's certificate is taken for a client's")
	}
	if !ca.IsCA || server.IsCA || client.IsCA {
		t.Errorf("the CA is one: %t; the server: %t, the client: %t", ca.IsCA, server.IsCA, client.IsCA)
	}
	for _, c := range []*x509.Certificate{ca, server, client} {
		if !c.NotBefore.Equal(s.From) || !c.NotAfter.Equal(s.Until) || c.NotBefore.After(now) || c.NotAfter.After(now.AddDate(0, 0, 30)) {
			t.Errorf("%s is valid from %v to %v, want %v to %v", c.Subject.CommonName, c.NotBefore, c.NotAfter, s.From, s.Until)
		}
		if c.SerialNumber.Sign() <= 0 {
			t.Errorf("%s has serial number %v", c.Subject.CommonName, c.SerialNumber)
		}
	}
}

func TestMakeRefuses(t *testing.T) {
	for _, c := range []struct {
		days int
		host string
		want string
	}{
		{0, "a", "0 days: must be from 1 to 825"},
		{826, "a", "826 days"},
		{1, "", `host ""`},
		{1, "a:80", `host "a:80": must be the name of a host or an IP address, without a port`},
		{1, "a..b", `host "a..b"`},
		{1, "-a", `host "-a"`},
		{1, "a\nb", `host "a\nb"`},
		{1, strings.Repeat("a.", 127) + "a", "must be the name of a host"},
	} {
		if _, err := Make(time.Now(), c.days, c.host); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d days for %q: got error %v, want %q", c.days, c.host, err, c.want)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	first, err := Make(time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := first.Write(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	mode := func(path string, want fs.FileMode) {
		t.Helper()
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want mode %v", path, st, err, want)
		}
	}
	for _, key := range []string{f.CAKey, f.ServerKey, f.ClientKey} {
		mode(key, 0o600)
	}
	mode(f.CA, 0o644)
	if _, err := tls.LoadX509KeyPair(f.Server, f.ServerKey); err != nil {
		t.Error(err)
	}

	second, err := Make(time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.CA); err != nil {
		t.Fatal(err)
	}
	_, err = second.Write(dir, false)
	if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "server-key.pem") || strings.Contains(err.Error(), "ca.pem") {
		t.Errorf("over files that are there: got error %v, want one that names them", err)
	}
	if _, err := os.Stat(f.CA); err == nil {
		t.Error("some files were written all the same")
	}
	if err := os.Chmod(f.ServerKey, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Write(dir, true); err != nil {
		t.Fatal(err)
	}
	mode(f.ServerKey, 0o600)
	if b, err := os.ReadFile(f.Server); err != nil || string(b) != string(second.Server.Cert) {
		t.Errorf("the old certificate is still there (%v)", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".bakeoff-*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// TestWriteUnfinished: what can't be finished leaves nothing, wherever it stops.
func TestWriteUnfinished(t *testing.T) {
	set, err := Make(time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	stands := In(dir).Server // no file can take the place of a folder
	if err := os.Mkdir(stands, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Write(dir, true); err == nil {
		t.Error("there is no error")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != filepath.Base(stands) {
		t.Errorf("left are %v, %v", left, err)
	}
}
