package run

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/harness/control"
	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// The environment that makes this test binary one of the processes of a trial.
const (
	fakeEnv    = "BAKEOFF_RUN_FAKE"    // "server:normal", "driver:hang-at-ready", "parent:"
	witnessEnv = "BAKEOFF_RUN_WITNESS" // where a process shows that it lives
)

func TestMain(m *testing.M) {
	if fake := os.Getenv(fakeEnv); fake != "" {
		role, mode, _ := strings.Cut(fake, ":")
		beSeen()
		switch role {
		case "parent":
			fakeParent()
		case Driver:
			fakeDriver(mode)
		default:
			fakeServer(role, mode)
		}
		os.Exit(0)
	}
	// The children are this binary too: with -race each would otherwise sleep a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	goleak.VerifyTestMain(m)
}

// fakeResult is what a fake driver reports; TestWholeTrial does its arithmetic with it.
var fakeResult = result.Trial{
	Kind: "what a driver says of itself", Subject: "is overruled by the plan", Order: 99,
	Mode: "closed", Conns: 7, Window: 2, Store: "as the driver sees it",
	Outcomes: result.Outcomes{Started: 110, OK: 95, Failed: map[string]uint64{"timeout": 2, "reset": 3}, CutOff: 10},
	Values:   map[string]float64{result.Throughput: 47.5},
	Warnings: []result.Warning{{Kind: "drift", Text: "of the driver"}},
	Slices:   make([]result.Slice, parts),
}

// endedCalls is the number that per_req values divide by: ok and failed.
const endedCalls = 95 + 2 + 3

type fakeJob struct {
	Server string
	Turns  int
}

func fakeDriver(mode string) {
	peer := control.NewPeer(os.Stdin, os.Stdout)
	ctx := context.Background()
	raw, err := peer.Next(ctx)
	if err != nil {
		die("no job: " + err.Error())
	}
	var job fakeJob
	if err := json.Unmarshal(raw, &job); err != nil {
		die("the job: " + err.Error())
	}
	switch mode {
	case "call-early":
		conn, err := net.Dial("tcp", job.Server)
		if err != nil {
			die(err.Error())
		}
		defer conn.Close()
		untilEOF(peer)
	case "patient":
		fakeGrace = 50 * time.Millisecond
	case "die-at-start":
		die("no luck today")
	case "error-line":
		peer.Send(control.Line{Event: control.Error, Error: "dial 127.0.0.1:1: refused"})
		os.Exit(1)
	case "garbage":
		fmt.Println("hello, world")
		untilEOF(peer)
	case "hang-at-ready":
		fmt.Fprintln(os.Stderr, "still dialling")
		untilEOF(peer)
	}
	peer.Send(control.Line{Event: control.Ready})
	trial := fakeResult
	made, asked := 0, false
	for ; made < max(1, job.Turns) && !asked; made++ {
		line, err := peer.Expect(ctx, control.Go, control.Report)
		if err != nil {
			die("no go: " + err.Error())
		}
		if asked = line.Event == control.Report; asked {
			break
		}
		if mode == "die-in-turn-2" && made == 1 {
			die("enough of it")
		}
		if asked = !fakeTurn(peer, job, mode); asked {
			break
		}
		if mode == "silent" { // nothing has ended
			peer.Send(control.Line{Event: control.Done, Counters: map[string]int64{control.OK: 0, control.CutOff: int64(50 * (made + 1))}})
			continue
		}
		peer.Send(control.Line{Event: control.Done, Counters: map[string]int64{control.OK: int64(7 * (made + 1)), control.Failed: int64(made + 1), control.CutOff: 2}})
	}
	trial.TurnsMade = new(made)
	if !asked {
		if _, err := peer.Expect(ctx, control.Report); err != nil {
			die("no report asked for: " + err.Error())
		}
	}
	if mode == "failed" {
		trial.Error = "the workload could not log in"
	}
	report, err := json.Marshal(trial)
	if err != nil {
		die(err.Error())
	}
	if mode == "bad-result" {
		report = []byte(`{"round":"three"}`)
	}
	peer.Send(control.Line{Event: control.Result, Trial: report})
	if mode == "die-at-end" {
		die("after all was said")
	}
}

// fakeTurn makes one call, and burns 20 ms. It is false where a report was asked for before the turn was over.
func fakeTurn(peer *control.Peer, job fakeJob, mode string) bool {
	conn, err := net.Dial("tcp", job.Server) // the call; some servers die of it
	if err != nil {
		die(err.Error())
	}
	defer conn.Close()
	switch mode {
	case "die-in-the-middle":
		panic("the middle")
	case "hang-at-done":
		untilEOF(peer)
	}
	conn.SetReadDeadline(time.Now().Add(fakeGrace))
	if _, err := conn.Read(make([]byte, 1)); err != nil && !os.IsTimeout(err) {
		// The server has died, and that is for the parent to notice.
		if _, err := peer.Expect(context.Background(), control.Report); err != nil {
			untilEOF(peer)
		}
		return false
	}
	burn(20 * time.Millisecond)
	return true
}

// fakeGrace is how long a fake driver waits for its call: for ever, but where the server is to be silent.
var fakeGrace = time.Hour

func fakeServer(role, mode string) {
	peer := control.NewPeer(os.Stdin, os.Stdout)
	switch mode {
	case "die-at-start":
		die("the port is taken")
	case "garbage":
		fmt.Println("listening on 127.0.0.1:80")
		untilEOF(peer)
	case "close-stdout":
		os.Stdout.Close()
		untilEOF(peer)
	case "no-address":
		peer.Send(control.Line{Event: control.Listening})
		untilEOF(peer)
	case "huge-stderr", "huge-stderr-and-die":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("a long story ", 10)) // 2.6 MB
		}
		if mode == "huge-stderr-and-die" {
			die("the end of the story")
		}
	case "refuse-to-stop":
		signal.Ignore(syscall.SIGTERM)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		die(err.Error())
	}
	conns := make(chan net.Conn)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns <- c
		}
	}()
	peer.Send(control.Line{Event: control.Listening, Addr: l.Addr().String(), Describe: describe(role)})
	go func() { // a store is asked for its counters
		for n := int64(0); mode != "deaf"; n += endedCalls {
			if _, err := peer.Expect(context.Background(), control.Counters); err != nil {
				return
			}
			if mode == "stop-at-second-question" && n > 0 {
				stopSelf()
			}
			peer.Send(control.Line{Event: control.Counters, Counters: map[string]int64{"read": n}})
		}
	}()
	gone := peer.Gone()
	calls := 0
	for {
		select {
		case c := <-conns:
			calls++
			switch {
			case mode == "die-in-the-middle", mode == "die-in-turn-2" && calls == 2:
				panic("a call killed me")
			case mode == "stop-in-turn-2" && calls == 2:
				stopSelf()
			case mode == "killed-in-warm-up":
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			burn(5 * time.Millisecond)
			c.Write([]byte("."))
		case <-gone:
			switch mode {
			case "refuse-to-stop":
				gone = nil // and on
				continue
			case "die-at-end":
				die("could not flush")
			}
			return
		}
	}
}

// describe tells the test in which circumstances a process finds itself.
func describe(role string) string {
	return fmt.Sprintf("%s: %d CPUs, GOMAXPROCS %d, own group %t, told %q", role, runtime.NumCPU(), runtime.GOMAXPROCS(0),
		syscall.Getpgrp() == os.Getpid(), os.Args[1:])
}

// fakeParent is a run that hangs until it is killed; its children take no hint.
func fakeParent() {
	exe, err := os.Executable()
	if err != nil {
		die(err.Error())
	}
	c := fakeConfig(exe, os.Getenv(witnessEnv))
	c.Progress = func(p Progress) { fmt.Println(p.Phase) }
	c.Server = func(plan.Trial, string) Command { return fakeCommand(Server, "refuse-to-stop") }
	_, err = Run(context.Background(), c, []plan.Trial{{Subject: "driver:hang-at-done", Duration: time.Hour}})
	die(fmt.Sprint("the run has ended: ", err))
}

// stopSelf does not return, so that nothing is answered before the kernel has stopped all threads.
func stopSelf() {
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	select {}
}

func die(words string) {
	fmt.Fprintln(os.Stderr, words)
	os.Exit(3)
}

func untilEOF(p *control.Peer) {
	<-p.Gone()
	os.Exit(0)
}

// burn uses that much CPU.
func burn(d time.Duration) {
	cpu := func() time.Duration {
		var ru syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
			die(err.Error())
		}
		return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	}
	for start := cpu(); cpu()-start < d; {
	}
}

// beSeen holds a connection to the witness for as long as this process lives.
func beSeen() {
	addr := os.Getenv(witnessEnv)
	if addr == "" {
		return
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		die("no witness: " + err.Error())
	}
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil { // the witness has seen us
		die("the witness: " + err.Error())
	}
	witnessed = conn
}

var witnessed net.Conn // kept from the garbage collector

// witness sees which processes live: each holds a connection, and the kernel closes it when the process ends,
// however that comes about.
type witness struct {
	l  net.Listener
	mu sync.Mutex
	cs []net.Conn
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{l: l}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.mu.Lock()
			w.cs = append(w.cs, c)
			w.mu.Unlock()
			fmt.Fprintln(c, "seen")
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		for _, c := range w.cs {
			c.Close()
		}
	})
	return w
}

// allGone fails the test unless n processes were seen and all of them have ended within the time given.
func (w *witness) allGone(t *testing.T, n int, within time.Duration) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.cs) != n {
		t.Errorf("%d processes were seen, want %d", len(w.cs), n)
	}
	for i, c := range w.cs {
		c.SetReadDeadline(time.Now().Add(within))
		if _, err := c.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("process %d of %d is still there", i+1, len(w.cs))
		}
	}
}

// fakeConfig runs fakes: a trial's subject says which of them misbehaves and how ("driver:hang-at-ready").
func fakeConfig(exe, witness string) Config {
	add := func(c Command) Command {
		c.Env = append(c.Env, witnessEnv+"="+witness)
		return c
	}
	mode := func(t plan.Trial, role string) string {
		if who, mode, _ := strings.Cut(t.Subject, ":"); who == role {
			return mode
		}
		return "normal"
	}
	return Config{
		Executable: exe,
		Server: func(t plan.Trial, store string) Command {
			c := fakeCommand(Server, mode(t, Server))
			c.Args = []string{store}
			return add(c)
		},
		Driver: func(t plan.Trial, server string) Command {
			how := mode(t, Driver)
			switch t.Subject {
			case "server:stop-in-turn-2":
				how = "patient"
			case "server:killed-in-warm-up":
				how = "call-early"
			}
			c := fakeCommand(Driver, how)
			c.Job = fakeJob{Server: server, Turns: t.Turns}
			return add(c)
		},
	}
}

func fakeCommand(role, mode string) Command {
	return Command{Env: []string{fakeEnv + "=" + role + ":" + mode}}
}

func withStore(c Config, witness, mode string) Config {
	c.Store = func(t plan.Trial) Command {
		s := fakeCommand(Store, mode)
		s.Env = append(s.Env, witnessEnv+"="+witness)
		return s
	}
	return c
}
