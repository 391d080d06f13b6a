package aerospike

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/service"
	"bakeoff/store/miniaero"
	"bakeoff/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a store on a server and closes it with the test.
func open(t *testing.T, addr string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), "aerospike://"+addr+"/test", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) (service.Store, func(time.Duration)) {
		server := miniaero.RunT(t)
		return open(t, server.Addr(), Options{Concurrency: 32, Timeout: 10 * time.Second}), server.FastForward
	})
}

// realServer names the variable with the address of a real server, aerospike://host:port/namespace, whose nsup-period is
// set. Its clock can't be moved, so that expiry is not tested there.
const realServer = "AEROSPIKE_TEST_SERVER"

func TestContractOfARealServer(t *testing.T) {
	addr := os.Getenv(realServer)
	if addr == "" {
		t.Skipf("set %s=aerospike://host:port/namespace to run the contract against a real server", realServer)
	}
	storetest.Run(t, func(t *testing.T) (service.Store, func(time.Duration)) {
		s, err := Open(t.Context(), addr, Options{Concurrency: 32, Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return s, nil
	})
}

func TestManyKeysGoInSeveralBatches(t *testing.T) {
	server := miniaero.RunT(t)
	s := open(t, server.Addr(), Options{})
	keys := make([]service.Key, 2*maxBatch+1) // 4096, 4096 and 1
	for i := range keys {
		keys[i] = service.Key{Set: "s", ID: strings.Repeat("x", i%7) + string(rune('a'+i%26))}
	}
	if err := s.Put(t.Context(), keys[len(keys)-1], service.Bins{"n": int64(7)}, 0); err != nil {
		t.Fatal(err)
	}
	before := server.Counters()
	records, err := s.GetMany(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != len(keys) || records[len(keys)-1].Bins["n"] != int64(7) {
		t.Errorf("got %d records, the last %v", len(records), records[len(keys)-1])
	}
	after := server.Counters()
	batches, reads := after[miniaero.KindBatch]-before[miniaero.KindBatch], after[miniaero.KindRead]-before[miniaero.KindRead]
	if batches != 2 || reads != 1 {
		t.Errorf("%d batches and %d reads for %d keys, want 2 and 1", batches, reads, len(keys))
	}
}

// TestOneCallIsOneRequest: no retries, no reads before writes, and one operation for append, trim and read.
func TestOneCallIsOneRequest(t *testing.T) {
	server := miniaero.RunT(t)
	s := open(t, server.Addr(), Options{Concurrency: 4})
	k := service.Key{Set: "s", ID: "k"}
	for _, c := range []struct {
		name string
		kind miniaero.Kind
		do   func() error
	}{
		{"create", miniaero.KindWrite, func() error { return s.Create(t.Context(), k, service.Bins{"a": "x"}, time.Minute) }},
		{"put", miniaero.KindWrite, func() error { return s.Put(t.Context(), k, service.Bins{"a": "x"}, 0) }},
		{"get", miniaero.KindRead, func() error { _, err := s.Get(t.Context(), k); return err }},
		{"append", miniaero.KindWrite, func() error { _, err := s.Append(t.Context(), k, "l", "v", 3, 0); return err }},
		{"get many", miniaero.KindBatch, func() error { _, err := s.GetMany(t.Context(), []service.Key{k, k}); return err }},
		{"delete", miniaero.KindDelete, func() error { return s.Delete(t.Context(), k, 0) }},
	} {
		before := server.Counters()
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for kind, n := range server.Counters() {
			want := before[kind]
			if kind == c.kind {
				want++
			}
			if kind != miniaero.KindInfo && n != want {
				t.Errorf("%s: %d operations of kind %v, want %d", c.name, n-before[kind], kind, want-before[kind])
			}
		}
	}
}

func TestPoolIsOpenedAtStart(t *testing.T) {
	server := miniaero.RunT(t)
	s := open(t, server.Addr(), Options{Concurrency: 24})
	eventually(t, "24 connections for calls and one to tend", func() bool { return server.Connections() == 25 })
	together(24, func(int) { _, _ = s.Get(t.Context(), service.Key{Set: "s", ID: "none"}) })
	if n := server.Connections(); n != 25 {
		t.Errorf("%d connections after 24 calls at a time, want the 25 from the start", n)
	}
}

func TestAnswersOfTheServerAreMapped(t *testing.T) {
	server := miniaero.RunT(t)
	s := open(t, server.Addr(), Options{Concurrency: 4})
	for _, c := range []struct {
		code  miniaero.ResultCode
		want  service.Code
		class string
	}{
		{miniaero.KeyBusy, service.ResourceExhausted, ClassHotKey},
		{miniaero.DeviceOverload, service.ResourceExhausted, ClassOverload},
		{miniaero.OutOfSpace, service.ResourceExhausted, ClassFull},
		{miniaero.RecordTooBig, service.ResourceExhausted, ClassTooBig},
		{miniaero.Timeout, service.DeadlineExceeded, ClassTimeout},
		{miniaero.Forbidden, service.Internal, ClassRefused},
		{miniaero.ParameterError, service.Internal, ClassRefused},
	} {
		server.SetFault(func(c2 miniaero.Call) miniaero.Fault {
			if c2.Kind == miniaero.KindInfo {
				return miniaero.Fault{}
			}
			return miniaero.Fault{Code: c.code}
		})
		k := service.Key{Set: "s", ID: "k"}
		_, errGet := s.Get(t.Context(), k)
		_, errMany := s.GetMany(t.Context(), []service.Key{k, k})
		for what, err := range map[string]error{"get": errGet, "get many": errMany, "put": s.Put(t.Context(), k, service.Bins{"a": "x"}, 0)} {
			wantError(t, what, err, c.want, c.class)
		}
	}
	server.SetFault(func(miniaero.Call) miniaero.Fault { return miniaero.Fault{Code: miniaero.Forbidden} })
	err := s.Put(t.Context(), service.Key{Set: "s", ID: "k"}, service.Bins{"a": "x"}, time.Second)
	if err == nil || !strings.Contains(err.Error(), "nsup-period") {
		t.Errorf("a forbidden write with a ttl: got %v, want the setting that mends it", err)
	}
}

// wantError checks code and class of an error of the service.
func wantError(t *testing.T, what string, err error, code service.Code, class string) {
	t.Helper()
	var se *service.Error
	if !errors.As(err, &se) || se.Code != code || se.Class() != class {
		t.Errorf("%s: got error %v (class %q), want %v of class %s", what, err, classOf(err), code, class)
	}
}

func classOf(err error) string {
	var se *service.Error
	if errors.As(err, &se) {
		return se.Class()
	}
	return ""
}

// TestServerThatHangs: the timeout holds, and the next call after the pause is answered.
func TestServerThatHangs(t *testing.T) {
	server := miniaero.RunT(t)
	s := open(t, server.Addr(), Options{Concurrency: 4, Timeout: 100 * time.Millisecond})
	hang := make(chan struct{})
	server.SetFault(func(c miniaero.Call) miniaero.Fault {
		if c.Kind == miniaero.KindRead {
			<-hang
		}
		return miniaero.Fault{}
	})
	k := service.Key{Set: "s", ID: "k"}
	began := time.Now()
	_, err := s.Get(t.Context(), k)
	wantError(t, "get", err, service.DeadlineExceeded, ClassTimeout)
	if took := time.Since(began); took < 90*time.Millisecond || took > 2*time.Second {
		t.Errorf("it took %v, want about the timeout of 100ms", took)
	}

	// A deadline of the context is shorter.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	began = time.Now()
	_, err = s.Get(ctx, k)
	wantError(t, "get with a deadline", err, service.DeadlineExceeded, ClassTimeout)
	if took := time.Since(began); took > 95*time.Millisecond {
		t.Errorf("with 20ms left it took %v", took)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, which is no context.DeadlineExceeded", err)
	}
	close(hang)
	server.SetFault(nil)
	if _, err := s.Get(t.Context(), k); !errors.Is(err, service.ErrNotFound) {
		t.Errorf("get when it is over: %v", err)
	}
}

// TestMoreCallsThanConnections: one call waits its turn, and is refused when that does not come.
func TestMoreCallsThanConnections(t *testing.T) {
	server := miniaero.RunT(t)
	s := open(t, server.Addr(), Options{Concurrency: 1, Timeout: 300 * time.Millisecond})
	entered, release := make(chan struct{}), make(chan struct{})
	server.SetFault(func(c miniaero.Call) miniaero.Fault {
		if c.Set == "slow" {
			close(entered)
			<-release
		}
		return miniaero.Fault{}
	})
	slow := make(chan error, 1)
	go func() {
		_, err := s.Get(t.Context(), service.Key{Set: "slow", ID: "k"})
		slow <- err
	}()
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	_, err := s.Get(ctx, service.Key{Set: "s", ID: "k"})
	cancel()
	wantError(t, "get behind a slow one, with a deadline", err, service.DeadlineExceeded, ClassPool)
	cancelled, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	if _, err := s.Get(cancelled, service.Key{Set: "s", ID: "k"}); !errors.Is(err, context.Canceled) {
		t.Errorf("get that is cancelled while it waits: got %v", err)
	}
	close(release)
	if err := <-slow; !errors.Is(err, service.ErrNotFound) {
		t.Errorf("the slow call: %v", err)
	}
	if _, err := s.Get(t.Context(), service.Key{Set: "s", ID: "k"}); !errors.Is(err, service.ErrNotFound) {
		t.Errorf("get after the slow call: %v", err)
	}
}

func TestPoolIsExhausted(t *testing.T) {
	server := miniaero.RunT(t)
	s := open(t, server.Addr(), Options{Concurrency: 1, Timeout: 50 * time.Millisecond})
	s.turns <- struct{}{} // as a call that does not end would
	_, err := s.Get(t.Context(), service.Key{Set: "s", ID: "k"})
	wantError(t, "get", err, service.ResourceExhausted, ClassPool)
	<-s.turns
}

func TestOpenFails(t *testing.T) {
	closed := refusing(t)
	mute, err := net.Listen("tcp", "127.0.0.1:0") // accepts, never answers
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	server := miniaero.RunT(t)
	for _, c := range []struct {
		name, addr string
		want       []string
	}{
		{"nobody listens", "aerospike://" + closed + "/test", []string{closed, "connection refused"}},
		{"no answer", "aerospike://" + mute.Addr().String() + "/test", []string{mute.Addr().String(), "answer"}},
		{"no such namespace", "aerospike://" + server.Addr() + "/nope", []string{server.Addr(), `no namespace "nope"`, "it has test"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			s, err := Open(t.Context(), c.addr, Options{ConnectTimeout: 300 * time.Millisecond})
			if err == nil {
				s.Close()
				t.Fatal("it opened")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not say %q", err, w)
				}
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %v, with a connect timeout of 300ms", took)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, "aerospike://"+server.Addr()+"/test", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("open with a cancelled context: %v", err)
	}
}

// TestConnectTimeoutGrowsWithThePool: what is not set is enough for thousands of connections.
func TestConnectTimeoutGrowsWithThePool(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want time.Duration
	}{
		{Options{Concurrency: 4}, 5*time.Second + 5*2*time.Millisecond},
		{Options{Concurrency: 5000}, 5*time.Second + 5001*2*time.Millisecond},
		{Options{Concurrency: 5000, ConnectTimeout: time.Second}, time.Second},
	} {
		if got := c.o.defaulted().ConnectTimeout; got != c.want {
			t.Errorf("%d at a time: %v, want %v", c.o.Concurrency, got, c.want)
		}
	}
}

// TestPoolIsNotFilledInTime: a server that answers, but takes no further connections after the first ones, is told from one that
// does not answer.
func TestPoolIsNotFilledInTime(t *testing.T) {
	const takes = 150
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	server, err := miniaero.Listen("127.0.0.1:0", miniaero.Options{Advertise: []string{l.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	cerr := raw.Control(func(fd uintptr) { failed = syscall.Listen(int(fd), 2*atOnce) }) // beyond this backlog dials hang
	if err := errors.Join(cerr, failed); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for range takes {
			in, err := l.Accept()
			if err != nil {
				return // the test is over
			}
			out, err := net.Dial("tcp", server.Addr())
			if err != nil {
				t.Error(err)
				return
			}
			wg.Go(func() { _, _ = io.Copy(out, in); out.Close() })
			wg.Go(func() { _, _ = io.Copy(in, out); in.Close() })
		}
	})
	s, err := Open(t.Context(), "aerospike://"+l.Addr().String()+"/test", Options{Concurrency: 600, ConnectTimeout: 700 * time.Millisecond})
	l.Close()
	if err == nil {
		s.Close()
		t.Fatal("it opened")
	}
	if !regexp.MustCompile(`opened [1-3][0-9][0-9] of 601 connections in `).MatchString(err.Error()) || strings.Contains(err.Error(), "no Aerospike answered") {
		t.Errorf("got %v, want how many of 601 were opened", err)
	}
	wg.Wait()
}

// TestOpenIsGivenUp: who ends the connecting is told so, and not that the server had its time.
func TestOpenIsGivenUp(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var held []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2 { // the probe, and the client's first
			c, err := mute.Accept()
			if err != nil {
				t.Error(err)
				break
			}
			held = append(held, c)
		}
		cancel()
	}()
	_, err = Open(ctx, "aerospike://"+mute.Addr().String()+"/test", Options{ConnectTimeout: time.Minute})
	<-done
	for _, c := range held { // which lets the client give up too
		c.Close()
	}
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "given up before") || strings.Contains(err.Error(), "within") {
		t.Errorf("got %v, want that it was given up", err)
	}
}

// refusing is an address at which nobody listens.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestClosed(t *testing.T) {
	server := miniaero.RunT(t)
	s := open(t, server.Addr(), Options{Concurrency: 2})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	_, err := s.Get(t.Context(), service.Key{Set: "s", ID: "k"})
	wantError(t, "get", err, service.Unavailable, ClassClosed)
	eventually(t, "all connections closed", func() bool { return server.Connections() == 0 })
}

func TestDescribe(t *testing.T) {
	server := miniaero.RunT(t)
	s := open(t, server.Addr(), Options{Concurrency: 7, Timeout: 250 * time.Millisecond})
	if got, want := s.Describe(), "miniaero (as aerospike 8.1.2.0) at "+server.Addr(); got != want {
		t.Errorf("Describe() = %q, want %q", got, want)
	}
	for _, w := range []string{"timeout 250ms", "no retries", "pool of 8 connections"} {
		if !strings.Contains(s.Policy(), w) {
			t.Errorf("policy %q does not say %q", s.Policy(), w)
		}
	}
}

// together runs n calls of f at a time and waits for them.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// eventually waits for what another goroutine brings about.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}
