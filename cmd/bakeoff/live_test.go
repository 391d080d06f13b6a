package main

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// page is what stands at an address.
func page(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// TestRunLive watches a run by its page, and finds the report there when it has ended.
func TestRunLive(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := filepath.Join(t.TempDir(), "r.jsonl")
	watched, stayed := false, false
	r := bakeoffUntil(t, ctx, func(line string) {
		if _, rest, ok := strings.Cut(line, "the run can be watched at "); ok && !watched {
			watched = true
			wantAll(t, page(t, strings.TrimSpace(rest)), "There are no trials yet.", "0 of 4 trials")
		}
		if _, rest, ok := strings.Cut(line, "the report stays at "); ok && !stayed {
			stayed = true
			url, _, _ := strings.Cut(rest, " ")
			wantAll(t, page(t, url), "the run has ended", "4 of 4 trials", "<svg", "grpc @ 8", "How to reproduce it")
			wantAll(t, page(t, url+"report.html"), "<!DOCTYPE html>", "grpc @ 8", "How to reproduce it")
			cancel() // as Ctrl-C does
		}
	}, short(results, "--subjects", "grpc,http", "--live", "127.0.0.1:0")...)
	if r.code != exitOK && r.code != exitIncomplete || !watched || !stayed { // on a busy machine a subject may lack its proof
		t.Fatalf("exit code %d, watched %t, stayed %t:\n%s", r.code, watched, stayed, r.err)
	}
	wantAll(t, r.out, "grpc @ 8", "http @ 8")
	file, err := result.ReadFile(results)
	if err != nil || len(file.Trials) != 4 {
		t.Errorf("%d trials, %v", len(file.Trials), err)
	}
	if flags := string(file.Header.Settings); strings.Contains(flags, `"live"`) {
		t.Errorf("the page is taken for a part of the plan: %s", flags)
	}
}

func TestLive(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := start(t, ctx, "live", "../../harness/report/testdata", "--addr", ":0")
	_, rest, _ := strings.Cut(s.line(t), "look at ")
	url, _, _ := strings.Cut(rest, ";")
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("not on loopback: %q", url)
	}
	wantAll(t, page(t, url), "complete.jsonl", "60 of 60")
	wantAll(t, page(t, url+"file/complete.jsonl/"), "60 of 60 trials", "<svg")
	cancel()
	s.ended(t, exitOK)
}

func TestLiveUsage(t *testing.T) {
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "needs a result file or a folder", []string{"live"}},
		{exitFailed, "there is no such file or folder", []string{"live", filepath.Join(t.TempDir(), "none")}},
		{exitUsage, `--addr "nowhere"`, []string{"live", ".", "--addr", "nowhere"}},
		{exitUsage, `--live "nowhere"`, []string{"run", "--live", "nowhere"}},
		{exitUsage, "--live-host is for the page of --live", []string{"run", "--live-host", "a"}},
	} {
		if r := bakeoff(t, c.args...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: exit code %d, %s", c.args, r.code, r.err)
		}
	}
}
