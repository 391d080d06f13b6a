package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"bakeoff/store/miniaero"
)

// TestHealthOfServers asks servers of each kind while they run and after they have ended.
func TestHealthOfServers(t *testing.T) {
	store := miniaero.RunT(t)
	storeAddr := "aerospike://" + store.Addr() + "/test"
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var addresses []string
	for _, name := range []string{"grpc", "thrift", "http"} {
		server := start(t, ctx, "serve", name, "--admin", "127.0.0.1:0")
		defer server.ended(t, exitOK)
		addresses = append(addresses, name+"="+address(t, server.line(t)))
		line := server.line(t)
		wantAll(t, line, "admin listener is http://")
		addresses = append(addresses, "http://"+line[len("its admin listener is http://"):len(line)-1]+"/ready")
	}
	addresses = append(addresses, storeAddr)
	for _, a := range addresses {
		if r := bakeoff(t, "health", a); r.code != exitOK || r.out != a+" is well\n" {
			t.Errorf("%s: %+v", a, r)
		}
	}
	stop()
	store.Close()
	for _, a := range addresses {
		eventuallyUnwell(t, a)
	}
}

// eventuallyUnwell waits for a server that was told to end.
func eventuallyUnwell(t *testing.T, address string) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		r := bakeoff(t, "health", address, "--timeout", "1s")
		if r.code == exitFailed {
			wantAll(t, r.err, address+" is not well: ")
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %+v", address, r)
		}
	}
}

// TestHealthSaysWhy: the reason is in the error, so that 'docker inspect' shows it.
func TestHealthSaysWhy(t *testing.T) {
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "it starts", http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	well := miniaero.RunT(t)
	lost := miniaero.RunT(t, miniaero.Options{Advertise: []string{mute.Addr().String()}})
	mute.Close()
	for _, c := range []struct {
		address string
		want    []string
	}{
		{busy.URL + "/ready", []string{"503 Service Unavailable: it starts"}},
		{"aerospike://" + well.Addr() + "/nosuch", []string{`the server has no namespace "nosuch", it has test`}},
		{"aerospike://" + lost.Addr() + "/test", []string{"advertises " + mute.Addr().String(), "can't be reached", "refused"}},
	} {
		r := bakeoff(t, "health", c.address)
		if r.code != exitFailed {
			t.Errorf("%s: exit code %d", c.address, r.code)
		}
		wantAll(t, r.err, c.want...)
	}
}

// TestHealthEvery: the first good answer comes at once, the next is held back and asked for again; after a bad one all begins anew.
func TestHealthEvery(t *testing.T) {
	asked, status := 0, http.StatusOK
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(status)
	}))
	defer page.Close()
	defer os.Remove(wellFile(page.URL))
	for _, step := range []struct {
		status, code, asked int
		held                bool
	}{
		{http.StatusOK, exitOK, 1, false},
		{http.StatusOK, exitOK, 2, true},
		{http.StatusTeapot, exitFailed, 1, false},
		{http.StatusOK, exitOK, 1, false},
		{http.StatusOK, exitOK, 2, true},
	} {
		asked, status = 0, step.status
		const every = 200 * time.Millisecond
		began := time.Now()
		r := bakeoff(t, "health", page.URL, "--every", every.String())
		if held := time.Since(began) >= every; r.code != step.code || asked != step.asked || held != step.held {
			t.Errorf("%+v: exit code %d, asked %d times, held back: %v", step, r.code, asked, held)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if r := bakeoffUntil(t, ctx, nil, "health", page.URL, "--every", "1h"); r.code != exitInterrupted {
		t.Errorf("interrupted while it held an answer back: %+v", r)
	}
}

func TestHealthUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"needs an address", "bakeoff health grpc=127.0.0.1:20000"}},
		{[]string{"nowhere"}, []string{`address "nowhere"`, healthUsage}},
		{[]string{"http://nowhere"}, []string{`"http://nowhere"`, "missing port", healthUsage}},
		{[]string{"grcp=127.0.0.1:1"}, []string{`did you mean "grpc"?`}},
		{[]string{"grpc=127.0.0.1"}, []string{"missing port", healthUsage}},
		{[]string{"aerospike://127.0.0.1"}, []string{"names no namespace"}},
		{[]string{"grpc=127.0.0.1:1", "--timeout", "0s"}, []string{"--timeout 0s", "above 0"}},
		{[]string{"grpc=127.0.0.1:1", "--every", "-1s"}, []string{"--every -1s", "must not be negative"}},
	} {
		r := bakeoff(t, append([]string{"health"}, c.args...)...)
		if r.code != exitUsage {
			t.Errorf("%v: exit code %d", c.args, r.code)
		}
		wantAll(t, r.err, c.want...)
	}
}
