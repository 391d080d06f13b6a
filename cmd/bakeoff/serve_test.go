package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"bakeoff/harness/control"
	"bakeoff/protocol/suite"
	"bakeoff/service"
	"bakeoff/store/aerospike"
)

// started is a command that runs until its context or its stdin ends.
type started struct {
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan int
}

func start(t *testing.T, ctx context.Context, args ...string) *started {
	t.Helper()
	in, inW := io.Pipe()
	out, outW := io.Pipe()
	s := &started{inW, bufio.NewReader(out), make(chan int, 1)}
	go func() {
		code := run(ctx, args, in, outW, os.Stderr)
		outW.Close()
		s.done <- code
	}()
	t.Cleanup(func() {
		inW.Close()
		out.Close()
	})
	return s
}

// line is the next line of stdout.
func (s *started) line(t *testing.T) string {
	t.Helper()
	l, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatalf("reading a line: %v", err)
	}
	return l
}

func (s *started) ended(t *testing.T, want int) {
	t.Helper()
	select {
	case code := <-s.done:
		if code != want {
			t.Errorf("exit code %d, want %d", code, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
}

// address is the first word of a line that is an address.
func address(t *testing.T, line string) string {
	t.Helper()
	for _, word := range strings.Fields(line) {
		word = strings.Trim(word, ",;")
		if _, port, err := net.SplitHostPort(word); err == nil && port != "" {
			return word
		}
	}
	t.Fatalf("no address in %q", line)
	return ""
}

// TestServeStoreAndServer puts a server of each protocol on the embedded Aerospike, by the words that a user reads.
func TestServeStoreAndServer(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	store := start(t, ctx, "serve", "store", "--addr", "127.0.0.1:0")
	storeAddr := "aerospike://" + address(t, store.line(t)) + "/test"
	for _, name := range []string{"grpc", "thrift", "http"} {
		server := start(t, ctx, "serve", name, "--store", storeAddr)
		line := server.line(t)
		wantAll(t, line, name+" is listening", "store: miniaero")
		p, err := suite.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Dial(ctx, address(t, line), p.Options(2, 0))
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.DataType(ctx, service.DataTypeRequest{Group: service.KnownGroup, Name: service.KnownName})
		if err != nil || d.CodeID != 101 || d.CnName != "語音接通" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		defer server.ended(t, exitOK)
	}
	defer store.ended(t, exitOK)
	stop()
}

// TestServeStoreCounts asks a store for its counters, as run does at the edges of a trial, and ends it by its stdin.
func TestServeStoreCounts(t *testing.T) {
	store := start(t, t.Context(), "serve", "store", "--addr", "127.0.0.1:0", "--control")
	peer := control.NewPeer(store.out, store.in)
	listening, err := peer.Expect(t.Context(), control.Listening)
	if err != nil {
		t.Fatal(err)
	}
	count := func() map[string]int64 {
		t.Helper()
		if err := peer.Send(control.Line{Event: control.Counters}); err != nil {
			t.Fatal(err)
		}
		l, err := peer.Expect(t.Context(), control.Counters)
		if err != nil {
			t.Fatal(err)
		}
		return l.Counters
	}
	s, err := aerospike.Open(t.Context(), "aerospike://"+listening.Addr+"/test", aerospike.Options{Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	before := count()
	k := service.Key{Set: "s", ID: "k"}
	if err := s.Put(t.Context(), k, service.Bins{"n": int64(1)}, 0); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Get(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	after := count()
	if reads, writes := after["read"]-before["read"], after["write"]-before["write"]; reads != 3 || writes != 1 {
		t.Errorf("3 reads and 1 write were counted as %d and %d (%v, %v)", reads, writes, before, after)
	}
	if _, ok := after["info"]; ok {
		t.Errorf("info is no operation on data: %v", after)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	store.in.Close()
	store.ended(t, exitOK)
}

// TestServeEndsWithItsParent ends each kind of server by the end of its stdin alone.
func TestServeEndsWithItsParent(t *testing.T) {
	for _, p := range suite.All {
		s := start(t, t.Context(), "serve", p.Name, "--control")
		wantAll(t, s.line(t), `"event":"listening"`, `"describe":"memory"`)
		s.in.Close()
		s.ended(t, exitOK)
	}
}
