package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bakeoff/harness/admin"
	"bakeoff/harness/result"
	"bakeoff/protocol/conformance"
)

// served is a `bakeoff serve` under way: where it is called, and where it tells of itself.
type served struct {
	*started
	addr, admin string
	stop        context.CancelFunc
}

// servingAside starts one in this process.
func servingAside(t *testing.T, args ...string) served {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	s := served{started: start(t, ctx, append([]string{"serve"}, args...)...), stop: stop}
	s.addr = address(t, s.line(t))
	if slices.Contains(args, "--admin") {
		s.admin = adminOf(t, s.line(t))
	}
	t.Cleanup(func() { stop(); s.ended(t, exitOK) })
	return s
}

func trialsIn(t *testing.T, path string) result.File {
	t.Helper()
	f, err := result.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func warningOf(all []result.Warning, kind string) string {
	if i := slices.IndexFunc(all, func(w result.Warning) bool { return w.Kind == kind }); i >= 0 {
		return all[i].Text
	}
	return ""
}

// TestTargets measures servers that run already, over a store that does: one with an admin listener, one of the same protocol
// under a label, one that nothing reads.
func TestTargets(t *testing.T) {
	store := servingAside(t, "store", "--addr", "127.0.0.1:0", "--admin", ":0")
	on := []string{"--store", "aerospike://" + store.addr + "/test", "--admin", ":0"}
	grpc := servingAside(t, append([]string{"grpc"}, on...)...)
	http := servingAside(t, append([]string{"http"}, on...)...)
	other := servingAside(t, append([]string{"http", "--option", "headers=off"}, on...)...)
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoff(t, short(results, "--target", "grpc="+grpc.addr+",admin="+grpc.admin, "--target", "http="+http.addr+",admin="+http.admin,
		"--target", "lean:http="+other.addr+",admin="+other.admin, "--store-agent", store.admin, "--baseline", "http", "-o", "json")...)
	measured(t, r)
	wantAll(t, r.err, "conformance: grpc gives the agreed answers", "conformance: lean gives the agreed answers")
	wantAll(t, r.out, "servers that ran already were not restarted between rounds: the rounds are less independent than the interval takes them for")
	f := trialsIn(t, results)
	if len(f.Trials) != 6 || len(f.Header.Subjects) != 3 {
		t.Fatalf("%d trials of %d subjects", len(f.Trials), len(f.Header.Subjects))
	}
	for i, label := range []string{"grpc", "http", "lean"} {
		s := f.Header.Subjects[i]
		if s.Name != label || !s.Conformant || s.Target == nil || s.Target.Network != result.NetworkLoopback || s.Target.Meter != result.MeterAdmin ||
			s.Target.Version != version() || s.Target.CPUs < 1 {
			t.Errorf("subject %+v, target %+v", s, s.Target)
		}
	}
	wantAll(t, string(f.Header.Subjects[2].Target.Options), `"headers":"off"`)
	wantAll(t, warningOf(f.Header.Warnings, result.WarnTargets), "grpc (loopback, read by its admin listener)", "not restarted")
	for _, tr := range f.Trials {
		if tr.Error != "" || tr.Outcomes.OK == 0 || !strings.HasPrefix(tr.Store, "miniaero") {
			t.Errorf("%s, round %d: error %q, %d ok, store %q", tr.Subject, tr.Round, tr.Error, tr.Outcomes.OK, tr.Store)
		}
		for _, name := range []string{result.ServerCPU, result.ServerCPUPerReq, result.ServerRSS, result.ClientCPU, result.StoreCPU, result.StoreOps + "read"} {
			if tr.Values[name] <= 0 {
				t.Errorf("%s, round %d: %s is %v", tr.Subject, tr.Round, name, tr.Values[name])
			}
		}
		if tr.Values[result.ServerCalls] != float64(tr.Outcomes.OK) {
			t.Errorf("%s: the server counted %v calls of %d", tr.Subject, tr.Values[result.ServerCalls], tr.Outcomes.OK)
		}
		if warningOf(tr.Warnings, result.WarnNotRestarted) == "" || warningOf(tr.Warnings, result.WarnMeterLost) != "" || warningOf(tr.Warnings, result.WarnStoreCount) != "" {
			t.Errorf("%s: warnings %v", tr.Subject, tr.Warnings)
		}
		// The client speaks as its server does.
		if lean := strings.Contains(string(tr.Options), `"headers":"off"`); lean != (tr.Subject == "lean") {
			t.Errorf("%s: options %s", tr.Subject, tr.Options)
		}
		if _, pinned := tr.CPUSets["server"]; pinned {
			t.Errorf("%s: CPU sets %v", tr.Subject, tr.CPUSets)
		}
	}

	// What a run that is resumed goes on with is the same.
	again := bakeoff(t, "run", "--resume", results)
	measured(t, again)
	wantAll(t, again.err, "nothing is missing")
}

// TestTargetThatIsAFront: its backend is part of what is measured, and is read by nobody.
func TestTargetThatIsAFront(t *testing.T) {
	front := servingAside(t, "front-http", "--admin", ":0")
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoff(t, short(results, "--target", "front-http="+front.addr+",admin="+front.admin)...)
	measured(t, r)
	wantAll(t, r.out, "backend unread in 2 of 2 rounds: the server is a front, and the backend that")
	for _, tr := range trialsIn(t, results).Trials {
		if _, known := tr.Values[result.BackendCPUPerReq]; known || tr.Values[result.ServerCPUPerReq] <= 0 {
			t.Errorf("round %d: %v", tr.Round, tr.Values)
		}
	}
}

// TestTargetUnread measures a server that nothing reads, and whose answers can be checked in part: it has its row, with the doubt
// and with '-' for what is unknown.
func TestTargetUnread(t *testing.T) {
	http := servingAside(t, "http")
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoff(t, short(results, "--target", "http="+http.addr)...)
	measured(t, r)
	part := fmt.Sprintf("%d of %d vectors", len(conformance.Plain), len(conformance.Vectors))
	wantAll(t, r.err, "conformance: http gives the agreed answers ("+part, "admin=host:port")
	wantAll(t, r.out, "http @ 8", "partly checked in 2 of 2 rounds")
	f := trialsIn(t, results)
	wantAll(t, warningOf(f.Header.Warnings, result.WarnTargets), "http (loopback, read by nothing: its CPU, memory and counts are unknown)")
	if s := f.Header.Subjects[0]; !s.Conformant || s.Unchecked != "" || s.Target.Meter != "" || s.Target.Checked != part {
		t.Errorf("subject %+v, target %+v", s, s.Target)
	}
	for _, tr := range f.Trials {
		if tr.Error != "" || tr.Outcomes.OK == 0 || tr.Store != storeOfTargets {
			t.Errorf("error %q, %d ok, store %q", tr.Error, tr.Outcomes.OK, tr.Store)
		}
		for _, name := range []string{result.ServerCPU, result.ServerCPUPerReq, result.ServerRSS, result.ServerCalls, result.StoreCPU} {
			if v, ok := tr.Values[name]; ok {
				t.Errorf("%s is %v, want unknown", name, v)
			}
		}
		if tr.Values[result.ClientCPU] <= 0 {
			t.Error("the driver's CPU is unknown")
		}
	}
}

// TestTargetsOfOneStore: rows of targets are compared where all are known to use one store, by their own words or by the user's.
func TestTargetsOfOneStore(t *testing.T) {
	told, silent := servingAside(t, "grpc", "--admin", ":0"), servingAside(t, "http")
	args := []string{"--target", "grpc=" + told.addr + ",admin=" + told.admin, "--target", "mine:http=" + silent.addr, "--rounds", "1", "-o", "json"}
	r := bakeoff(t, short(filepath.Join(t.TempDir(), "r.jsonl"), args...)...)
	wantAll(t, r.out, "the targets' stores differ, or are not known (grpc: memory; mine: unknown)", `"comparisons": []`)
	r = bakeoff(t, short(filepath.Join(t.TempDir(), "r.jsonl"), append(args, "--store", "memory")...)...)
	wantAll(t, r.out, "other connections: 8 x 1 against 1 x 8 of grpc")
	if strings.Contains(r.out, "stores differ") {
		t.Error(r.out)
	}
}

// TestTargetChecked: a server that has what the kit asks for is checked through itself.
func TestTargetChecked(t *testing.T) {
	http := servingAside(t, "http", "--probe", "--auth")
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoff(t, short(results, "--target", "http="+http.addr, "--auth", "--store", "memory")...)
	measured(t, r)
	if f := trialsIn(t, results); !f.Header.Subjects[0].Conformant || f.Trials[0].Store != storeMemory {
		t.Errorf("subject %+v, store %q", f.Header.Subjects[0], f.Trials[0].Store)
	}
}

// TestTargetStoreSaid: --store may say what a target tells, in the words of an address.
func TestTargetStoreSaid(t *testing.T) {
	for _, c := range []struct {
		said, told string
		want       bool
	}{
		{storeMemory, "memory", true},
		{storeMemory, "", true}, // nobody tells
		{storeOfTargets, "memory", true},
		{"aerospike://db/test", "aerospike 8.1.2.0 at db:3000", true},
		{"aerospike://db:3000/test", "memory", false},
		{"aerospike://db:3000/test", "aerospike 8.1.2.0 at otherdb:3000", false},
		{storeMemory, "aerospike 8.1.2.0 at db:3000", false},
	} {
		if err := (&target{info: admin.Info{Store: c.told}}).checkStore(c.said); (err == nil) != c.want {
			t.Errorf("--store %s, told %q: %v", c.said, c.told, err)
		}
	}
}

// TestTargetMeterDies ends what reads a target in the middle of a run: what was measured stands, and the run says what is missing.
func TestTargetMeterDies(t *testing.T) {
	http := servingAside(t, "http", "--probe", "--auth")
	ctx, stop := context.WithCancel(t.Context())
	agent := start(t, ctx, "agent", "--pid", strconv.Itoa(os.Getpid()))
	at := address(t, agent.line(t))
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoffUntil(t, t.Context(), func(line string) {
		if strings.HasPrefix(line, "block 2") {
			stop()
			agent.ended(t, exitOK)
		}
	}, short(results, "--target", "http="+http.addr+",admin="+at, "--auth")...)
	stop()
	if r.code != exitIncomplete {
		t.Errorf("exit code %d, want %d:\n%s", r.code, exitIncomplete, r.err)
	}
	wantAll(t, r.err, "trials in which the meters of a server or store that ran already failed: 1")
	wantAll(t, r.out, "meter lost in 1 of 2 rounds", at, "nothing listens there")
	f := trialsIn(t, results)
	if len(f.Trials) != 2 || f.Header.Subjects[0].Target.Meter != result.MeterAgent {
		t.Fatalf("%d trials, target %+v", len(f.Trials), f.Header.Subjects[0].Target)
	}
	for i, tr := range f.Trials {
		_, known := tr.Values[result.ServerCPU]
		if tr.Error != "" || tr.Outcomes.OK == 0 || known != (i == 0) {
			t.Errorf("trial %d: error %q, %d ok, server's CPU known: %t", i+1, tr.Error, tr.Outcomes.OK, known)
		}
	}
}

// TestTargetContact: what is wrong with what runs already is said before anything is measured, with the mend.
func TestTargetContact(t *testing.T) {
	refusing := refusingAddr(t)
	grpc, http := servingAside(t, "grpc", "--admin", ":0", "--in-flight", "8"), servingAside(t, "http", "--admin", ":0")
	thrift := servingAside(t, "thrift", "--auth", "--admin", ":0")
	store := servingAside(t, "store", "--addr", "127.0.0.1:0", "--admin", ":0")
	stored, other := servingAside(t, "http", "--admin", ":0", "--store", "aerospike://"+store.addr+"/test"), servingAside(t, "store", "--addr", "127.0.0.1:0")
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes connections, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	page := httptest.NewServer(http404{})
	defer page.Close()
	foreign := strings.TrimPrefix(page.URL, "http://")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--target", "grpc=" + refusing}, []string{"--target grpc=" + refusing, "nothing listens there", "bakeoff serve grpc"}},
		{[]string{"--target", "mine:grpc=" + grpc.addr + ",admin=" + refusing}, []string{"--target mine=" + grpc.addr, "admin=" + refusing, "nothing listens there"}},
		{[]string{"--target", "grpc=" + grpc.addr + ",admin=" + foreign}, []string{"admin=" + foreign, "no admin listener of bakeoff", "HTTP 404", "bakeoff serve --admin"}},
		{[]string{"--target", "http=" + http.addr + ",admin=" + grpc.addr}, []string{"admin=" + grpc.addr, "no admin listener of bakeoff"}},
		{[]string{"--target", "http=" + http.addr + ",admin=" + grpc.admin}, []string{"it serves grpc", "http:grpc=" + http.addr}},
		{[]string{"--target", "http=" + http.addr + ",admin=" + store.admin}, []string{"admin listener of a store"}},
		{[]string{"--target", "thrift=" + thrift.addr + ",admin=" + thrift.admin}, []string{"wants tokens: add --auth"}},
		{[]string{"--target", "http=" + http.addr + ",admin=" + http.admin, "--auth"}, []string{"does not check tokens", "start it with --auth"}},
		{[]string{"--target", "grpc=" + grpc.addr + ",admin=" + grpc.admin, "--concurrency", "9"}, []string{"8 calls in flight", "--in-flight 9"}},
		{[]string{"--target", "http=" + grpc.addr}, []string{"does not answer http"}},
		{[]string{"--target", "thrift=" + grpc.addr}, []string{"does not answer thrift"}},
		{[]string{"--target", "grpc=" + http.addr}, []string{"does not answer grpc"}},
		{[]string{"--target", "thrift=" + http.addr}, []string{"does not answer thrift"}},
		{[]string{"--target", "grpc=" + thrift.addr}, []string{"does not answer grpc"}},
		{[]string{"--target", "http=" + thrift.addr}, []string{"does not answer http"}},
		{[]string{"--target", "http=" + silent.Addr().String()}, []string{"does not answer http"}},
		{[]string{"--target", "http=" + http.addr + ",admin=" + http.admin, "--store", "aerospike://" + store.addr + "/test"}, []string{"--store aerospike://" + store.addr, "another store, memory", "leave --store away"}},
		{[]string{"--target", "http=" + stored.addr + ",admin=" + stored.admin, "--store", "memory"}, []string{"--store memory", "another store, miniaero", "at " + store.addr}},
		{[]string{"--target", "http=" + stored.addr + ",admin=" + stored.admin, "--store", "aerospike://" + other.addr + "/test"}, []string{"--store aerospike://" + other.addr, "another store, miniaero", "at " + store.addr}},
		{[]string{"--target", "http=" + http.addr, "--store-agent", refusing}, []string{"--store-agent " + refusing, "nothing listens there"}},
		{[]string{"--target", "http=" + http.addr, "--store-agent", grpc.admin}, []string{"--store-agent " + grpc.admin, "admin listener of a server (grpc)"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			results := filepath.Join(t.TempDir(), "r.jsonl")
			r := bakeoff(t, short(results, c.args...)...)
			if r.code != exitFailed || r.out != "" {
				t.Errorf("exit code %d, want %d; stdout %q", r.code, exitFailed, r.out)
			}
			wantAll(t, r.err, c.want...)
			if _, err := os.Stat(results); err == nil {
				t.Error("there is a result file")
			}
		})
	}
}

type http404 struct{}

func (http404) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// TestTargetUsage holds wrong command lines about targets to their message; nothing is connected to.
func TestTargetUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--target", "grpc"}, []string{`--target "grpc"`, "has no =", "[LABEL:]SUBJECT=host:port"}},
		{[]string{"--target", "grcp=a:1"}, []string{`did you mean "grpc"?`}},
		{[]string{"--target", "my:grcp=a:1"}, []string{`did you mean "grpc"?`}},
		{[]string{"--target", "a b:grpc=a:1"}, []string{`"a b" is no label`}},
		{[]string{"--target", ":grpc=a:1"}, []string{`"" is no label`}},
		{[]string{"--target", "grpc=a"}, []string{`address "a": missing port`}},
		{[]string{"--target", "grpc=a:0"}, []string{`address "a:0"`, "1 to 65535"}},
		{[]string{"--target", "grpc=:1"}, []string{`address ":1"`, "needs a host"}},
		{[]string{"--target", "grpc=a:1,admin"}, []string{`admin: address ""`}},
		{[]string{"--target", "grpc=a:1,amdin=a:2"}, []string{`"amdin=a:2" is not known here`}},
		{[]string{"--target", "grpc=a:1,admin=a:2,admin=a:3"}, []string{"twice"}},
		{[]string{"--target", "grpc=a:1,admin=a:1"}, []string{"admin is the address of the calls"}},
		{[]string{"--target", "grpc=a:1", "--target", "grpc=a:2"}, []string{"there is a grpc already", "mine:grpc=host:port"}},
		{[]string{"--target", "grpc=a:1", "--subjects", "grpc"}, []string{"--subjects", "the subjects are the targets"}},
		{[]string{"--target", "grpc=a:1", "--store", "embedded"}, []string{"--store embedded", "starts none"}},
		{[]string{"--target", "grpc=a:1", "--store", "memory", "--store-agent", "a:2"}, []string{"--store-agent: --store memory", "none to read"}},
		{[]string{"--target", "grpc=a:1", "--baseline", "http"}, []string{"--baseline", `"http"`}},
		{[]string{"--store-agent", "a:1"}, []string{"--store-agent: --store embedded needs none"}},
		{[]string{"--store", "memory", "--store-agent", "a:1"}, []string{"--store-agent: --store memory needs none"}},
		{[]string{"--target", "grpc=a:1", "--store-agent", "a"}, []string{`--store-agent: address "a": missing port`}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			r := bakeoff(t, append([]string{"run"}, c.args...)...)
			if r.code != exitUsage || r.out != "" {
				t.Errorf("exit code %d, want %d; stdout %q", r.code, exitUsage, r.out)
			}
			wantAll(t, r.err, c.want...)
		})
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, seed := range []string{"grpc=127.0.0.1:1", "a:grpc=[::1]:1,admin=b:2", ":=,", "grpc=x:1,admin=", "a:b:http=c:3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := parseTarget(spec)
		if err != nil {
			return
		}
		for _, addr := range []string{p.addr, p.adminAddr} {
			if _, _, err := net.SplitHostPort(addr); err != nil && addr != "" {
				t.Errorf("%q: address %q: %v", spec, addr, err)
			}
		}
		if p.label == "" || strings.ContainsAny(p.label, " ,=\n") {
			t.Errorf("%q: label %q", spec, p.label)
		}
	})
}
