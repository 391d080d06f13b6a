package main

import (
	"context"
	"path/filepath"
	"testing"

	"bakeoff/harness/admin"
	"bakeoff/harness/result"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// TestGateway runs fronts beside the front alone: each process that answers is metered and counted apart, and clients that dial for each
// call do so.
func TestGateway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gateway.jsonl")
	r := bakeoff(t, "run", "gateway", "--subjects", "http,front-grpc,front-thrift,front-http-idle2,http-close,front-http-idle2-close", "--rounds", "1", "--concurrency", "4",
		"--duration", "200ms", "--warmup", "50ms", "--rank-flagged", "--results", file)
	if r.code != exitOK && r.code != exitIncomplete { // a busy machine may spoil a row
		t.Fatalf("exit code %d:\n%s", r.code, r.err)
	}
	f := trialsIn(t, file)
	for _, s := range f.Header.Subjects {
		want := map[string]string{"front-grpc": "http", "front-thrift": "http", "front-http-idle2": "http", "front-http-idle2-close": "http-close"}[s.Name]
		if s.Alone != want || !s.Conformant {
			t.Errorf("%s: without the hop it is %q, want %q; conformant: %t", s.Name, s.Alone, want, s.Conformant)
		}
	}
	if len(f.Trials) != 6 {
		t.Fatalf("%d trials, want 6", len(f.Trials))
	}
	for _, tr := range f.Trials {
		hop, closing := tr.Subject != "http" && tr.Subject != "http-close", tr.Subject == "http-close" || tr.Subject == "front-http-idle2-close"
		v := tr.Values
		if tr.Error != "" || tr.Outcomes.OK == 0 || tr.Outcomes.FailedTotal() != 0 {
			t.Errorf("%s: %s %+v", tr.Subject, tr.Error, tr.Outcomes)
		}
		if v[result.BackendCPU] > 0 != hop || v[result.BackendRSS] > 0 != hop || v[result.ServerCPU] <= 0 || v[result.StoreCPU] <= 0 {
			t.Errorf("%s: the server used %v s, the backend %v, the store %v", tr.Subject, v[result.ServerCPU], v[result.BackendCPU], v[result.StoreCPU])
		}
		// Each call reaches the server once, and by it the backend once.
		if least, most := float64(tr.Outcomes.OK), float64(tr.Outcomes.Started); hop && (v[result.BackendCalls] < least || v[result.BackendCalls] > most) || v[result.ServerCalls] < least || v[result.ServerCalls] > most {
			t.Errorf("%s: of %v to %v calls the server counted %v and the backend %v", tr.Subject, least, most, v[result.ServerCalls], v[result.BackendCalls])
		}
		if dials := v[result.Dials]; closing != (dials > 0) || closing && dials < float64(tr.Outcomes.OK)-4 {
			t.Errorf("%s: %v dials for %d calls", tr.Subject, dials, tr.Outcomes.OK)
		}
	}
}

// TestServeBackend is a front by hand, over a backend that was started by hand. Both count what they are asked.
func TestServeBackend(t *testing.T) {
	for _, p := range suite.Fronts {
		ctx, stop := context.WithCancel(t.Context())
		back := start(t, ctx, "serve", p.Backend.Protocol.Name, "--auth")
		backend := address(t, back.line(t))
		front := start(t, ctx, "serve", p.Name, "--backend", backend, "--admin", ":0")
		told := front.line(t)
		wantAll(t, told, "(backend: "+p.Backend.Protocol.Name+" at "+backend+")")
		aside := dialled(t, adminOf(t, front.line(t)))
		c, err := p.Dial(ctx, address(t, told), p.Options(2, 0))
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Login(ctx, service.LoginRequest{ClientID: service.DemoClientID, Secret: service.DemoSecret})
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.DataType(ctx, service.DataTypeRequest{Auth: service.Auth{ClientID: service.DemoClientID, Token: s.Token}, Group: service.KnownGroup, Name: service.KnownName})
		if err != nil || d.CodeID != service.KnownCode {
			t.Errorf("%s: got %+v, %v", p.Name, d, err)
		}
		u, err := aside.Usage(ctx)
		if i := aside.Info(); err != nil || u.Counters["calls"] != 2 || i.Role != admin.RoleServer || i.Serves != p.Name || i.Store != "" {
			t.Errorf("%s says of itself %+v, and has counted %v, %v", p.Name, i, u.Counters, err)
		}
		c.Close()
		stop()
		front.ended(t, exitOK)
		back.ended(t, exitOK)
	}
}

func TestServeBackendUsage(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"grpc", "--backend", "127.0.0.1:1"}, "grpc answers by itself: fronts ask a backend (front-grpc, front-thrift, front-http, php-http, php-grpc)"},
		{[]string{"front-grpc", "--backend", "127.0.0.1"}, `--backend "127.0.0.1": must be the host:port on which a server of grpc listens`},
		{[]string{"front-grpc", "--backend", "127.0.0.1:0"}, `--backend "127.0.0.1:0": must be the host:port`},
		{[]string{"front-grpc", "--backend", ":20000"}, `--backend ":20000": must be the host:port`},
		{[]string{"front-thrift", "--backend", "127.0.0.1:1", "--auth"}, "--auth: is about what is answered, which the backend does: give it to that one (serve thrift)"},
		{[]string{"front-thrift", "--backend", "127.0.0.1:1", "--store", "memory"}, "--store: is about what is answered"},
		{[]string{"front-http", "--backend", "127.0.0.1:1", "--slow", "execution=pool(1,1ms)"}, "--slow: is about what is answered"},
		{[]string{"http", "--in-flight", "100001"}, "--in-flight 100001: must be from 1 to 100000"},
		{[]string{"front-grpc", "--option", "backend-conns=0"}, `option "backend-conns": "0" is no number of connections: from 1 to 10000`},
		{[]string{"front-grpc", "--option", "backend-conns=10001"}, `option "backend-conns": "10001" is no number of connections: from 1 to 10000`},
		{[]string{"php-http", "--addr", "127.0.0.1:20102", "--backend", "127.0.0.1:20102"}, "--backend 127.0.0.1:20102: is where php-http itself is to listen"},
		{[]string{"front-grpc", "--option", "backend-transport=framed"}, "backend-transport"},
	} {
		r := bakeoff(t, append([]string{"serve"}, row.args...)...)
		if r.code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", row.args, r.code, exitUsage)
		}
		wantAll(t, r.err, row.want)
	}
}
