package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bakeoff/harness/report"
	"bakeoff/harness/result"
	"bakeoff/harness/result/resulttest"
)

// resultFile writes ten rounds of a subject whose server takes cpu seconds a call, give or take 2 %.
func resultFile(t *testing.T, name string, cpu float64, kernel string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := result.Create(path, result.Header{Experiment: "datatype", Planned: 10, Env: result.Environment{Kernel: kernel},
		Subjects: []result.Subject{{Name: "grpc", Conformant: true}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for round := 1; round <= 10; round++ {
		if err := w.Append(result.Trial{Subject: "grpc", Workload: "datatype", Mode: "closed", Concurrency: 50, Conns: 1, Round: round, Order: round,
			Store: "memory", Messages: 1, Window: 1, Elapsed: 1, Outcomes: result.Outcomes{Started: 9, OK: 9}, Histograms: []result.Histogram{resulttest.Times(t, "datatype", result.OutcomeOK, 9, 1e6)},
			Values: map[string]float64{result.Throughput: 1000, result.ServerCPUPerReq: cpu * (1 + 0.004*float64(round-5))}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompare(t *testing.T) {
	older, same, worse := resultFile(t, "old.jsonl", 20e-6, "6.1"), resultFile(t, "same.jsonl", 20e-6, "6.1"), resultFile(t, "worse.jsonl", 25e-6, "6.2")
	asJSON := filepath.Join(t.TempDir(), "c.json")
	const limit = "--fail-if=server_cpu_per_req>+5%"
	for _, c := range []struct {
		name        string
		args        []string
		code        int
		out, errOut []string
	}{
		{"a change", []string{older, worse}, exitOK, []string{"kernel: 6.1 -> 6.2", "+25% [", "Changed in server CPU per request: grpc @ 50"}, nil},
		{"none", []string{older, same, limit}, exitOK, []string{"are the same in both files", "No change was detected.", "PASSED: +0.0% [-", ": all of it keeps the limit"}, nil},
		{"a limit", []string{older, worse, limit, "-o", "markdown", "-o", "json=" + asJSON}, exitLimit, []string{"| grpc @ 50", "FAILED"},
			[]string{"1 of 1 check failed: grpc @ 50: server_cpu_per_req>+5%: +25% ["}},
		{"a limit that can't be read", []string{older, worse, "--fail-if", "server_cpu_per_req>5%"}, exitUsage, nil, []string{"--fail-if", "column 20"}},
		{"a figure that is in neither", []string{older, worse, "--fail-if", "store_cpu_per_req>+5%"}, exitUsage, nil, []string{"old.jsonl has no figure for", "throughput"}},
		{"a limit that could not be seen broken", []string{older, same, "--fail-if", "server_cpu_per_req>+0.1%"}, exitOK,
			[]string{"server_cpu_per_req>+0.1%, grpc @ 50: PASSED: +0.0% [-", "reaches beyond the limit: a change short of about +1.8% could not have been seen"},
			[]string{"warning: 1 of 1 check that passed may hide a change beyond the limit"}},
		{"wide", []string{older, worse, "--wide"}, exitOK, []string{"20.0 [19.8, 20.3]", "p alone", "10, 10"}, nil},
		{"a table of 80 columns", []string{older, worse}, exitOK, []string{"20.0 +-", "--wide, or -o wide, has the ends"}, nil},
		{"for benchstat", []string{older, worse, "--format", "benchfmt"}, exitOK, []string{" side: old ", " side: new ", "# Suspect these first", "kernel: 6.1 -> 6.2",
			" BenchmarkDatatype/subject=grpc/concurrency=50 9 "}, nil},
		{"for a CI", []string{older, worse, limit, "-o", "junit"}, exitLimit, []string{`<testsuites name="bakeoff compare" tests="2" failures="1" errors="0">`, `<failure type="limit"`}, nil},
		{"an unknown format", []string{older, worse, "-o", "csv"}, exitUsage, nil, []string{"table, wide, markdown, json, html, benchfmt, junit"}},
		{"one file", []string{older}, exitUsage, nil, []string{"an old and a new result file"}},
		{"no such file", []string{older, older + ".not"}, exitFailed, nil, []string{"no such file"}},
	} {
		r := bakeoff(t, append([]string{"compare"}, c.args...)...)
		if r.code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s", c.name, r.code, c.code, r.err)
		}
		wantAll(t, strings.Join(strings.Fields(r.out), " "), c.out...) // however its lines are broken
		wantAll(t, r.err, c.errOut...)
	}
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	if err := os.WriteFile(empty, []byte(`{"schema":2,"kind":"bakeoff-header","experiment":"datatype","planned":10,"subjects":[{"name":"grpc","conformant":true}]}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		errOut []string
	}{
		{"nothing new, no limit", []string{older, empty}, exitIncomplete, []string{"have nothing in common that could be compared"}},
		{"nothing new", []string{older, empty, limit, "--control", "grpc"}, exitIncomplete, []string{"1 of 1 check can't be told: grpc @ 50: server_cpu_per_req>+5%: it is not in "}},
		{"nothing old", []string{empty, same, limit}, exitIncomplete, []string{"there is no row in ", "empty.jsonl that could be held to it"}},
	} {
		r := bakeoff(t, append([]string{"compare"}, c.args...)...)
		if r.code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s", c.name, r.code, c.code, r.err)
		}
		wantAll(t, strings.Join(strings.Fields(r.out), " "), "There is no trial with figures in ", "nothing can be compared")
		wantAll(t, r.err, c.errOut...)
	}
	checks := report.Changes{Checks: []report.Check{{RowKey: report.RowKey{Subject: "grpc", Concurrency: 50, Rate: "500"}, Limit: "throughput<-5%", Result: report.CheckFailed, Text: "-9%"}}}
	wantAll(t, judge(checks).Error(), "grpc @ 50, 500/s: throughput<-5%: -9%")
	b, err := os.ReadFile(asJSON)
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, string(b), `"result": "failed"`, `"p_holm"`)
}
