package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"bakeoff/harness/drive"
	"bakeoff/harness/result"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
)

// used is what one run of a generator cost, and how many calls it says that it made.
type used struct {
	cpu   time.Duration
	calls uint64
}

type contender struct {
	name string
	run  func(ctx context.Context) (used, error)
}

type bench struct {
	bin                  string
	duration             time.Duration
	concurrency          int
	serverCPU, clientCPU string
}

// pinned is a command on one CPU, so that a Go generator has as many threads as a C one.
func (b bench) pinned(ctx context.Context, cpu, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "taskset", append([]string{"-c", cpu, name}, args...)...)
}

func (b bench) path(name string) string { return filepath.Join(b.bin, name) }

// talk is what a generator is told: the first lines at once, and the last one when heard has come.
type talk struct{ first, heard, last string }

// listener keeps what a generator prints, and talks to it.
type listener struct {
	said bytes.Buffer
	talk
	in   io.Writer
	told bool
}

func (l *listener) Write(p []byte) (int, error) {
	n, err := l.said.Write(p)
	if err == nil && !l.told && l.heard != "" && bytes.Contains(l.said.Bytes(), []byte(l.heard)) {
		l.told = true
		_, err = io.WriteString(l.in, l.last)
	}
	return n, err
}

// measured runs cmd to its end, with a stdin that stays open, and reads its count out of what it printed.
func measured(cmd *exec.Cmd, t talk, count func(stdout []byte) (uint64, error)) (used, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return used{}, err
	}
	var errOut bytes.Buffer
	out := &listener{talk: t, in: in}
	cmd.Stdout, cmd.Stderr = out, &errOut
	if err := cmd.Start(); err != nil {
		return used{}, err
	}
	_, written := io.WriteString(in, t.first)
	if err := errors.Join(cmd.Wait(), written); err != nil {
		return used{}, fmt.Errorf("%w: %s", err, errOut.Bytes())
	}
	calls, err := count(out.said.Bytes())
	if err != nil {
		return used{}, err
	}
	if calls == 0 {
		return used{}, fmt.Errorf("no call succeeded: %.500s", out.said.Bytes())
	}
	return used{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), calls}, nil
}

func (b bench) ghz(addr string) func(context.Context) (used, error) {
	return func(ctx context.Context) (used, error) {
		cmd := b.pinned(ctx, b.clientCPU, b.path("ghz"), "--insecure", "--proto", "proto/inf/inf.proto", "--call", "inf.Data.DataType",
			"-d", `{"groupName":"USER_EVENT","enName":"app_call_connect_success"}`, "-c", strconv.Itoa(b.concurrency), "--connections", "1",
			"-z", b.duration.String(), "-O", "json", addr)
		return measured(cmd, talk{}, func(out []byte) (uint64, error) {
			var r struct {
				Codes map[string]uint64 `json:"statusCodeDistribution"`
			}
			err := json.Unmarshal(out, &r)
			return r.Codes["OK"], err // it counts calls in flight at the end as errors
		})
	}
}

func (b bench) bombardier(addr string) func(context.Context) (used, error) {
	return func(ctx context.Context) (used, error) {
		cmd := b.pinned(ctx, b.clientCPU, b.path("bombardier"), "-c", strconv.Itoa(b.concurrency), "-d", b.duration.String(), "-m", "POST",
			"-b", httpBody, "-H", "Content-Type: application/json", "-p", "r", "-o", "json", "http://"+addr+"/v1/datatype")
		return measured(cmd, talk{}, func(out []byte) (uint64, error) {
			var r struct {
				Result struct {
					OK uint64 `json:"req2xx"`
				} `json:"result"`
			}
			err := json.Unmarshal(out, &r)
			return r.Result.OK, err
		})
	}
}

const httpBody = `{"authRq":{"clientId":"","token":""},"groupName":"USER_EVENT","enName":"app_call_connect_success"}`

const wrkScript = `wrk.method = "POST"
wrk.body = '` + httpBody + `'
wrk.headers["Content-Type"] = "application/json"
`

var (
	wrkRequests = regexp.MustCompile(`(\d+) requests in`)
	wrkErrors   = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
)

func (b bench) wrk(addr, script string) func(context.Context) (used, error) {
	return func(ctx context.Context) (used, error) {
		cmd := b.pinned(ctx, b.clientCPU, "wrk", "-t", "1", "-c", strconv.Itoa(b.concurrency), "-d", b.duration.String(), "-s", script, "http://"+addr+"/v1/datatype")
		return measured(cmd, talk{}, func(out []byte) (uint64, error) {
			if m := wrkErrors.FindSubmatch(out); m != nil {
				return 0, fmt.Errorf("wrk saw %s answers that were no success", m[1])
			}
			m := wrkRequests.FindSubmatch(out)
			if m == nil {
				return 0, fmt.Errorf("no count in what wrk printed: %.300s", out)
			}
			return strconv.ParseUint(string(m[1]), 10, 64)
		})
	}
}

// server answers every call with the same answer, which is what bench/tax compares ours with: the lighter the server, the
// nearer a generator is to being what limits the calls, and its cost a call to what it needs and not to how often it is woken.
type server struct {
	addr string
	stop func()
}

func (b bench) serve(ctx context.Context, name string) (*server, error) {
	cmd := b.pinned(ctx, b.serverCPU, b.path("tax"), "-child", "bare-server", "-concurrency", strconv.Itoa(b.concurrency), name)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		in.Close()
		_ = cmd.Wait() // it ends with its stdin
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		stop()
		return nil, fmt.Errorf("serve %s: %w", name, err)
	}
	var l struct{ Event, Addr string }
	if err := json.Unmarshal(line, &l); err != nil || l.Event != "listening" {
		stop()
		return nil, fmt.Errorf("serve %s said %q", name, line)
	}
	return &server{l.Addr, stop}, nil
}

// drive is one run of the driver, with a short warm-up that counts as calls of nobody: it makes our figure no better.
func (b bench) drive(subject, addr string) func(context.Context) (used, error) {
	return func(ctx context.Context) (used, error) {
		p, err := suite.Find(subject)
		if err != nil {
			return used{}, err
		}
		job, err := json.Marshal(drive.Job{Subject: subject, Addr: addr, Options: p.Options(b.concurrency, 0), Workload: "datatype",
			Concurrency: b.concurrency, Duration: b.duration, Grace: drive.DefaultGrace, CallTimeout: protocol.DefaultTimeout})
		if err != nil {
			return used{}, err
		}
		cmd := b.pinned(ctx, b.clientCPU, b.path("bakeoff"), "drive")
		words := talk{string(job) + "\n{\"event\":\"go\"}\n", `{"event":"done"`, "{\"event\":\"report\"}\n"}
		return measured(cmd, words, func(out []byte) (uint64, error) {
			lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
			var l struct {
				Trial struct{ Outcomes result.Outcomes }
			}
			err := json.Unmarshal(lines[len(lines)-1], &l)
			if failed := l.Trial.Outcomes.FailedTotal(); failed > 0 {
				return 0, fmt.Errorf("%d calls failed: %v", failed, l.Trial.Outcomes.Failed)
			}
			return l.Trial.Outcomes.OK, err
		})
	}
}
