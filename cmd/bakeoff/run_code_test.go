package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"bakeoff/harness/result"
)

// TestTargetDies ends a target in the middle of a run: its later trials are errors that name it, the other's stand.
func TestTargetDies(t *testing.T) {
	stays := servingAside(t, "http", "--admin", ":0")
	dies := servingAside(t, "thrift", "--admin", ":0")
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoffUntil(t, t.Context(), func(line string) {
		if strings.HasPrefix(line, "block 2") {
			dies.stop()
			dies.ended(t, exitOK)
			dies.done <- exitOK // for the test's end
		}
	}, short(results, "--target", "http="+stays.addr+",admin="+stays.admin, "--target", "thrift="+dies.addr+",admin="+dies.admin)...)
	if r.code != exitFailed {
		t.Errorf("exit code %d, want %d:\n%s", r.code, exitFailed, r.err)
	}
	wantAll(t, r.out, "http @ 8")
	wantAll(t, r.err, "1 of 4 trials failed")
	for _, tr := range trialsIn(t, results).Trials {
		if failed := tr.Subject == "thrift" && tr.Round == 2; (tr.Error != "") != failed || failed && (!strings.Contains(tr.Error, dies.addr) || !strings.Contains(tr.Error, "refused")) {
			t.Errorf("%s, round %d: error %q", tr.Subject, tr.Round, tr.Error)
		}
	}
}

// TestTargetDiesInTheEnd ends a target within its last window, with fewer failures than are allowed: no trial has failed, and the run has.
func TestTargetDiesInTheEnd(t *testing.T) {
	dies := servingAside(t, "http", "--admin", ":0")
	to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: dies.admin})
	to.FlushInterval = -1 // an examination's answer stays open
	var readings atomic.Int64
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to.ServeHTTP(w, r)
		if r.URL.Path == "/usage" && readings.Add(1) == 1 { // the edge of the window
			dies.stop()
		}
	}))
	defer admin.Close()
	results := filepath.Join(t.TempDir(), "r.jsonl")
	r := bakeoff(t, short(results, "--rounds", "1", "--max-failures", "100%", "--target", "http="+dies.addr+",admin="+admin.Listener.Addr().String())...)
	if r.code != exitFailed {
		t.Errorf("exit code %d, want %d:\n%s", r.code, exitFailed, r.err)
	}
	wantAll(t, r.err, "the target http="+dies.addr+" was lost in its last trial: nothing listens there")
	if f := trialsIn(t, results); len(f.Trials) != 1 || f.Trials[0].Error != "" || f.Trials[0].Outcomes.FailedTotal() == 0 {
		t.Errorf("trials %+v, want one whose calls failed", f.Trials)
	}
}

// TestRunCode holds the exit code of a run that went to its end: what failed goes before what is in doubt.
func TestRunCode(t *testing.T) {
	good := result.Trial{Outcomes: result.Outcomes{OK: 1}}
	conformant, differs, unchecked := result.Subject{Conformant: true}, result.Subject{}, result.Subject{Unchecked: "the server died"}
	for name, c := range map[string]struct {
		trials   []result.Trial
		subjects []result.Subject
		lost     []string
		missed   string
		code     int
		want     string
	}{
		"a failed trial":           {[]result.Trial{good, {Error: "x"}}, []result.Subject{conformant}, nil, "", exitFailed, "1 of 2 trials failed: see the report"},
		"one beside doubts":        {[]result.Trial{good, {Error: "x"}}, []result.Subject{differs}, nil, "dropped", exitFailed, "; dropped: see"},
		"a target that was lost":   {[]result.Trial{good}, []result.Subject{conformant}, []string{"it was lost"}, "", exitFailed, "it was lost: see"},
		"answers not checked":      {[]result.Trial{good}, []result.Subject{unchecked, differs}, nil, "", exitFailed, "could not be checked, which are not ranked: 1; subjects"},
		"other answers":            {[]result.Trial{good}, []result.Subject{conformant, differs}, nil, "", exitIncomplete, "other answers than agreed, which are not ranked: 1: see"},
		"windows without calls":    {[]result.Trial{good, {}}, []result.Subject{conformant}, nil, "", exitIncomplete, "in 1 of 2 trials no call ended"},
		"what has been measured":   {[]result.Trial{good}, []result.Subject{conformant}, nil, "dropped", exitIncomplete, "dropped: see the report"},
		"nothing to be said of it": {[]result.Trial{good}, []result.Subject{conformant}, nil, "", exitOK, ""},
	} {
		err := incomplete(c.trials, c.subjects, c.lost, c.missed)
		var exit *exitError
		if errors.As(err, &exit) != (c.code != exitOK) || exit != nil && (exit.code != c.code || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %+v, want code %d and %q", name, err, c.code, c.want)
		}
	}
}
