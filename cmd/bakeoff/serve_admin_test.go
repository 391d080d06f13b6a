package main

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"bakeoff/harness/admin"
	"bakeoff/protocol/conformance"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// adminOf is the address in the line that tells it.
func adminOf(t *testing.T, line string) string {
	t.Helper()
	_, addr, ok := strings.Cut(strings.TrimSpace(line), "http://")
	if !ok {
		t.Fatalf("no admin listener in %q", line)
	}
	return addr
}

func dialled(t *testing.T, addr string) *admin.Client {
	t.Helper()
	c, err := admin.Dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestServeAdmin asks each server what it is and what it has counted, beside the port on which it is called.
func TestServeAdmin(t *testing.T) {
	for _, p := range suite.All {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s := start(t, ctx, "serve", p.Name, "--admin", ":0", "--in-flight", "9")
		addr := address(t, s.line(t))
		aside := adminOf(t, s.line(t))
		if !strings.HasPrefix(aside, "127.0.0.1:") {
			t.Errorf("%s: without a host it listens on %s", p.Name, aside)
		}
		c := dialled(t, aside)
		i := c.Info()
		if i.Role != admin.RoleServer || i.Serves != p.Name || i.Addr != addr || i.Store != "memory" || i.Auth || !i.Examines || i.Version != version() ||
			!strings.Contains(string(i.Options), `"in_flight":9`) {
			t.Errorf("%s says of itself %+v", p.Name, i)
		}
		client, err := p.Dial(ctx, addr, p.Options(2, 0))
		if err != nil {
			t.Fatal(err)
		}
		for n := range int64(3) {
			u, err := c.Usage(ctx)
			if err != nil || u.Counters["calls"] != n || u.CPU <= 0 || u.RSSPeak == nil {
				t.Errorf("%s after %d calls: %+v, %v", p.Name, n, u, err)
			}
			if _, err := client.GetFeature(ctx, service.Point{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		stop()
		s.ended(t, exitOK)
		if conn, err := net.Dial("tcp", aside); err == nil {
			conn.Close()
			t.Errorf("%s has ended, and its admin listener is there", p.Name)
		}
	}
}

// TestServeAdminExamined lets a server start another one like it, whose answers are then checked; nothing of it is left.
func TestServeAdminExamined(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := start(t, ctx, "serve", "thrift", "--admin", "127.0.0.1:0", "--option", "protocol=compact", "--in-flight", "2")
	s.line(t)
	c := dialled(t, adminOf(t, s.line(t)))
	p, err := suite.Find("thrift")
	if err != nil {
		t.Fatal(err)
	}
	p.Tuning.Knobs = map[string]string{"protocol": "compact"}
	err = c.Examine(ctx, func(ctx context.Context, port int) error {
		found, err := conformance.Run(ctx, p, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		for _, d := range found {
			t.Error(d)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if u, err := c.Usage(ctx); err != nil || u.Counters["calls"] != 0 {
		t.Errorf("the calls of the examination are counted as its own: %+v, %v", u, err)
	}
	stop()
	s.ended(t, exitOK)
	if left := children(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// TestServeStoreAdmin has the store tell what it has done.
func TestServeStoreAdmin(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := start(t, ctx, "serve", "store", "--addr", "127.0.0.1:0", "--admin", ":0", "--admin-host", "Store", "--admin-pprof")
	addr := address(t, s.line(t))
	aside := adminOf(t, s.line(t))
	c := dialled(t, aside)
	if i := c.Info(); i.Role != admin.RoleStore || i.Addr != addr || i.Examines {
		t.Errorf("it says of itself %+v", i)
	}
	if u, err := c.Usage(ctx); err != nil || len(u.Counters) == 0 || u.Counters["read"] != 0 {
		t.Errorf("%+v, %v", u, err)
	}
	for host, want := range map[string]int{"store:80": http.StatusOK, "other": http.StatusMisdirectedRequest} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+aside+"/debug/pprof/cmdline", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("host %s: %d, want %d", host, answer.StatusCode, want)
		}
	}
	stop()
	s.ended(t, exitOK)
}

// TestAdminUsage holds wrong command lines about what is told aside to their message.
func TestAdminUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"serve", "grpc", "--admin", "9000"}, []string{`--admin "9000"`, "missing port", "host:port"}},
		{[]string{"serve", "grpc", "--admin", "127.0.0.1:99999"}, []string{`--admin "127.0.0.1:99999"`, "0 to 65535"}},
		{[]string{"serve", "grpc", "--addr", "127.0.0.1:9000", "--admin", ":9000"}, []string{"--admin :9000", "--addr 127.0.0.1:9000", "choose another"}},
		{[]string{"serve", "store", "--admin", "0.0.0.0:3000"}, []string{"--admin 0.0.0.0:3000", "--addr 127.0.0.1:3000"}},
		{[]string{"serve", "grpc", "--admin-pprof"}, []string{"--admin-pprof", "--admin, which is not given"}},
		{[]string{"serve", "store", "--admin-host", "x"}, []string{"--admin-host", "--admin, which is not given"}},
		{[]string{"agent"}, []string{"needs one of --pid, --name and --cgroup"}},
		{[]string{"agent", "--pid", "1", "--name", "asd"}, []string{"needs one of --pid, --name and --cgroup"}},
		{[]string{"agent", "--pid", "0"}, []string{"an id is above 0"}},
		{[]string{"agent", "--pid", "x"}, []string{`--pid "x": must be a whole number`}},
		{[]string{"agent", "--name", ""}, []string{"--name: its value is empty"}},
		{[]string{"agent", "--pid", "0"}, []string{"--pid: an id is above 0"}},
		{[]string{"agent", "--pid", "1", "--wait"}, []string{"--wait: goes with --name"}},
		{[]string{"agent", "--pid", "1", "--addr", "nope"}, []string{`--addr "nope"`, "host:port"}},
	} {
		r := bakeoff(t, c.args...)
		if r.code != exitUsage || r.out != "" {
			t.Errorf("%v: exit code %d, stdout %q", c.args, r.code, r.out)
		}
		wantAll(t, r.err, c.want...)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := bakeoff(t, "serve", "http", "--admin", l.Addr().String())
	if r.code != exitFailed {
		t.Errorf("exit code %d", r.code)
	}
	wantAll(t, r.err, "--admin "+l.Addr().String(), "in use", "port 0")
}
