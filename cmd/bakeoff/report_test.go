package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bakeoff/harness/report"
)

// halves parts the sample's trials by the round into two files.
func halves(t *testing.T, dir string) (odd, even string) {
	t.Helper()
	odd, even = filepath.Join(dir, "odd.jsonl"), filepath.Join(dir, "even.jsonl")
	header, trials, _ := strings.Cut(sample(t, odd), "\n")
	parts := map[bool]string{true: header + "\n", false: header + "\n"}
	for line := range strings.Lines(trials) {
		var trial struct{ Round int }
		if err := json.Unmarshal([]byte(line), &trial); err != nil {
			t.Fatal(err)
		}
		parts[trial.Round%2 == 1] += line
	}
	for path, isOdd := range map[string]bool{odd: true, even: false} {
		if err := os.WriteFile(path, []byte(parts[isOdd]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return odd, even
}

// TestReportOfShards puts the halves of a run together again.
func TestReportOfShards(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.jsonl")
	sample(t, whole)
	odd, even := halves(t, dir)
	var got, want report.Tables
	for into, args := range map[*report.Tables][]string{&want: {"report", whole, "-o", "json"}, &got: {"report", odd, even, "--format", "json=-"}} {
		r := bakeoff(t, args...)
		if r.code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, r.code, r.err)
		}
		if err := json.Unmarshal([]byte(r.out), into); err != nil {
			t.Fatal(err)
		}
	}
	if got.Interrupted || got.Measured != want.Measured || len(got.Files) != 2 || got.Rows[0].Metrics["throughput"].Median != want.Rows[0].Metrics["throughput"].Median {
		t.Errorf("of %v: %d trials, want %d; %+v", got.Files, got.Measured, want.Measured, got.Rows[0])
	}
	// A shard alone is a run that was cut short.
	wantAll(t, bakeoff(t, "report", odd).out, "30 of 60 trials")
}

// TestReportSideBySide has two runs that differ in a setting.
func TestReportSideBySide(t *testing.T) {
	dir := t.TempDir()
	a, b, csv := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl"), filepath.Join(dir, "out.csv")
	raw := sample(t, a)
	if err := os.WriteFile(b, []byte(strings.Replace(raw, `"duration":"2s"`, `"duration":"3s"`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	r := bakeoff(t, "report", a, b, "-o", "table", "--format", "csv="+csv)
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	wantAll(t, r.out, "2 runs side by side", "subject @ conc.", "From a to b this differs: setting duration: 2s -> 3s.")
	if out, err := os.ReadFile(csv); err != nil || !strings.HasPrefix(string(out), "run,files,") {
		t.Errorf("csv: %.40q (%v)", out, err)
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-o", "junit"}, []string{`unknown format of several runs "junit"`, "markdown"}},
		{[]string{"--baseline", "grpc"}, []string{"--baseline is for one run", "2 that are not shards"}},
		{[]string{"--load", "500/s"}, []string{"--load is for one run"}},
		{[]string{"-o", "json=" + b}, []string{"b.jsonl is what is read"}},
	} {
		r := bakeoff(t, append([]string{"report", a, b}, c.args...)...)
		if r.code != exitUsage || r.out != "" {
			t.Errorf("%v: exit code %d, want %d", c.args, r.code, exitUsage)
		}
		wantAll(t, r.err, c.want...)
	}
}

// TestReportOfTheSame gives a file twice, and beside its copy: each trial counts once.
func TestReportOfTheSame(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	if err := os.WriteFile(b, []byte(sample(t, a)), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{"a.jsonl is named twice, and has the same 60 trials": {a, a}, "b.jsonl have the same 60 trials": {a, b}} {
		r := bakeoff(t, append([]string{"report", "--wide"}, args...)...)
		out := strings.Join(strings.Fields(r.out), " ")
		if r.code != exitOK || strings.Contains(out, "side by side") || strings.Contains(out, "120 of") {
			t.Errorf("%v: exit code %d: %s", args, r.code, r.err)
		}
		wantAll(t, out, want, "each was counted once")
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{a, b}, "b.jsonl have the same 60 trials: nothing new is compared there"},
		{[]string{a, a}, "a.jsonl is named twice, and has the same 60 trials each time: nothing new is compared there"},
		{[]string{a, b, "--fail-if", "throughput<-5%"}, "checks can't be told: "},
		{[]string{a, b, "--fail-if", "throughput<-5%", "--control", "grpc"}, "10 of its 10 rounds are the same trials in both files"},
	} {
		r := bakeoff(t, append([]string{"compare"}, c.args...)...)
		if r.code != exitIncomplete {
			t.Errorf("compare %v: exit code %d, want %d", c.args, r.code, exitIncomplete)
		}
		wantAll(t, r.err, c.want)
		wantAll(t, strings.Join(strings.Fields(r.out), " "), "nothing new is compared there", "The files have the same trials")
	}
}

// TestReportUsage holds the flags of report to their messages.
func TestReportUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ok.jsonl")
	sample(t, path)
	for _, c := range []struct{ args, want []string }{
		{[]string{"--load", "0/s"}, []string{`--load "0/s"`, "above 0", "50000/s"}},
		{[]string{"--load", "many"}, []string{`--load "many"`}},
		{[]string{"--load", "NaN"}, []string{`--load "NaN"`}},
		{[]string{"--load", "1e300"}, []string{`--load "1e300"`}},
		{[]string{"--load", "5/s", "--core-price", "0.04/d"}, []string{`--core-price "0.04/d"`, "0.04/h"}},
		{[]string{"--core-price", "0.04/h"}, []string{"--core-price", "--load 50000/s"}},
		{[]string{"-o", "json", "-o", "csv=-"}, []string{"both would go to stdout", "-o csv=FILE"}},
		{[]string{"-o", "tabel"}, []string{`did you mean "table"?`, "benchfmt"}},
	} {
		r := bakeoff(t, append([]string{"report", path}, c.args...)...)
		if r.code != exitUsage || r.out != "" {
			t.Errorf("%v: exit code %d, want %d", c.args, r.code, exitUsage)
		}
		wantAll(t, r.err, c.want...)
	}
}

// TestReportFlags has the load, the wide table, and the older name of a format.
func TestReportFlags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ok.jsonl")
	sample(t, path)
	for _, c := range []struct {
		args []string
		want string
		not  string
	}{
		{nil, "+-", "p99.9 ms"},
		{[]string{"--wide"}, "p99.9 ms", "+-"},
		{[]string{"--wide", "-o", "table"}, "p99.9 ms", "+-"},
		{[]string{"-o", "wide"}, "p99.9 ms", "+-"},
		{[]string{"-o", "gobench"}, "BenchmarkDatatype/", "no such"},
		{[]string{"--load", "50000/s", "--core-price", "0.04/h"}, "server's cost a month", "no such"},
		{[]string{"--load", "50000", "-o", "adr"}, "of the server for 50000 calls/s", "No load was named"},
	} {
		r := bakeoff(t, append([]string{"report", path}, c.args...)...)
		if r.code != exitOK || strings.Contains(r.out, c.not) || strings.Contains(r.out, "\x1b") {
			t.Errorf("%v: exit code %d, or it has %q, or colour: %s", c.args, r.code, c.not, r.err)
		}
		wantAll(t, r.out, c.want)
	}
}

// TestColours runs report on a terminal, which script makes: letters are bold there, and not for those who have set NO_COLOR.
func TestColours(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("needs script, of Debian's bsdutils, to have a terminal")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ok.jsonl")
	sample(t, path)
	for _, c := range []struct {
		env  []string
		want bool
	}{
		{[]string{"TERM=xterm", "NO_COLOR="}, true},
		{[]string{"TERM=xterm", "NO_COLOR=1"}, false},
		{[]string{"TERM=dumb", "NO_COLOR="}, false},
	} {
		cmd := exec.CommandContext(t.Context(), script, "-qec", `"$BAKEOFF" report "$RESULTS"`, "/dev/null")
		cmd.Env = append(append(os.Environ(), "BAKEOFF="+exe, "RESULTS="+path), c.env...)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "grpc @ 50") {
			t.Fatalf("%v: %v: %s", c.env, err, out)
		}
		if got := strings.Contains(string(out), "\x1b[1m*"); got != c.want {
			t.Errorf("%v: bold %v, want %v", c.env, got, c.want)
		}
	}
}

// TestListOne lists one of the lists.
func TestListOne(t *testing.T) {
	r := bakeoff(t, "list", "formats")
	if r.code != exitOK || strings.Contains(r.out, "Workloads") {
		t.Errorf("exit code %d: %s", r.code, r.out)
	}
	for _, f := range report.All {
		wantAll(t, r.out, f.Name, f.Doc)
	}
	r = bakeoff(t, "list", "fromats")
	if r.code != exitUsage || r.out != "" {
		t.Errorf("exit code %d, want %d", r.code, exitUsage)
	}
	wantAll(t, r.err, `unknown list "fromats": did you mean "formats"?`, "workloads")
}
