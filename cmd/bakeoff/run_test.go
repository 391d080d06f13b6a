package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"bakeoff/harness/result"
)

// short are the flags of a run that proves the machinery and measures nothing worth having.
func short(results string, more ...string) []string {
	return append([]string{"run", "--rounds", "2", "--duration", "100ms", "--warmup", "20ms", "--concurrency", "8", "--seed", "7", "--results", results}, more...)
}

// doc is what programs rely on of -o json.
type doc struct {
	Schema     int
	Experiment string
	Rows       []struct {
		Subject, Mode              string
		Concurrency, Conns, Rounds int
		Outcomes                   map[string]json.Number
		Metrics                    map[string]struct {
			Unit              string
			Median, Low, High *float64
		}
		Flags []struct{ Kind, Text string }
	}
	Comparisons []map[string]any
}

// TestMainJob is the main job for real: servers and drivers as processes, the gate, the file, the formats.
func TestMainJob(t *testing.T) {
	racing(t)
	dir := t.TempDir()
	results, asJSON, adr := filepath.Join(dir, "sub", "r.jsonl"), filepath.Join(dir, "r.json"), filepath.Join(dir, "r.md")
	r := bakeoff(t, short(results, "--auth", "-o", "table", "-o", "json="+asJSON, "--format", "adr="+adr, "--load", "50000/s", "--core-price", "0.04/h")...)
	measured(t, r)
	wantAll(t, r.err, "conformance: grpc gives the agreed answers", "block 1 of 2", "block 2 of 2", results)
	record, err := os.ReadFile(adr)
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, string(record), "of the server for 50000 calls/s", "a month [", "a core 0.04 an hour")
	wantAll(t, r.out, "Cores for 50000 calls/s", "server's cost a month", "grpc @ 8", "thrift @ 8", "http @ 8", "store miniaero (as aerospike ", "seed 7")

	b, err := os.ReadFile(asJSON)
	if err != nil {
		t.Fatal(err)
	}
	var d doc
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	if d.Schema != 1 || d.Experiment != "datatype" || len(d.Rows) != 3 || len(d.Comparisons) == 0 {
		t.Fatalf("schema %d, experiment %q, %d rows, %d comparisons", d.Schema, d.Experiment, len(d.Rows), len(d.Comparisons))
	}
	conns := map[string]int{"grpc": 1, "thrift": 8, "http": 8}
	for _, row := range d.Rows {
		if row.Mode != "closed" || row.Concurrency != 8 || row.Rounds != 2 || row.Conns != conns[row.Subject] {
			t.Errorf("row %+v", row)
		}
		count := func(name string) int64 {
			n, err := row.Outcomes[name].Int64()
			if err != nil {
				t.Errorf("%s: outcome %s: %v", row.Subject, name, err)
			}
			return n
		}
		if started, ok := count("started"), count("ok"); ok == 0 || started != ok+count("failed")+count("cut_off") || count("dropped") != 0 {
			t.Errorf("%s: outcomes %v", row.Subject, row.Outcomes)
		}
		for name, unit := range map[string]string{
			"throughput": "req/s", "latency_p50": "s", "latency_p99": "s", "server_cpu_per_req": "s", "client_cpu_per_req": "s", "store_cpu_per_req": "s",
			"bytes_sent_per_req": "B", "bytes_received_per_req": "B", "server_rss": "B",
		} {
			m, ok := row.Metrics[name]
			if !ok || m.Unit != unit || m.Median == nil || m.Low == nil || m.High == nil {
				t.Errorf("%s: metric %s is %+v", row.Subject, name, m)
				continue
			}
			if *m.Median <= 0 || *m.Low > *m.Median || *m.High < *m.Median {
				t.Errorf("%s: metric %s: %g in [%g, %g]", row.Subject, name, *m.Median, *m.Low, *m.High)
			}
		}
		for _, flag := range row.Flags {
			if flag.Kind == "store_count" {
				t.Errorf("%s: %s", row.Subject, flag.Text)
			}
		}
	}

	again := bakeoff(t, "report", results, "-o", "json", "--load", "50000/s", "--core-price", "0.04/h")
	if again.code != exitOK || again.out != string(b) {
		t.Errorf("report gives another document (exit code %d):\n%s", again.code, again.out)
	}
}

// TestInterrupted ends a run in its second block: exit code, file, report and processes.
func TestInterrupted(t *testing.T) {
	racing(t)
	ctx, cancel := context.WithCancel(t.Context())
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoffUntil(t, ctx, func(line string) {
		if strings.HasPrefix(line, "block 2") {
			cancel()
		}
	}, short(results, "--subjects", "http,thrift")...)
	if r.code != exitInterrupted {
		t.Errorf("exit code %d, want %d:\n%s", r.code, exitInterrupted, r.err)
	}
	wantAll(t, r.err, "interrupted; what had ended until then is kept", "run --resume")
	wantAll(t, r.out, "2 of 4 trials")
	f, err := result.ReadFile(results)
	if err != nil || len(f.Trials) != 2 {
		t.Errorf("%d trials were kept (%v), want 2", len(f.Trials), err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// TestInterruptedGate ends a run before anything was measured.
func TestInterruptedGate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoffUntil(t, ctx, func(line string) {
		if strings.HasPrefix(line, "conformance: grpc") {
			cancel()
		}
	}, short(results)...)
	if r.code != exitInterrupted {
		t.Errorf("exit code %d, want %d:\n%s", r.code, exitInterrupted, r.err)
	}
	wantAll(t, r.err, "interrupted before the first trial had ended: nothing was measured")
	if strings.Contains(r.err, "kept") {
		t.Errorf("it says that something was kept: %s", r.err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// TestKilledGate kills the server, or the store, of the second subject while its answers are checked: that subject was not checked,
// which is one line and no claim about its answers; the other is measured and stands.
func TestKilledGate(t *testing.T) {
	for _, kill := range []string{"serve\x00thrift\x00", "serve\x00store\x00"} {
		results := filepath.Join(t.TempDir(), "r.jsonl")
		var once sync.Once
		killed := make(chan struct{})
		r := bakeoffUntil(t, t.Context(), func(line string) {
			if !strings.HasPrefix(line, "conformance: http") {
				return
			}
			once.Do(func() {
				go func() {
					defer close(killed)
					killWithCalls(t, kill)
				}()
			})
		}, short(results, "--subjects", "http,thrift")...)
		<-killed
		if r.code != exitFailed {
			t.Errorf("exit code %d, want %d:\n%s", r.code, exitFailed, r.err)
		}
		wantAll(t, r.err, "conformance: thrift is not ranked, for its answers could not be checked: ", "exited (signal: killed)")
		var said []string
		for line := range strings.Lines(r.err) {
			if strings.Contains(line, "thrift") && strings.Contains(line, "conformance") {
				said = append(said, line)
			}
		}
		if len(said) != 1 || strings.Contains(r.err+r.out, "differ in vector") || strings.Contains(r.err+r.out, "answers differ") {
			t.Errorf("lines %q, want one; in all:\n%s%s", said, r.err, r.out)
		}
		f, err := result.ReadFile(results)
		if err != nil || len(f.Header.Subjects) != 2 || !f.Header.Subjects[0].Conformant || f.Header.Subjects[1].Conformant || f.Header.Subjects[1].Unchecked == "" {
			t.Errorf("header %+v (%v), want that thrift was not checked", f.Header.Subjects, err)
		}
	}
}

// killWithCalls kills the child with this in its command line, once a server of thrift is there and has been connected to.
func killWithCalls(t *testing.T, args string) {
	for t.Context().Err() == nil {
		pids := map[string]int{}
		for _, pid := range children(t) {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			for _, name := range []string{"serve\x00thrift\x00", "serve\x00store\x00"} {
				if err == nil && strings.Contains(string(b), name) {
					pids[name] = pid
				}
			}
		}
		server := pids["serve\x00thrift\x00"]
		if server == 0 || pids[args] == 0 || !accepted(server) {
			continue
		}
		if err := syscall.Kill(pids[args], syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		return
	}
}

// accepted says that more connections are established from and to a process than it has to its store: 80 calls, and the tending.
func accepted(pid int) bool {
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return false
	}
	sockets := 0
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:") {
			sockets++
		}
	}
	return sockets > conformanceCalls+2 // the store's pool and the listener
}

// TestKilledServer kills the first server that is measured: its trial is an error that says so, all others stand.
func TestKilledServer(t *testing.T) {
	results := filepath.Join(t.TempDir(), "r.jsonl")
	killed := 0
	r := bakeoffUntil(t, t.Context(), func(line string) {
		if killed != 0 || !strings.HasPrefix(line, "block 1") {
			return
		}
		killed = -1
		go func() { // the server is started after the line
			for {
				for _, pid := range children(t) {
					if syscall.Kill(pid, syscall.SIGKILL) == nil {
						return
					}
				}
			}
		}()
	}, short(results, "--subjects", "http", "--rounds", "4")...)
	if r.code != exitFailed {
		t.Errorf("exit code %d, want %d:\n%s", r.code, exitFailed, r.err)
	}
	wantAll(t, r.err, "FAILED", "killed", "1 of 4 trials failed")
	f, err := result.ReadFile(results)
	if err != nil || len(f.Trials) != 4 {
		t.Fatalf("%d trials (%v), want 4", len(f.Trials), err)
	}
	for i, trial := range f.Trials {
		if (trial.Error != "") != (i == 0) {
			t.Errorf("trial %d: error %q", i+1, trial.Error)
		}
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// TestFullDisk writes a report where there is no room: the run says so, and has lost nothing.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoff(t, short(results, "--subjects", "http", "--store", "memory", "-o", "json=/dev/full", "-o", "table")...)
	if r.code != exitFailed {
		t.Errorf("exit code %d, want %d", r.code, exitFailed)
	}
	wantAll(t, r.err, "/dev/full", "no space left", results)
	wantAll(t, r.out, "http @ 8")
	f, err := result.ReadFile(results)
	if err != nil || len(f.Trials) != 2 {
		t.Fatalf("%d trials were kept (%v), want 2", len(f.Trials), err)
	}
	if v, ok := f.Trials[0].Values[result.StoreCPUPerReq]; ok {
		t.Errorf("the memory store has no process, and yet a CPU figure: %g", v)
	}
}

// TestDriveRefused tells a driver of a server that is not there.
func TestDriveRefused(t *testing.T) {
	addr := refusingAddr(t)
	for _, subject := range []string{"grpc", "thrift", "http"} {
		job := fmt.Sprintf(`{"subject":%q,"addr":%q,"options":{"conns":2,"in_flight":2},"workload":"datatype","concurrency":2,"duration_ns":1000000}`, subject, addr)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(w, job)
		var out, errOut strings.Builder
		code := run(t.Context(), []string{"drive"}, r, &out, &errOut)
		w.Close()
		if code != exitFailed {
			t.Errorf("%s: exit code %d, want %d", subject, code, exitFailed)
		}
		wantAll(t, errOut.String(), addr, "refused")
		wantAll(t, out.String(), `"event":"error"`, addr)
	}
}

// children are the processes that this one has started and not waited for.
func children(t *testing.T) []int {
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Error(err)
	}
	var pids []int
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		for _, f := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(f)
			if err != nil {
				t.Error(err)
				continue
			}
			pids = append(pids, pid)
		}
	}
	return pids
}
