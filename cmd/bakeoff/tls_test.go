package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bakeoff/harness/result"
	"bakeoff/internal/certs"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// TestCerts makes certificates, and does not make them again unasked.
func TestCerts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	r := bakeoff(t, "certs", dir, "--host", "bench.example", "--host", "10.0.0.7", "--days", "2")
	if r.code != exitOK {
		t.Fatalf("exit code %d:\n%s", r.code, r.err)
	}
	f := certs.In(dir)
	pair, err := tls.LoadX509KeyPair(f.Server, f.ServerKey)
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, r.out, "valid for 2 days", "to "+pair.Leaf.NotAfter.UTC().Format("2006-01-02T15:04:05Z"),
		"localhost, 127.0.0.1, ::1, bench.example, 10.0.0.7", "ca.pem", "--tls-ca", "server-key.pem", "client-key.pem")
	if err := pair.Leaf.VerifyHostname("bench.example"); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(f.ServerKey); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", st, err)
	}
	again := bakeoff(t, "certs", dir)
	if again.code != exitFailed {
		t.Errorf("a second time: exit code %d, want %d", again.code, exitFailed)
	}
	wantAll(t, again.err, dir, "server-key.pem", "--force")
	if r := bakeoff(t, "certs", dir, "--force"); r.code != exitOK {
		t.Errorf("with --force: exit code %d: %s", r.code, r.err)
	}
}

// TestTLSUsage holds wrong command lines to their message, as TestUsage does.
func TestTLSUsage(t *testing.T) {
	dir := t.TempDir()
	if r := bakeoff(t, "certs", dir); r.code != exitOK {
		t.Fatal(r.err)
	}
	f := certs.In(dir)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"certs"}, []string{"needs a directory"}},
		{[]string{"certs", dir, "--days", "0"}, []string{"0 days: must be from 1 to 825"}},
		{[]string{"certs", dir, "--host", "a:1"}, []string{`host "a:1"`, "without a port"}},
		{[]string{"serve", "grpc", "--tls-cert", f.Server}, []string{"--tls-cert", "--tls-key"}},
		{[]string{"serve", "http", "--tls-key", f.ServerKey}, []string{"--tls-key", "--tls-cert"}},
		{[]string{"serve", "thrift", "--client-ca", f.CA}, []string{"--client-ca", "--tls-cert and --tls-key"}},
		{[]string{"serve", "grpc", "--tls-cert", f.Server, "--tls-key", f.ClientKey}, []string{f.Server, f.ClientKey, "does not match"}},
		{[]string{"serve", "grpc", "--tls-cert", f.Server + "x", "--tls-key", f.ServerKey}, []string{f.Server + "x", "no such file"}},
		{[]string{"run", "--tls-ca", f.CA}, []string{"--tls-ca", "give --tls"}},
		{[]string{"run", "--tls-server-name", "a"}, []string{"--tls-server-name", "give --tls"}},
		{[]string{"run", "tls", "--tls"}, []string{"the experiment tls measures each subject plain and over TLS"}},
		{[]string{"run", "--tls", "--tls-ca", f.CA}, []string{"--tls-ca " + f.CA, "--tls-cert and --tls-key"}},
		{[]string{"run", "--tls", "--tls-cert", f.Server}, []string{"--tls-cert and --tls-key"}},
		{[]string{"run", "--tls", "--tls-cert", f.Server, "--tls-key", f.ServerKey, "--tls-ca", f.CAKey}, []string{f.CAKey, "no certificate in PEM"}},
		{[]string{"run", "--tls", "--tls-server-name", "a:1"}, []string{`host "a:1"`}},
		{[]string{"run", "--tls", "--subjects", "grpc,grpc+tls"}, []string{`"grpc+tls" stands there twice`}},
		{[]string{"run", "--subjects", "grcp+tls"}, []string{`unknown subject "grcp": did you mean "grpc"?`}},
		{[]string{"run", "--authority", "a b", "--subjects", "http"}, []string{`--authority "a b"`, "no spaces"}},
		{[]string{"run", "--authority", "a\r\nX: y", "--subjects", "grpc"}, []string{"--authority", "no line ends"}},
		{[]string{"run", "--authority", "foo/x", "--subjects", "http"}, []string{`--authority "foo/x"`, "must be a host, with a port"}},
		{[]string{"run", "--authority", "user@foo", "--subjects", "http"}, []string{`--authority "user@foo"`, "must be a host"}},
		{[]string{"run", "--authority", "http://foo", "--subjects", "http"}, []string{"must be a host"}},
		{[]string{"run", "--authority", "foo:", "--subjects", "grpc"}, []string{"must be a host"}},
		{[]string{"run", "--authority", "foo:65536", "--subjects", "grpc"}, []string{"with a port from 0 to 65535"}},
		{[]string{"run", "--authority", "::1", "--subjects", "grpc"}, []string{"[::1]:443"}},
		{[]string{"run", "--authority", "[1:2]", "--subjects", "grpc"}, []string{"must be a host"}},
		{[]string{"run", "--authority", "a"}, []string{"--authority: thrift", "name subjects that can, as in --subjects grpc,http"}},
		{[]string{"run", "reflection", "--target", "grpc=a:1"}, []string{"--target: the experiment reflection", "--target grpc-reflection:grpc=host:port"}},
		{[]string{"health", "grpc=a:1", "--tls-ca", "nosuch"}, []string{"--tls-ca: is about a subject over TLS"}},
		{[]string{"health", "grpc+tls=a:1", "--tls-ca", "nosuch"}, []string{"nosuch"}},
		{[]string{"run", "--authority", "a", "--subjects", "grpc,thrift"}, []string{"--authority", "thrift's requests name no server"}},
	} {
		r := bakeoff(t, c.args...)
		if r.code != exitUsage || r.out != "" {
			t.Errorf("%v: exit code %d, want %d; stdout %q", c.args, r.code, exitUsage, r.out)
		}
		wantAll(t, r.err, c.want...)
	}
}

// TestServeOverTLS serves each protocol with the files of certs, and calls it as another program would.
func TestServeOverTLS(t *testing.T) {
	dir := t.TempDir()
	if r := bakeoff(t, "certs", dir); r.code != exitOK {
		t.Fatal(r.err)
	}
	f := certs.In(dir)
	for _, name := range []string{"grpc", "thrift", "http"} {
		ctx, stop := context.WithCancel(t.Context())
		s := start(t, ctx, "serve", name, "--tls-cert", f.Server, "--tls-key", f.ServerKey, "--client-ca", f.CA)
		line := s.line(t)
		wantAll(t, line, "over TLS, for clients with a certificate")
		p, err := suite.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		p.TLS = &protocol.TLS{CA: f.CA, ClientCert: f.Client, ClientKey: f.ClientKey}
		c, err := p.Dial(t.Context(), address(t, line), p.Options(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Login(t.Context(), service.LoginRequest{ClientID: service.DemoClientID, Secret: service.DemoSecret}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		stop()
		s.ended(t, exitOK)
	}
}

// TestRunTLS is the experiment for real: each subject both ways, with certificates of the run's own, which are gone after it.
func TestRunTLS(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	results, page := filepath.Join(t.TempDir(), "r.jsonl"), filepath.Join(t.TempDir(), "r.html")
	args := slices.Insert(short(results, "--subjects", "http,thrift", "--tls-server-name", "bench.example", "-o", "json", "-o", "html="+page), 1, "tls")
	r := bakeoff(t, args...)
	measured(t, r)
	wantAll(t, r.err, "conformance: http+tls gives the agreed answers", "conformance: thrift gives the agreed answers")
	var d doc
	if err := json.Unmarshal([]byte(r.out), &d); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range d.Rows {
		names = append(names, row.Subject)
	}
	if want := []string{"http", "http+tls", "thrift", "thrift+tls"}; !slices.Equal(names, want) {
		t.Errorf("rows of %v, want %v", names, want)
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}

	file, err := result.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	bytes := map[string]float64{}
	negotiated := map[string]*protocol.Negotiated{}
	for _, trial := range file.Trials {
		var o protocol.Options
		if err := json.Unmarshal(trial.Options, &o); err != nil {
			t.Fatal(err)
		}
		if over := strings.HasSuffix(trial.Subject, "+tls"); over != (o.TLS != nil) || over && (o.TLS.MinVersion != "1.2" || o.TLS.ServerName != "bench.example") {
			t.Errorf("%s: the options have TLS %+v", trial.Subject, o.TLS)
		}
		if o.TLS != nil {
			negotiated[trial.Subject] = o.TLS.Negotiated
		}
		bytes[trial.Subject] = trial.Values[result.SentPerReq]
	}
	for name, alpn := range map[string]string{"http+tls": "http/1.1", "thrift+tls": protocol.NoALPN} {
		if n := negotiated[name]; n == nil || n.Version != "TLS 1.3" || !strings.HasPrefix(n.CipherSuite, "TLS_") || n.ALPN != alpn {
			t.Errorf("%s: agreed on %+v, want TLS 1.3 and %s", name, n, alpn)
		}
	}
	for _, name := range []string{"http", "thrift"} {
		// A record of TLS 1.3 takes 22 bytes beside what it carries: 5 of head, 1 of type, 16 of tag. Calls of a few hundred
		// bytes fit in one.
		if more := bytes[name+"+tls"] - bytes[name]; more < 21 || more > 24 {
			t.Errorf("%s sends %g bytes more a call over TLS, want 22", name, more)
		}
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, string(html), "tls.negotiated.version", "tls.negotiated.cipher_suite", "tls.negotiated.alpn", "TLS 1.3")
	if raw, err := os.ReadFile(results); err != nil || strings.Contains(string(raw), "PRIVATE") {
		t.Errorf("the result file has a key (%v)", err)
	}
}

// TestRunAllOverTLS with certificates of the user's, of both sides.
func TestRunAllOverTLS(t *testing.T) {
	dir := t.TempDir()
	if r := bakeoff(t, "certs", dir); r.code != exitOK {
		t.Fatal(r.err)
	}
	f := certs.In(dir)
	results := filepath.Join(t.TempDir(), "r.jsonl")
	more := []string{"--subjects", "grpc", "--tls", "--baseline", "grpc", "--authority", "bench.example", "--tls-cert", f.Server, "--tls-key", f.ServerKey,
		"--tls-ca", f.CA, "--client-ca", f.CA, "--client-cert", f.Client, "--client-key", f.ClientKey}
	measured(t, bakeoff(t, short(results, more...)...))
	other := t.TempDir()
	if r := bakeoff(t, "certs", other); r.code != exitOK {
		t.Fatal(r.err)
	}
	results = filepath.Join(t.TempDir(), "r.jsonl")
	more[slices.Index(more, "--tls-ca")+1] = certs.In(other).CA
	r := bakeoff(t, short(results, more...)...)
	if r.code != exitFailed {
		t.Errorf("with a CA that has not signed: exit code %d, want %d", r.code, exitFailed)
	}
	wantAll(t, r.err+r.out, "signed by no CA that is trusted here", "--tls-ca")
	wantAll(t, r.err, "look at: the TLS options of both ends, before the subject")
}

// TestTargetsOverTLS: servers that run already are named as what they are, or the run says how to.
func TestTargetsOverTLS(t *testing.T) {
	dir := t.TempDir()
	if r := bakeoff(t, "certs", dir); r.code != exitOK {
		t.Fatal(r.err)
	}
	f := certs.In(dir)
	ctx, stop := context.WithCancel(t.Context())
	secured := start(t, ctx, "serve", "grpc", "--tls-cert", f.Server, "--tls-key", f.ServerKey, "--admin", "127.0.0.1:0")
	at := address(t, secured.line(t))
	admin := address(t, strings.ReplaceAll(strings.ReplaceAll(secured.line(t), "http://", ""), "/", " "))
	plain := start(t, ctx, "serve", "http")
	plainAt := address(t, plain.line(t))

	run := func(more ...string) ran {
		return bakeoff(t, short(filepath.Join(t.TempDir(), "r.jsonl"), more...)...)
	}
	r := run("--target", "grpc+tls="+at+",admin="+admin, "--tls-ca", f.CA)
	measured(t, r)
	wantAll(t, r.out, "grpc+tls @ 8")
	r = run("--target", "mine:grpc="+at+",admin="+admin, "--tls", "--tls-ca", f.CA)
	measured(t, r)
	wantAll(t, r.out, "mine @ 8")
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"--target", "grpc=" + at + ",admin=" + admin}, exitFailed, []string{"the server speaks TLS", "grpc:grpc+tls=" + at}},
		{[]string{"--target", "grpc=" + at}, exitFailed, []string{"the server speaks TLS, and this client does not"}},
		{[]string{"--target", "grpc+tls=" + at}, exitFailed, []string{"signed by no CA that is trusted here", "--tls-ca"}},
		{[]string{"--target", "http=" + plainAt, "--tls", "--tls-ca", f.CA}, exitFailed, []string{"leave --tls away"}},
		{[]string{"--target", "http=" + plainAt, "--tls-ca", f.CA}, exitUsage, []string{"--tls-ca: is about TLS"}},
		{[]string{"--target", "grpc=" + at, "--tls", "--tls-cert", f.Server, "--tls-key", f.ServerKey}, exitUsage, []string{"--tls-cert", "run already"}},
	} {
		r := run(c.args...)
		if r.code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.args, r.code, c.code)
		}
		wantAll(t, r.err, c.want...)
	}
	if r := bakeoff(t, "health", "grpc+tls="+at, "--tls-ca", f.CA); r.code != exitOK || r.out != "grpc+tls="+at+" is well\n" {
		t.Errorf("health over TLS: %+v", r)
	}
	if r := bakeoff(t, "health", "grpc+tls="+at); r.code != exitFailed || !strings.Contains(r.err, "signed by no CA that is trusted here") {
		t.Errorf("health over TLS with no CA: %+v", r)
	}
	if r := bakeoff(t, "run", "tls", "--target", "grpc="+at); r.code != exitUsage {
		t.Errorf("the experiment tls of targets: exit code %d, want %d", r.code, exitUsage)
	}
	stop()
	secured.ended(t, exitOK)
	plain.ended(t, exitOK)
}
