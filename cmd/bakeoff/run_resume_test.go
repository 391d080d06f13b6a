package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// identities are what a plan says of its trials, in order.
func identities(t *testing.T, path string) []string {
	t.Helper()
	f, err := result.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(f.Trials, func(a, b result.Trial) int { return a.Order - b.Order })
	var ids []string
	for _, tr := range f.Trials {
		ids = append(ids, fmt.Sprintf("%d: %s @ %d x %d, round %d, seed %d", tr.Order, tr.Subject, tr.Concurrency, tr.Conns, tr.Round, tr.Seed))
	}
	return ids
}

// TestResume interrupts a run, tears its last line, and goes on: the trials are those of a run that was left alone.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	broken, whole := filepath.Join(dir, "broken.jsonl"), filepath.Join(dir, "whole.jsonl")
	// One subject at two levels, 8 (of short) and 4: the gate takes longer than all the trials.
	more := []string{"--subjects", "http", "--concurrency", "4", "--conns", "2", "--timeout", "3s", "--store", "memory"}
	ctx, cancel := context.WithCancel(t.Context())
	r := bakeoffUntil(t, ctx, func(line string) {
		if strings.HasPrefix(line, "block 2") {
			cancel()
		}
	}, short(broken, more...)...)
	if r.code != exitInterrupted {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	f, err := os.OpenFile(broken, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"kind":"bakeoff-trial","subject":"ht`); err != nil { // as a killed run leaves it
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	r = bakeoff(t, "run", "--resume", broken, "--concurrency", "8,4") // what agrees may be said again
	measured(t, r)
	wantAll(t, r.err, "block 2 of 2: 2 trials", broken)
	if strings.Contains(r.err, "block 1") || strings.Contains(r.out, "interrupted") {
		t.Errorf("%s\n%s", r.err, r.out)
	}
	measured(t, bakeoff(t, short(whole, more...)...))
	got, want := identities(t, broken), identities(t, whole)
	if len(want) != 4 || !slices.Equal(got, want) {
		t.Errorf("resumed:\n%s\nleft alone:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	again := bakeoff(t, "run", "--resume", broken)
	measured(t, again)
	if again.out != r.out {
		t.Errorf("nothing was missing: another report:\n%s", again.out)
	}
	wantAll(t, again.err, "nothing is missing")

	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--rounds", "3"}, []string{"--rounds: the file has 2, and 3 is asked for"}},
		{[]string{"--subjects", "http,thrift"}, []string{"--subjects: the file has http, and http,thrift"}},
		{[]string{"--concurrency", "4,8"}, []string{"--concurrency: the file has 8,4"}},
		{[]string{"--seed", "8"}, []string{"--seed: the file has 7"}},
		{[]string{"--auth"}, []string{"--auth: the run was not given it"}},
		{[]string{"--results", filepath.Join(dir, "x.jsonl")}, []string{"--results"}},
		{[]string{"payload"}, []string{"experiment: the file has \"datatype\""}},
	} {
		r := bakeoff(t, append([]string{"run", "--resume", broken}, c.args...)...)
		if r.code != exitUsage {
			t.Errorf("%v: exit code %d", c.args, r.code)
		}
		wantAll(t, r.err, c.want...)
	}
	if now := identities(t, broken); !slices.Equal(now, want) {
		t.Error("a refused run has changed the file")
	}
}

// TestResumeFailed does a failed trial again only if asked, and tells of an environment that has changed.
func TestResumeFailed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	measured(t, bakeoff(t, short(path, "--subjects", "http", "--store", "memory")...))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	edit := func(line []byte, set func(map[string]any)) []byte {
		var doc map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber() // a seed has more digits than a float64
		if err := d.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		set(doc)
		out, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	lines[0] = edit(lines[0], func(h map[string]any) { h["environment"].(map[string]any)["kernel"] = "Linux 1.0" })
	lines[1] = edit(lines[1], func(tr map[string]any) { tr["error"] = "the server died" })
	if err := os.WriteFile(path, append(bytes.Join(lines, []byte("\n")), '\n'), 0o644); err != nil {
		t.Fatal(err)
	}

	r := bakeoff(t, "run", "--resume", path)
	if r.code != exitFailed {
		t.Errorf("not asked: exit code %d: %s", r.code, r.err)
	}
	wantAll(t, r.err, "nothing is missing", "1 of 2 trials failed")
	r = bakeoff(t, "run", "--resume", path, "--resume-failed")
	measured(t, r)
	wantAll(t, r.err, "since the run began, this has changed: kernel: Linux 1.0 -> Linux ")
	wantAll(t, r.out, "environment changed in 1 of 2 rounds")
	if later := bakeoff(t, "report", path); later.code != exitOK || later.out != r.out {
		t.Errorf("the report of the file is another one:\n%s\n%s", later.out, r.out)
	}
	f, err := result.ReadFile(path)
	if err != nil || len(f.Trials) != 3 {
		t.Errorf("%d trials, %v: want the failed one and its repetition beside the other", len(f.Trials), err)
	}
	wantAll(t, r.out, "1 trial failed and was done again")
	once := bakeoff(t, "run", "--resume", path)
	measured(t, once)
	wantAll(t, once.err, "nothing is missing")
	if once.out != r.out {
		t.Errorf("what has nothing missing is another report:\n%s\n%s", once.out, r.out)
	}
}

func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, header string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(header+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const begin = `{"schema":1,"kind":"bakeoff-header","experiment":"datatype","seed":7,`
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--resume", filepath.Join(dir, "none.jsonl")}, exitFailed, "no such file"},
		{[]string{"--resume", write("old.jsonl", begin+`"planned":30,"settings":{}}`)}, exitUsage, "does not say which flags"},
		{[]string{"--resume", write("newer.jsonl", begin+`"planned":30,"settings":{"flags":{"warp":"9"}}}`)}, exitUsage, "--warp, which this bakeoff does not have"},
		{[]string{"--resume", write("grows.jsonl", begin+`"planned":31,"settings":{"flags":{}}}`)}, exitUsage, "can't be resumed"},
		{[]string{"--resume", write("list.jsonl", begin+`"planned":30,"settings":{"flags":{"subjects":7}}}`)}, exitUsage, "--subjects: the header has 7, which is no list"},
		{[]string{"--resume-failed"}, exitUsage, "--resume-failed: is about --resume"},
	} {
		r := bakeoff(t, append([]string{"run"}, c.args...)...)
		if r.code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.args, r.code, c.code)
		}
		wantAll(t, r.err, c.want)
	}
}

// A trial that is measured without those that it is compared with says so.
func TestResumedApart(t *testing.T) {
	trial := func(subject string, round int) result.Trial {
		return result.Trial{Subject: subject, Workload: "datatype", Concurrency: 50, Round: round}
	}
	failed := trial("thrift", 2)
	failed.Error = "the server died"
	p := &past{File: result.File{Trials: []result.Trial{trial("grpc", 1), failed}}}
	for _, row := range []struct {
		added result.Trial
		apart bool
	}{
		{trial("http", 1), true},
		{trial("http", 2), false}, // beside nothing but a failure
		{trial("http", 3), false},
		{trial("grpc", 1), false}, // itself, once more
	} {
		got := slices.ContainsFunc(p.mark(row.added).Warnings, func(w result.Warning) bool { return w.Kind == "apart" })
		if got != row.apart {
			t.Errorf("%s of round %d: apart %t, want %t", row.added.Subject, row.added.Round, got, row.apart)
		}
	}
}
