package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"bakeoff/harness/plan"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/harness/workload"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// TestUsage holds wrong command lines to their message: what is wrong, where, and the mend; nothing is started.
func TestUsage(t *testing.T) {
	dir := t.TempDir()
	existing := filepath.Join(dir, "old.jsonl")
	if err := os.WriteFile(existing, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"serve", "grcp"}, []string{`unknown subject "grcp": did you mean "grpc"?`, "thrift-tuned"}},
		{[]string{"serve"}, []string{"needs the name of a protocol", "bakeoff serve grpc"}},
		{[]string{"serve", "grpc", "--option", "windw=1"}, []string{"--option of grpc", `"windw"`, "window", "reflection"}},
		{[]string{"serve", "http", "--reflection"}, []string{"--reflection: http has none"}},
		{[]string{"serve", "grpc", "--reflection", "--option", "reflection=off"}, []string{"--reflection with --option reflection=off: give one of the two"}},
		{[]string{"serve", "grpc", "--option", "window=big"}, []string{"window", "big"}},
		{[]string{"serve", "thrift", "--option", "protocol"}, []string{`"protocol": must be name=value`}},
		{[]string{"serve", "grpc", "--client", "nosecret"}, []string{"--client", "id:secret"}},
		{[]string{"serve", "grpc", "--in-flight", "0"}, []string{"--in-flight 0", "from 1 to"}},
		{[]string{"serve", "grpc", "--token-ttl", "0s"}, []string{"--token-ttl 0s", "above 0"}},
		{[]string{"serve", "grpc", "--store", "foo"}, []string{`--store "foo"`, "must be memory, or aerospike://host:port/namespace"}},
		{[]string{"serve", "grpc", "--store", "embedded"}, []string{"bakeoff serve store"}},
		{[]string{"serve", "grpc", "--store", "aerospike://127.0.0.1"}, []string{"--store", `"aerospike://127.0.0.1"`, "names no namespace"}},
		{[]string{"serve", "grpc", "--addr", "nope"}, []string{`--addr "nope"`, "missing port", "host:port"}},
		{[]string{"serve", "grpc", "--addr", "127.0.0.1:99999"}, []string{`--addr "127.0.0.1:99999"`, "invalid port", "0 to 65535"}},
		{[]string{"serve", "grpc", "--addr", "127.0.0.1:nope"}, []string{`--addr "127.0.0.1:nope"`, `unknown port "nope"`}},
		{[]string{"serve", "store", "--addr", "::1:x:3"}, []string{`--addr "::1:x:3"`, "too many colons"}},
		{[]string{"serve", "store", "--addr", "127.0.0.1:-1"}, []string{`--addr "127.0.0.1:-1"`, "0 to 65535"}},
		{[]string{"run", "--store", "aerospike://127.0.0.1"}, []string{"--store", `"aerospike://127.0.0.1"`, "names no namespace"}},
		{[]string{"doctor", "--store", "aerospike://u:p@127.0.0.1/test"}, []string{"--store", "user and password"}},
		{[]string{"serve", "store", "--max-memory", "-1"}, []string{"--max-memory", "must not be negative"}},
		{[]string{"serve", "store", "extra"}, []string{"extra"}},
		{[]string{"run", "datatpye"}, []string{`unknown experiment "datatpye": did you mean "datatype"?`}},
		{[]string{"run", "--subjects", "grpc,thirft"}, []string{`unknown subject "thirft": did you mean "thrift"?`}},
		{[]string{"run", "--workload", "recordrote"}, []string{`unknown workload "recordrote": did you mean "recordroute"?`}},
		{[]string{"run", "--baseline", "http", "--subjects", "grpc,thrift"}, []string{"--baseline", `"http"`, "grpc, thrift"}},
		{[]string{"run", "--rounds", "0"}, []string{"rounds 0", "at least 1"}},
		{[]string{"run", "--subjects", ""}, []string{"--subjects: its value is empty: leave the flag away, or give it one"}},
		{[]string{"run", "--live", ""}, []string{"--live: its value is empty"}},
		{[]string{"report", "--baseline=", "x.jsonl"}, []string{"--baseline: its value is empty"}},
		{[]string{"run", "--concurrency", "0,50"}, []string{"concurrency 0", "from 1 to"}},
		{[]string{"run", "--concurrency", "5x"}, []string{"--concurrency", "5x"}},
		{[]string{"run", "--turns", "x"}, []string{`--turns "x": must be 0 (as many as make sense), 1, 2, 5 or 10`}},
		{[]string{"run", "--turns", "3"}, []string{"turns 3: it must be 1 (one trial after another), 2, 5 or 10"}},
		{[]string{"run", "--concurrency", "1e3"}, []string{`--concurrency "1e3": must be whole numbers, comma-separated`}},
		{[]string{"run", "--seed", "-1"}, []string{`--seed "-1": must be a whole number from 0 to 18446744073709551615`}},
		{[]string{"run", "--rounds", "99999999999999999999"}, []string{`--rounds "99999999999999999999": must be a whole number`}},
		{[]string{"run", "--duration", "5"}, []string{`--duration "5": must be a time with its unit`}},
		{[]string{"run", "--auth=maybe"}, []string{`--auth "maybe": must be true or false`}},
		{[]string{"serve", "store", "--max-memory", "1G"}, []string{`--max-memory "1G": must be a whole number`}},
		{[]string{"run", "--duration", "-1s"}, []string{"duration -1s", "above 0"}},
		{[]string{"run", "--rate", "500,0"}, []string{"--rate", `"0" is not a whole number of calls a second from 1 to`}},
		{[]string{"run", "--rate", "5.5"}, []string{"--rate", "FROM..TO (ramp)"}},
		{[]string{"run", "--rate", "500,500"}, []string{"rate 500", "twice"}},
		{[]string{"run", "--rate", "5", "--arrivals", "poison"}, []string{"--arrivals", `did you mean "poisson"?`}},
		{[]string{"run", "--arrivals", "poisson"}, []string{"--arrivals poisson", "give a --rate"}},
		{[]string{"run", "--max-failures", "0%"}, []string{`--max-failures "0%"`, "such as 10%"}},
		{[]string{"run", "--max-failures", "many"}, []string{`--max-failures "many"`}},
		{[]string{"run", "--conns", "-2"}, []string{"conns -2", "0 (as many as the concurrency)"}},
		{[]string{"run", "--timeout", "0s"}, []string{"--timeout 0s"}},
		{[]string{"run", "--store", "redis://x"}, []string{`--store "redis://x"`, "embedded", "memory", "aerospike://host:port/namespace"}},
		{[]string{"run", "-o", "jsn"}, []string{"-o jsn", `did you mean "json"?`, "markdown"}},
		{[]string{"run", "-o", "json="}, []string{"no file after ="}},
		{[]string{"run", "-o", "json=" + dir + "/none/x.json"}, []string{"none/x.json", "no such file"}},
		{[]string{"run", "--results", existing}, []string{existing, "would be lost"}},
		{[]string{"run", "--results", existing + "/x"}, []string{existing, "not a directory"}},
		{[]string{"run", "--precision", "2"}, []string{`--precision "2"`, "as in 2%"}},
		{[]string{"run", "--precision", "2%", "--precision-of", "troughput"}, []string{`unknown figure "troughput": did you mean "throughput"?`, "server_cpu_per_req"}},
		{[]string{"run", "--precision", "2%", "--budget", "0s"}, []string{"--budget 0s", "above 0"}},
		{[]string{"run", "--precision", "2%", "--rounds", "7"}, []string{"--rounds 7 with --precision", "at least 8"}},
		{[]string{"run", "--precision", "2%", "--precision-of", "store_cpu_per_req", "--store", "memory"}, []string{"--precision-of store_cpu_per_req", "--store memory", "no figures of its own"}},
		{[]string{"run", "--precision", "2%", "--precision-of", "store_cpu_per_req", "--store", "aerospike://127.0.0.1:3000/test"}, []string{"--precision-of store_cpu_per_req", "--store-agent"}},
		{[]string{"run", "--duration", "1ns"}, []string{"--duration 1ns", "at least 10ms"}},
		{[]string{"run", "--rate", " "}, []string{"--rate", `rate ""`}},
		{[]string{"compare", "a", "b", "--metrics", ""}, []string{"--metrics: its value is empty"}},
		{[]string{"calibrate", "--from", "f", "--plant", "5%"}, []string{"--plant with --from", "measures nothing"}},
		{[]string{"run", "--load", "many"}, []string{`--load "many"`, "50000/s"}},
		{[]string{"run", "--core-price", "0.04/h"}, []string{"--core-price", "--load 50000/s"}},
		{[]string{"run", "--load", "5/s", "--print"}, []string{"--load with --print"}},
		{[]string{"run", "--budget", "5m"}, []string{"--budget", "--precision", "not given"}},
		{[]string{"calibrate", "--subject", "grcp"}, []string{`unknown subject "grcp": did you mean "grpc"?`}},
		{[]string{"calibrate", "--runs", "0"}, []string{"--runs 0", "at least 1"}},
		{[]string{"calibrate", "--runs", "1000"}, []string{"--runs 1000", "over 10000 trials"}},
		{[]string{"calibrate", "--plant", "5"}, []string{`--plant "5"`, "as in 2%"}},
		{[]string{"calibrate", "--plant-delay", "-1s"}, []string{"--plant-delay -1s", "must not be negative"}},
		{[]string{"calibrate", "--plant", "5%", "--plant-delay", "1ms"}, []string{"one at a time"}},
		{[]string{"serve", "grpc", "--burn", "-1us"}, []string{"--burn -1µs", "must not be negative"}},
		{[]string{"serve", "grpc", "--delay", "-1us"}, []string{"--delay -1µs", "must not be negative"}},
		{[]string{"run", "--no-such-flag"}, []string{"no-such-flag"}},
		{[]string{"rnu"}, []string{`unknown command "rnu"`}},
		{[]string{"report"}, []string{"needs a result file"}},
		{[]string{"list", "extra"}, []string{"extra"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			r := bakeoff(t, c.args...)
			if r.code != exitUsage {
				t.Errorf("exit code %d, want %d", r.code, exitUsage)
			}
			if r.out != "" {
				t.Errorf("stdout has %q", r.out)
			}
			wantAll(t, r.err, c.want...)
			if strings.Contains(r.err, "strconv") || strings.Contains(r.err, "invalid argument") {
				t.Errorf("it speaks of Go: %s", r.err)
			}
		})
	}
	if b, err := os.ReadFile(existing); err != nil || string(b) != "precious" {
		t.Errorf("the existing result file now holds %q (%v)", b, err)
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := bakeoff(t, "serve", "grpc", "--addr", l.Addr().String())
	if r.code != exitFailed {
		t.Errorf("exit code %d, want %d", r.code, exitFailed)
	}
	wantAll(t, r.err, l.Addr().String(), "in use", "port 0")
}

func TestStoreOutOfReach(t *testing.T) {
	refusing := refusingAddr(t)
	for _, args := range [][]string{
		{"serve", "http", "--store", "aerospike://" + refusing + "/test"},
		{"run", "--store", "aerospike://" + refusing + "/test", "--results", filepath.Join(t.TempDir(), "r.jsonl")},
	} {
		r := bakeoff(t, args...)
		if r.code != exitFailed {
			t.Errorf("%v: exit code %d, want %d", args, r.code, exitFailed)
		}
		wantAll(t, r.err, refusing)
	}
}

// refusingAddr is an address at which nobody listens any more.
func refusingAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestReportOfBadFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	header := `{"schema":1,"kind":"bakeoff-header","experiment":"datatype","planned":10,"subjects":[{"name":"grpc"}]}` + "\n"
	good := filepath.Join(dir, "good.jsonl")
	_, trial, _ := strings.Cut(sample(t, good), "\n")
	trial, _, _ = strings.Cut(trial, "\n")
	trial = strings.Replace(trial, `"subject":"http"`, `"subject":"grpc"`, 1)
	for _, c := range []struct {
		path string
		want []string
	}{
		{write("malformed.jsonl", header+"{\"kind\":\"bakeoff-trial\",]\n{}\n"), []string{"malformed.jsonl:2:25: the line is no JSON: it has ']' where a name in quotes is to stand", "remove the line"}},
		{write("empty.jsonl", ""), []string{"empty.jsonl"}},
		{write("newer.jsonl", `{"schema":99,"kind":"bakeoff-header"}`+"\n"), []string{"newer.jsonl", "99"}},
		{filepath.Join(dir, "none.jsonl"), []string{"none.jsonl", "no such file"}},
		{dir, []string{dir, "is a folder"}},
		{write("histogram.jsonl", header+`{"kind":"bakeoff-trial","subject":"grpc","round":1,"messages":1,"window":1,"outcomes":{"started":1,"ok":1,"cut_off":0,"dropped":0},"values":{"throughput":1},"histograms":[{"outcome":"ok","time":"response","count":1,"data":"AAAA"}]}`+"\n"),
			[]string{"histogram.jsonl:2:", "grpc, round 1"}},
		{write("figures.jsonl", header+`{"kind":"bakeoff-trial","subject":"grpc","round":1,"window":1}`+"\n"), []string{"figures.jsonl:2:1: a trial of grpc, round 1, without \"outcomes\""}},
		{write("edited.jsonl", header+regexp.MustCompile(`"throughput":[0-9.e]+`).ReplaceAllString(trial, `"throughput":1e308`)), []string{"edited.jsonl:2:1: a trial of grpc, round 1: \"values.throughput\" is 1e+308: want 0 to 1e15", "remove the line"}},
		{write("count.jsonl", header+strings.Replace(trial, `"count":`, `"count":1`, 1)), []string{"count.jsonl:2:1: a trial of grpc, round 1: histogram of step \"datatype\", ok: count says 158627 calls, the data hold 58627: ", "remove the line"}},
		{write("baseline.jsonl", strings.Replace(header, `"subjects"`, `"baseline":"soap","subjects"`, 1)), []string{`baseline.jsonl:1:1: the header: unknown baseline "soap"`, "restore the first line"}},
	} {
		for _, args := range [][]string{{"report", c.path}, {"compare", good, c.path}} {
			r := bakeoff(t, args...)
			if r.code != exitFailed || strings.Contains(r.err, "bakeoff help") {
				t.Errorf("%v: exit code %d, want %d, and no hint on usage: %s", args, r.code, exitFailed, r.err)
			}
			wantAll(t, r.err, c.want...)
		}
	}
	for _, args := range [][]string{
		{"report", good, "--baseline", "soap"}, {"compare", good, good, "--control", "soap"}, {"compare", good, good, "--metrics", "speed"},
	} {
		r := bakeoff(t, args...)
		if r.code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", args, r.code, exitUsage)
		}
		wantAll(t, r.err, "unknown", args[len(args)-1])
	}
}

// TestListNamesEverything holds `list` to the lists themselves.
func TestListNamesEverything(t *testing.T) {
	r := bakeoff(t, "list")
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	for _, p := range suite.All {
		wantAll(t, r.out, p.Name, p.Doc)
	}
	for _, w := range workload.All {
		wantAll(t, r.out, w.Name, w.Doc)
	}
	for _, e := range plan.All() {
		wantAll(t, r.out, e.Name, e.Doc)
	}
	for _, f := range report.All {
		wantAll(t, r.out, f.Name, f.Doc)
	}
}

// TestDescriptorLimit starts bakeoff under a hard limit that the plan can't live with.
func TestDescriptorLimit(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 200 && exec "$0" run --concurrency 800 --subjects thrift`, exe)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exitUsage {
		t.Errorf("it ended with %v, want exit code %d", err, exitUsage)
	}
	wantAll(t, string(out), "file descriptors", "ulimit", "200")
}

// TestDemoClientIsTold wants id and secret of the client that may log in by default where a user looks for them.
func TestDemoClientIsTold(t *testing.T) {
	r := bakeoff(t, "serve", "--help")
	if r.code != exitOK {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	wantAll(t, r.out, "id "+service.DemoClientID+", secret "+service.DemoSecret, service.DemoClientID+":"+service.DemoSecret)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, string(readme), "id `"+service.DemoClientID+"`, secret `"+service.DemoSecret+"`")
}

// TestOneOfAThing wants "1 trial failed" and not "1 trials".
func TestOneOfAThing(t *testing.T) {
	wantAll(t, incomplete([]result.Trial{{Error: "x"}}, nil, nil, "").Error(), "1 of 1 trial failed")
	wantAll(t, incomplete([]result.Trial{{Error: "x"}, {}}, nil, nil, "").Error(), "1 of 2 trials failed", "in 1 of 2 trials no call ended")
	var said strings.Builder
	p := &progress{w: &said, rounds: 1, perBlock: 1}
	p.trial(harness.Progress{Phase: harness.Starting, Trial: plan.Trial{Round: 1}})
	wantAll(t, said.String(), "block 1 of 1: 1 trial, about ")
}

// failing is a stdout without room.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestStdoutFull writes everything that goes to stdout where there is no room: that is never a success.
func TestStdoutFull(t *testing.T) {
	results := filepath.Join(t.TempDir(), "ok.jsonl")
	sample(t, results)
	for _, args := range [][]string{
		{"--help"}, {"help", "run"}, {"run", "--help"}, {}, {"list"}, {"version"}, {"report", results}, {"report", results, "-o", "json"}, {"compare", results, results},
		{"doctor"}, {"serve", "http"}, {"serve", "store", "--addr", "127.0.0.1:0"},
	} {
		var errOut strings.Builder
		if code := run(t.Context(), args, strings.NewReader(""), failing{}, &errOut); code != exitFailed || strings.Contains(errOut.String(), "bakeoff help") {
			t.Errorf("%v: exit code %d, want %d, and no hint on usage: %s", args, code, exitFailed, errOut.String())
		}
		wantAll(t, errOut.String(), "no space left")
	}
}

// TestErrorsAreSafe has a name with a trap in a file, and looks for it in what is said of the file.
func TestErrorsAreSafe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ok.jsonl")
	raw := strings.ReplaceAll(sample(t, path), `"thrift"`, `"a\u001b[31mred"`)
	if err := os.WriteFile(path, []byte(raw), 0o644); err != nil {
		t.Fatal(err)
	}
	r := bakeoff(t, "report", path, "--baseline", "soap")
	if r.code != exitUsage || strings.Contains(r.err, "\x1b") {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}
	wantAll(t, r.err, "a\ufffd[31mred")
}
