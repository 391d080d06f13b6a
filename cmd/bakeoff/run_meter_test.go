package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bakeoff/harness/result"
)

// TestStoreAgentSilent has what reads the store fall silent for the first trial, as that of a host that is gone: it is waited for at length once,
// the run says so once, and knows the store's figures again when it answers again.
func TestStoreAgentSilent(t *testing.T) {
	store := servingAside(t, "store", "--addr", "127.0.0.1:0", "--admin", ":0")
	server := servingAside(t, "http", "--store", "aerospike://"+store.addr+"/test", "--admin", ":0")
	to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: store.admin})
	const silent = 2 // readings: the edges of a trial
	var mu sync.Mutex
	var waits []time.Duration
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/usage" {
			mu.Lock()
			defer mu.Unlock()
			began, answers := time.Now(), len(waits) >= silent
			if !answers {
				<-r.Context().Done() // the client has given up
			}
			if waits = append(waits, time.Since(began)); !answers {
				return
			}
		}
		to.ServeHTTP(w, r)
	}))
	defer agent.Close()
	results := filepath.Join(t.TempDir(), "r.jsonl")
	at := agent.Listener.Addr().String()
	r := bakeoff(t, short(results, "--target", "http="+server.addr+",admin="+server.admin, "--store-agent", at)...)
	if r.code != exitIncomplete {
		t.Errorf("exit code %d, want %d:\n%s", r.code, exitIncomplete, r.err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(waits) != 4 || waits[0] < 4*time.Second || waits[1] > 3*time.Second {
		t.Errorf("it was waited for %v at four edges, want 5 s, 0.5 s and then answers", waits)
	}
	for _, once := range []string{"warning: --store-agent " + at + " could not be read: no answer within 5s: until it can", "--store-agent " + at + " answers again"} {
		if strings.Count(r.err, once) != 1 {
			t.Errorf("%q is not said once in:\n%s", once, r.err)
		}
	}
	f := trialsIn(t, results)
	for i, tr := range f.Trials {
		_, known := tr.Values[result.StoreCPU]
		lost := slices.ContainsFunc(tr.Warnings, func(w result.Warning) bool { return w.Kind == result.WarnMeterLost })
		if tr.Error != "" || known != (i == 1) || lost != (i == 0) {
			t.Errorf("trial %d: error %q, the store's CPU is known: %t, meter lost: %t", i+1, tr.Error, known, lost)
		}
	}
}

// TestMeterOfInterrupted: what is not answered because the run ends is no fault of who was asked.
func TestMeterOfInterrupted(t *testing.T) {
	server := servingAside(t, "http", "--admin", ":0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	read := meterOf(dialled(t, server.admin), "--store-agent", server.admin, func(format string, _ ...any) { t.Errorf("it says %q", format) })
	if _, err := read(ctx); err == nil {
		t.Error("no error")
	}
	if _, err := read(t.Context()); err != nil {
		t.Error(err)
	}
}
