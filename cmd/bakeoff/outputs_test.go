package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample copies a complete result file to where a test may spoil it.
func sample(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile("../../harness/report/testdata/complete.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOutputsReplaceNoResults asks for outputs to the files that hold the raw results, by all the names that they have.
func TestOutputsReplaceNoResults(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	raw := sample(t, in("ok.jsonl"))
	begun := `{"schema":1,"kind":"bakeoff-header","experiment":"datatype","planned":10,"subjects":[],"settings":{"flags":{}}}` + "\n"
	for _, link := range []func() error{
		func() error { return os.WriteFile(in("begun.jsonl"), []byte(begun), 0o644) },
		func() error { return os.Symlink("ok.jsonl", in("link.json")) },
		func() error { return os.Link(in("ok.jsonl"), in("hard.json")) },
		func() error { return os.Symlink("new.jsonl", in("dangling.json")) },
		func() error { return os.Symlink(dir, in("folder")) },
	} {
		if err := link(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"report", in("ok.jsonl"), "-o", "json=" + in("ok.jsonl")}, []string{"ok.jsonl is what is read", "would be lost"}},
		{[]string{"report", in("ok.jsonl"), "-o", "json=" + in("link.json")}, []string{"link.json is what is read"}},
		{[]string{"report", in("link.json"), "-o", "json=" + in("folder/ok.jsonl")}, []string{"folder/ok.jsonl is what is read"}},
		{[]string{"report", in("ok.jsonl"), "-o", "json=" + in("hard.json")}, []string{"hard.json is what is read"}},
		{[]string{"compare", in("ok.jsonl"), in("link.json"), "-o", "json=" + in("ok.jsonl")}, []string{"ok.jsonl is what is read"}},
		{[]string{"run", "--results", in("new.jsonl"), "-o", "json=" + in("new.jsonl")}, []string{"new.jsonl is the result file", "name another file"}},
		{[]string{"run", "--results", in("new.jsonl"), "-o", "json=" + in("folder/../folder/new.jsonl")}, []string{"is the result file"}},
		{[]string{"run", "--results", in("new.jsonl"), "-o", "json=" + in("dangling.json")}, []string{"dangling.json is the result file"}},
		{[]string{"run", "--resume", in("begun.jsonl"), "-o", "json=" + in("begun.jsonl")}, []string{"begun.jsonl is the result file"}},
		{[]string{"report", in("ok.jsonl"), "-o", "json=" + in("a"), "-o", "csv=" + in("folder/a")}, []string{"folder/a is that of -o json="}},
	} {
		r := bakeoff(t, c.args...)
		if r.code != exitUsage || r.out != "" {
			t.Errorf("%v: exit code %d, want %d; stdout %q", c.args, r.code, exitUsage, r.out)
		}
		wantAll(t, r.err, c.want...)
	}
	stdin, err := os.Open(in("ok.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var out, errOut strings.Builder
	if code := run(context.Background(), []string{"report", "-", "-o", "json=" + in("ok.jsonl")}, stdin, &out, &errOut); code != exitUsage {
		t.Errorf("a file as stdin: exit code %d, want %d: %s", code, exitUsage, errOut.String())
	}
	if b, err := os.ReadFile(in("ok.jsonl")); err != nil || string(b) != raw {
		t.Errorf("the raw results are not what they were (%v)", err)
	}
	for _, name := range []string{"new.jsonl", "a"} {
		if _, err := os.Lstat(in(name)); err == nil {
			t.Errorf("%s was made by a command that was refused", name)
		}
	}
	if _, err := os.Lstat(in("dangling.json")); err != nil {
		t.Errorf("the link was taken away: %v", err)
	}
}

// TestOutputsThatAreFine overwrites what is nobody's, and writes to a device twice.
func TestOutputsThatAreFine(t *testing.T) {
	dir := t.TempDir()
	results, old := filepath.Join(dir, "ok.jsonl"), filepath.Join(dir, "old.csv")
	sample(t, results)
	if err := os.WriteFile(old, []byte("of yesterday"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := bakeoff(t, "report", results, "-o", "csv="+old, "-o", "json="+os.DevNull, "-o", "markdown="+os.DevNull, "-o", "table")
	if r.code != exitOK {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	wantAll(t, r.out, "grpc @ 50")
	if b, err := os.ReadFile(old); err != nil || !strings.HasPrefix(string(b), "subject,") {
		t.Errorf("the old file has %.20q (%v)", b, err)
	}
}

// TestOneOutputToStdout refuses two documents in one stream.
func TestOneOutputToStdout(t *testing.T) {
	results := filepath.Join(t.TempDir(), "ok.jsonl")
	sample(t, results)
	r := bakeoff(t, "report", results, "-o", "json", "-o", "csv")
	if r.code != exitUsage || r.out != "" {
		t.Errorf("exit code %d, want %d; stdout %.40q", r.code, exitUsage, r.out)
	}
	wantAll(t, r.err, "-o json and -o csv: both would go to stdout", "-o csv=FILE")
}

// TestDefaultResults runs without --results where its folder can't be: that is found out before anything is started, and nothing is left.
func TestDefaultResults(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := newFile(""); err != nil {
		t.Errorf("in a new folder: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the check leaves %v (%v)", left, err)
	}
	if err := os.WriteFile(defaultResults, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"run", "calibrate"} {
		r := bakeoff(t, command)
		if r.code != exitUsage || strings.Contains(r.err, "conformance") {
			t.Errorf("%s: exit code %d, want %d, before the servers are examined", command, r.code, exitUsage)
		}
		wantAll(t, r.err, "--results FILE", "not a directory")
	}
}
