package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pipeAt makes a named pipe.
func pipeAt(t *testing.T, path string) string {
	t.Helper()
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOutputToAPipe: its reader, who came first, gets the whole report, and of two outputs each reader his own.
func TestOutputToAPipe(t *testing.T) {
	dir := t.TempDir()
	results, file, pipes := filepath.Join(dir, "ok.jsonl"), filepath.Join(dir, "r.html"), []string{pipeAt(t, filepath.Join(dir, "a")), pipeAt(t, filepath.Join(dir, "b"))}
	sample(t, results)
	got := make([]chan string, len(pipes))
	for i, p := range pipes {
		got[i] = make(chan string, 1)
		go func() {
			b, err := os.ReadFile(p)
			if err != nil {
				t.Error(err)
			}
			got[i] <- string(b)
		}()
	}
	r := bakeoff(t, "report", results, "-o", "html="+file, "-o", "html="+pipes[0], "-o", "csv="+pipes[1])
	if r.code != exitOK || r.err != "" {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if s := <-got[0]; s != string(want) {
		t.Errorf("the pipe's reader got %d bytes, the file has %d", len(s), len(want))
	}
	if s := <-got[1]; !strings.HasPrefix(s, "subject,") {
		t.Errorf("the other's reader got %.20q", s)
	}
}

// TestPipeThatNobodyReads is told after a while, and a signal ends the wait; the other outputs are written.
func TestPipeThatNobodyReads(t *testing.T) {
	dir := t.TempDir()
	results, pipe, other := filepath.Join(dir, "ok.jsonl"), pipeAt(t, filepath.Join(dir, "pipe")), filepath.Join(dir, "r.csv")
	sample(t, results)
	ctx, signal := context.WithCancel(t.Context())
	r := bakeoffUntil(t, ctx, func(said string) {
		if strings.Contains(said, "waiting for a reader of the pipe "+pipe) {
			signal()
		}
	}, "report", results, "-o", "json="+pipe, "-o", "csv="+other)
	if r.code != exitInterrupted {
		t.Errorf("exit code %d, want %d", r.code, exitInterrupted)
	}
	wantAll(t, r.err, "-o json: "+pipe+": interrupted: nobody reads this pipe")
	if b, err := os.ReadFile(other); err != nil || !strings.HasPrefix(string(b), "subject,") {
		t.Errorf("the other output: %.20q (%v)", b, err)
	}
}

// TestPipeThatIsNotReadOn has a reader that takes one byte: a signal ends the write that waits for more room.
func TestPipeThatIsNotReadOn(t *testing.T) {
	dir := t.TempDir()
	results, pipe := filepath.Join(dir, "ok.jsonl"), pipeAt(t, filepath.Join(dir, "pipe"))
	sample(t, results)
	reader, err := os.OpenFile(pipe, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	raw, err := reader.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { _, err = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 4096) }); err != nil {
		t.Fatal(err)
	}
	ctx, signal := context.WithCancel(t.Context())
	done := make(chan ran)
	go func() { done <- bakeoffUntil(t, ctx, nil, "report", results, "-o", "html="+pipe) }()
	for b := make([]byte, 1); ; {
		if _, err = reader.Read(b); err != io.EOF { // nobody writes yet
			break
		}
	}
	if err != nil {
		t.Error(err)
	}
	signal()
	r := <-done
	if r.code != exitInterrupted {
		t.Errorf("exit code %d, want %d", r.code, exitInterrupted)
	}
	wantAll(t, r.err, "-o html: "+pipe+": interrupted before all of it was read")
}

// TestPipeAfterASignal writes what a run that was interrupted has come to: to the reader who is there, and waits for none.
func TestPipeAfterASignal(t *testing.T) {
	pipe := pipeAt(t, filepath.Join(t.TempDir(), "pipe"))
	ctx, signal := context.WithCancel(t.Context())
	signal()
	write := func(w io.Writer) error {
		_, err := io.WriteString(w, "report")
		return err
	}
	if err := writeFile(ctx, pipe, io.Discard, write); err == nil || !strings.Contains(err.Error(), "nobody reads") {
		t.Errorf("without a reader: %v", err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := writeFile(ctx, pipe, io.Discard, write); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(reader); err != nil || string(b) != "report" {
		t.Errorf("the reader got %q (%v)", b, err)
	}
}

// TestNoFile refuses what can't be the file that it is to be, before anything is opened.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	sample(t, in("ok.jsonl"))
	pipe := pipeAt(t, in("pipe"))
	if err := os.Symlink("pipe", in("link")); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		code int
		args []string
		want string
	}{
		{exitUsage, []string{"run", "--results", pipe}, "--results: " + pipe + " is a pipe: it must be a file, and a new one"},
		{exitUsage, []string{"run", "--results", in("link")}, "link is a pipe"},
		{exitUsage, []string{"run", "--results", os.DevNull}, "is a device"},
		{exitUsage, []string{"run", "--lines", pipe, "--results", in("new.jsonl")}, "--lines: " + pipe + " is a pipe"},
		{exitFailed, []string{"run", "--resume", pipe}, "pipe is no regular file"},
		{exitUsage, []string{"report", in("ok.jsonl"), "-o", "json=" + in("socket")}, "is a socket"},
		{exitUsage, []string{"doctor", "-o", "json=" + in("socket")}, "is a socket"},
		{exitUsage, []string{"report", in("ok.jsonl"), "-o", "json=" + pipe, "-o", "csv=" + in("link")}, "link is that of -o json="},
	} {
		r := bakeoff(t, c.args...)
		if r.code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.args, r.code, c.code)
		}
		wantAll(t, r.err, c.want)
	}
}

// TestInputWithoutEnd: a signal ends the reading of a pipe that nobody writes.
func TestInputWithoutEnd(t *testing.T) {
	pipe := pipeAt(t, filepath.Join(t.TempDir(), "pipe"))
	ctx, signal := context.WithCancel(t.Context())
	done := make(chan ran)
	go func() { done <- bakeoffUntil(t, ctx, nil, "report", pipe) }()
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // when the reader is there
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	signal()
	if r := <-done; r.code != exitInterrupted {
		t.Errorf("exit code %d, want %d: %s", r.code, exitInterrupted, r.err)
	}
}

// TestReplaceFile: what can't be written to the end leaves what was there, and nothing else.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.html")
	full := errors.New("no space left")
	fails := func(w io.Writer) error { io.WriteString(w, "half"); return full }
	names := func() (all []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	if err := replaceFile(path, fails); !errors.Is(err, full) || !strings.HasPrefix(err.Error(), path) || len(names()) > 0 {
		t.Errorf("a new file: %v, %v are left", err, names())
	}
	if err := os.WriteFile(path, []byte("old"), 0o604); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o604); err != nil { // the mask may have taken some
		t.Fatal(err)
	}
	err := replaceFile(path, fails)
	if b, _ := os.ReadFile(path); !errors.Is(err, full) || string(b) != "old" || len(names()) != 1 {
		t.Errorf("one that is there: %v, then %q, and %v are left", err, b, names())
	}
	err = replaceFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err })
	info, statErr := os.Stat(path)
	if b, _ := os.ReadFile(path); err != nil || statErr != nil || string(b) != "new" || info.Mode().Perm() != 0o604 || len(names()) != 1 {
		t.Errorf("%v, %v, then %q with %v, and %v are left", err, statErr, b, info.Mode(), names())
	}
}

// TestOutputIsNoResultFile: not one that the command was not told of either.
func TestOutputIsNoResultFile(t *testing.T) {
	dir := t.TempDir()
	complete, err := os.ReadFile("../../harness/report/testdata/complete.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), complete, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, b := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	for _, args := range [][]string{{"report", a, "-o", "json=" + b}, {"run", "--lines", b}} {
		r := bakeoff(t, args...)
		after, err := os.ReadFile(b)
		if r.code != exitUsage || err != nil || !bytes.Equal(after, complete) {
			t.Errorf("%v: exit code %d, %v, %d bytes of %d are left", args, r.code, err, len(after), len(complete))
		}
		wantAll(t, r.err, b+" is a result file, and what was measured would be lost: name another file")
	}
	if out := filepath.Join(dir, "c.json"); bakeoff(t, "report", a, "-o", "json="+out).code != exitOK || bakeoff(t, "report", a, "-o", "html="+out).code != exitOK {
		t.Error("a report does not replace another")
	}
}
