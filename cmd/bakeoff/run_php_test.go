package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"bakeoff/harness/load"
	"bakeoff/harness/plan"
	"bakeoff/harness/result"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// needPHP skips a test where there is no PHP, unless the environment says that there must be one.
func needPHP(t *testing.T) {
	t.Helper()
	if err := suite.PHP[0].Missing(t.Context()); err != nil {
		if os.Getenv("REQUIRE_PHP") != "" {
			t.Fatalf("REQUIRE_PHP is set: %v", err)
		}
		t.Skipf("skipped: %v", err)
	}
}

// ownPHP has what this test starts find its scripts in a folder by which its processes are known from those of others.
func ownPHP(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir
}

// phpOf are the processes whose scripts lie in dir.
func phpOf(t *testing.T, dir string) (pids []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		text, err := os.ReadFile(line)
		if err == nil && bytes.Contains(text, []byte(filepath.Join(dir, "bakeoff-php-"))) {
			pids = append(pids, filepath.Base(filepath.Dir(line)))
		}
	}
	return pids
}

// nonePHP fails when processes or scripts are left in dir.
func nonePHP(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "bakeoff-php-*"))
	if pids := phpOf(t, dir); err != nil || len(pids)+len(left) > 0 {
		t.Errorf("left behind: the processes %v, the folders %v (%v)", pids, left, err)
	}
}

// TestGatewayInPHP runs the fronts in PHP beside the one alone: their workers are metered, calls are counted where they pass by, and none of it is left.
func TestGatewayInPHP(t *testing.T) {
	needPHP(t)
	dir := ownPHP(t)
	file := filepath.Join(t.TempDir(), "gateway.jsonl")
	r := bakeoff(t, "run", "gateway", "--subjects", "php,php-http-dial,php-grpc,php-grpc-close", "--rounds", "1", "--concurrency", "4",
		"--duration", "300ms", "--warmup", "50ms", "--rank-flagged", "--results", file)
	if r.code != exitOK && r.code != exitIncomplete { // a busy machine may spoil a row
		t.Fatalf("exit code %d:\n%s", r.code, r.err)
	}
	nonePHP(t, dir)
	wantAll(t, r.err, "conformance: php gives the agreed answers (3 of 47 vectors", "conformance: php-grpc gives the agreed answers (31 of 47 vectors", "the others were not asked")
	wantAll(t, r.out, "A front and its backend beside php: by how much more")
	f := trialsIn(t, file)
	wantAll(t, warningOf(f.Header.Warnings, result.WarnPartlyChecked), "php: held to 3 of 47 vectors, those of what it has (DataType of the published pair); the others were not asked")
	for _, s := range f.Header.Subjects {
		want := map[string]string{"php-http-dial": "php", "php-grpc": "php"}[s.Name]
		if s.Alone != want || !s.Conformant {
			t.Errorf("%s: without the hop it is %q, want %q; conformant: %t %v %s", s.Name, s.Alone, want, s.Conformant, s.Differences, s.Unchecked)
		}
	}
	if len(f.Trials) != 4 {
		t.Fatalf("%d trials, want 4", len(f.Trials))
	}
	for _, tr := range f.Trials {
		v := tr.Values
		if tr.Error != "" || tr.Outcomes.OK == 0 || tr.Outcomes.FailedTotal() != 0 || !strings.HasPrefix(tr.Store, "miniaero") {
			t.Errorf("%s on %s: %s %+v", tr.Subject, tr.Store, tr.Error, tr.Outcomes)
		}
		for _, w := range tr.Warnings {
			if w.Kind == result.WarnServerCount || w.Kind == result.WarnStoreCount {
				t.Errorf("%s: %s", tr.Subject, w.Text)
			}
		}
		// The process that starts PHP does nothing while calls are answered: CPU of about the client's is that of the workers.
		if v[result.ServerCPU] < v[result.ClientCPU]/10 || v[result.ServerRSS] <= 0 || v[result.ServerSwitches] <= 0 {
			t.Errorf("%s: the server used %v s where its client used %v, and %v bytes, with %v switches a call", tr.Subject, v[result.ServerCPU], v[result.ClientCPU],
				v[result.ServerRSS], v[result.ServerSwitches])
		}
		if _, counted := v[result.ServerCalls]; counted {
			t.Errorf("%s: the server counted %v calls, none of which it saw", tr.Subject, v[result.ServerCalls])
		}
		hop := tr.Subject != "php"
		if n := v[result.BackendCalls]; hop && (n < float64(tr.Outcomes.OK) || n > float64(tr.Outcomes.Started)) || v[result.BackendCPU] > 0 != hop {
			t.Errorf("%s: of %+v the backend counted %v, and used %v s", tr.Subject, tr.Outcomes, n, v[result.BackendCPU])
		}
		sum := 0.0
		for _, s := range tr.Slices {
			sum += s.CPU["server"]
		}
		if all := v[result.ServerCPU]; sum < 0.9*all || sum > 1.1*all {
			t.Errorf("%s: in the parts of the window the server used %v s, in all of it %v", tr.Subject, sum, all)
		}
	}
}

// TestPHPOfOneThatIsKilled: a run that is killed leaves no PHP behind.
func TestPHPOfOneThatIsKilled(t *testing.T) {
	needPHP(t)
	dir := ownPHP(t)
	cmd := exec.Command(plain, "run", "gateway", "--subjects", "php-grpc", "--rounds", "1", "--concurrency", "4", "--duration", "10m", "--results", filepath.Join(t.TempDir(), "r.jsonl"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait := func(what string, until func(pids []string) bool) {
		t.Helper()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		limit := time.After(time.Minute)
		for !until(phpOf(t, dir)) {
			select {
			case <-tick.C:
			case <-limit:
				t.Fatalf("%s: the processes are %v", what, phpOf(t, dir))
			}
		}
	}
	wait("PHP is started", func(pids []string) bool { return len(pids) > 2 })
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // killed
	wait("PHP has ended", func(pids []string) bool { return len(pids) == 0 })
	nonePHP(t, dir)
}

// TestServePHP is a front in PHP by hand: over a backend of its own, over one that was started by hand, and alone. What it tells of itself is with its workers.
func TestServePHP(t *testing.T) {
	needPHP(t)
	dir := ownPHP(t)
	for _, p := range suite.PHP {
		ctx, stop := context.WithCancel(t.Context())
		args, words := []string{"serve", p.Name, "--admin", ":0"}, "(no store)"
		var back *started
		if p.Backend != nil {
			back = start(t, ctx, "serve", p.Backend.Protocol.Name)
			backend := address(t, back.line(t))
			args, words = append(args, "--backend", backend), "(backend: "+p.Backend.Protocol.Name+" at "+backend+")"
		}
		front := start(t, ctx, args...)
		told := front.line(t)
		wantAll(t, told, words)
		aside := dialled(t, adminOf(t, front.line(t)))
		c, err := p.Dial(ctx, address(t, told), p.Options(2, 0))
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			if d, err := c.DataType(ctx, service.DataTypeRequest{Group: service.KnownGroup, Name: service.KnownName}); err != nil || d.CodeID != service.KnownCode {
				t.Fatalf("%s: got %+v, %v", p.Name, d, err)
			}
		}
		before, err := aside.Usage(ctx)
		for range 200 {
			if _, err := c.DataType(ctx, service.DataTypeRequest{Group: service.KnownGroup, Name: service.KnownName}); err != nil {
				t.Fatal(err)
			}
		}
		after, err2 := aside.Usage(ctx)
		if err != nil || err2 != nil || after.CPU <= before.CPU || len(after.Counters) != 0 || aside.Info().Examines {
			t.Errorf("%s tells %v and then %v of CPU (%v, %v), counts %v, and examines: %t", p.Name, before.CPU, after.CPU, err, err2, after.Counters, aside.Info().Examines)
		}
		c.Close()
		stop()
		front.ended(t, exitOK)
		if back != nil {
			back.ended(t, exitOK)
		}
	}
	nonePHP(t, dir)
}

// TestPHPIsMissing: without php the experiment's own subjects of it are left out, which is said, and those that were named are refused.
func TestPHPIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	const mend = "php is not installed: apt-get install php-cli php-curl"
	for _, args := range [][]string{
		{"run", "gateway", "--subjects", "http,php-grpc"}, {"run", "gateway", "--baseline", "php"}, {"run", "gateway", "--subjects", "php-http-dial"},
	} {
		r := bakeoff(t, args...)
		if r.code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", args, r.code, exitUsage)
		}
		wantAll(t, r.err, "the subject php", "can't be measured: "+mend)
	}
	r := bakeoff(t, "serve", "php-http")
	if r.code != exitFailed {
		t.Errorf("serve: exit code %d, want %d", r.code, exitFailed)
	}
	wantAll(t, r.err, "serve php-http: "+mend)
	if r := bakeoff(t, "run", "gateway", "--print"); r.code != exitOK || !strings.Contains(r.out, "php-grpc") {
		t.Errorf("printed, it is to be run elsewhere: exit code %d, %s %s", r.code, r.out, r.err)
	}

	e, err := plan.Find("gateway")
	if err != nil {
		t.Fatal(err)
	}
	e.Defaults.Subjects = []string{"php", "http", "php-http", "php-grpc"}
	e.Defaults.Rounds, e.Defaults.Duration, e.Defaults.Warmup = 1, 50*time.Millisecond, 0
	file := filepath.Join(t.TempDir(), "gateway.jsonl")
	f := runFlags{store: storeMemory, timeout: protocol.DefaultTimeout, results: file, rate: rateFlags{arrivals: load.Even.Name, maxFailures: defaultMaxFailures}}
	j, err := f.job(e, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	var out, told bytes.Buffer
	if err := j.run(t.Context(), &streams{in: strings.NewReader(""), out: &out, err: &told}); err != nil {
		t.Logf("%v", err) // a busy machine may spoil the row
	}
	const left = "left out: php, php-http, php-grpc: " + mend
	wantAll(t, told.String(), left+"\n")
	got := trialsIn(t, file)
	if names := measuredIn(got.Header); !slices.Equal(names, []string{"http"}) || len(got.Trials) != 1 || got.Trials[0].Error != "" || got.Header.Baseline != "http" {
		t.Errorf("measured %v, %d trials, baseline %s, want http alone", names, len(got.Trials), got.Header.Baseline)
	}
	if w := warningOf(got.Header.Warnings, warnLeftOut); w != left {
		t.Errorf("the result says %q, want %q", w, left)
	}
	if n := strings.Count(strings.Join(strings.Fields(out.String()), " "), left); n != 1 {
		t.Errorf("the report says it %d times, want once:\n%s", n, out.String())
	}
}

func measuredIn(h result.Header) (names []string) {
	for _, s := range h.Subjects {
		names = append(names, s.Name)
	}
	return names
}

// TestPartialSubjects: what a subject does not have is not asked of it; of the experiment's own one is left out, and one that was named is refused.
func TestPartialSubjects(t *testing.T) {
	needPHP(t)
	for _, row := range []struct {
		args []string
		want []string
	}{
		{[]string{"--subjects", "http,php", "--workload", "getfeature"}, []string{"the subject php can't be measured: it has DataType of the published pair alone, and the workload getfeature calls GetFeature",
			"choose another workload (datatype), or leave it out of the subjects"}},
		{[]string{"--subjects", "php", "--workload", "datatype,datatype-catalogue"}, []string{"the workload datatype-catalogue calls DataType"}},
		{[]string{"--subjects", "php-http", "--workload", "payload-1k"}, []string{"the subject php-http can't be measured: it has Login, DataType alone", "calls Echo", "(datatype, datatype-catalogue, scenario)"}},
		{[]string{"--subjects", "php", "--auth"}, []string{"with tokens (--auth) Login is called: leave --auth away"}},
		{[]string{"--subjects", "php", "--workload", "scenario"}, []string{"the workload scenario calls Login, DataType"}},
		{[]string{"--subjects", "php-grpc+tls"}, []string{"the subject php-grpc+tls can't be measured: the front in PHP speaks no TLS"}},
	} {
		r := bakeoff(t, append([]string{"run", "gateway"}, row.args...)...)
		if r.code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", row.args, r.code, exitUsage)
		}
		wantAll(t, r.err, row.want...)
	}
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"php", "--auth"}, "--auth: php answers by itself"},
		{[]string{"php", "--store", "memory"}, "--store: php answers by itself"},
		{[]string{"php", "--backend", "127.0.0.1:1"}, "php answers by itself: fronts ask a backend"},
		{[]string{"php", "--option", "workers=none"}, `option "workers": "none" is neither auto nor a number from 1 to 999`},
	} {
		if r := bakeoff(t, append([]string{"serve"}, row.args...)...); r.code != exitUsage || !strings.Contains(r.err, row.want) {
			t.Errorf("%v: exit code %d, %s, want %s", row.args, r.code, r.err, row.want)
		}
	}
	r := bakeoff(t, "run", "gateway", "--workload", "datatype-catalogue", "--print")
	if r.code != exitOK || !strings.Contains(r.out, "php-http, php-http-dial, php-grpc]") || strings.Contains(r.out, "php, php-http") {
		t.Errorf("of the experiment's own one is left out that lacks the workload's calls: exit code %d, %s %s", r.code, r.out, r.err)
	}
	wantAll(t, bakeoff(t, "list", "subjects").out, fmt.Sprintf("  %-18s %s\n", "php-grpc", suite.PHP[2].Doc))
	wantAll(t, bakeoff(t, "list", "options").out, "php workers", "php-http backend-reuse", "php-http backend-timeout")
}
