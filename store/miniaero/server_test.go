package miniaero_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"bakeoff/store/miniaero"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCreateRace: of 64 clients that create one record exactly one succeeds.
func TestCreateRace(t *testing.T) {
	s := miniaero.RunT(t)
	clients := make([]*as.Client, 64)
	for i := range clients {
		clients[i] = connect(t, s.Addr(), 2)
	}
	for round := range 20 {
		k := key(t, "race", round)
		var won, lost atomic.Int64
		together(len(clients), func(i int) {
			switch err := clients[i].Put(action(as.CREATE_ONLY), k, bins{"owner": i}); code(err) {
			case "ok":
				won.Add(1)
			case "5":
				lost.Add(1)
			default:
				t.Errorf("client %d: %v", i, err)
			}
		})
		if won.Load() != 1 || lost.Load() != 63 {
			t.Fatalf("round %d: %d won and %d were told that it exists, want 1 and 63", round, won.Load(), lost.Load())
		}
	}
}

// TestOperateIsAtomic: adds from many goroutines are all there, each is one generation, and no reader sees one of the
// two bins without the other.
func TestOperateIsAtomic(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 32)
	k := key(t, "atomic", "k")
	const writers, each = 16, 50
	together(writers+4, func(i int) {
		for range each {
			if i >= writers {
				rec, err := c.Get(nil, k)
				if err == nil && rec.Bins["a"] != rec.Bins["b"] {
					t.Errorf("half of an operate: %v", rec.Bins)
				}
				continue
			}
			if _, err := c.Operate(policy(nil), k, as.AddOp(as.NewBin("a", 1)), as.AddOp(as.NewBin("b", 1)), as.ListAppendOp("l", i)); err != nil {
				t.Errorf("operate: %v", err)
			}
		}
	})
	rec, ok := s.Get(miniaero.Key{Namespace: "test", Set: "atomic", ID: "k"})
	if !ok || rec.Bins["a"] != int64(writers*each) || len(rec.Bins["l"].([]any)) != writers*each || int(rec.Generation) != writers*each {
		t.Errorf("after %d operates: a=%v, generation %d", writers*each, rec.Bins["a"], rec.Generation)
	}
}

func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

func TestGoAPI(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 4)
	now := time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)
	s.SetTime(now)
	all := map[string]any{
		"i": int64(-5), "f": 2.5, "t": true, "s": "語音", "b": []byte{1, 2},
		"l": []any{int64(1), "x", []any{}}, "m": map[any]any{"k": int64(1), int64(7): "seven"},
	}
	for _, id := range []any{"text", 42, int64(-1), []byte{9, 8}} {
		k := miniaero.Key{Namespace: "test", Set: "api", ID: id}
		if err := s.Put(k, all, 90*time.Second+1); err != nil {
			t.Fatal(err)
		}
		rec, ok := s.Get(k)
		want := miniaero.Record{Set: "api", Bins: all, Generation: 1, Updated: now, Expires: now.Add(91 * time.Second)}
		if d := cmp.Diff(want, rec); !ok || d != "" {
			t.Errorf("key %v (-want +got):\n%s", id, d)
		}
		seen, err := c.Get(nil, key(t, "api", id)) // the client's digest is the same
		if err != nil || seen.Bins["s"] != "語音" || seen.Bins["i"] != -5 {
			t.Errorf("key %v through the client: %v, %v", id, seen, err)
		}
	}
	n := 0
	for _, rec := range s.Records("test") {
		n++
		if rec.Set != "api" {
			t.Errorf("a record of set %q", rec.Set)
		}
	}
	if n != 4 || s.Len("test") != 4 || s.Memory("test") == 0 {
		t.Errorf("%d records, Len %d, Memory %d; want 4 and some", n, s.Len("test"), s.Memory("test"))
	}
	k := miniaero.Key{Namespace: "test", Set: "api", ID: "text"}
	if !s.SetGeneration(k, 65535) {
		t.Error("no record to set the generation of")
	}
	rec, err := c.Operate(policy(nil), key(t, "api", "text"), as.PutOp(as.NewBin("x", 1)), as.GetHeaderOp())
	if err != nil || rec.Generation != 1 {
		t.Errorf("the generation after 65535: %v, %v", rec, err)
	}
	if !s.Delete(k) || s.Delete(k) {
		t.Error("a record is deleted once")
	}
	s.FlushAll()
	if s.Len("test") != 0 || s.Memory("test") != 0 {
		t.Errorf("after FlushAll %d records, %d bytes", s.Len("test"), s.Memory("test"))
	}
	for what, err := range map[string]error{
		"no such namespace": s.Put(miniaero.Key{Namespace: "nope", ID: "k"}, all, 0),
		"a key is":          s.Put(miniaero.Key{Namespace: "test", ID: 1.5}, all, 0),
		"needs a bin":       s.Put(miniaero.Key{Namespace: "test", ID: "k"}, nil, 0),
		"can't be kept":     s.Put(miniaero.Key{Namespace: "test", ID: "k"}, map[string]any{"c": make(chan int)}, 0),
		"1 to 15 bytes":     s.Put(miniaero.Key{Namespace: "test", ID: "k"}, map[string]any{strings.Repeat("x", 16): 1}, 0),
		"at most 63 bytes":  s.Put(miniaero.Key{Namespace: "test", Set: strings.Repeat("x", 64), ID: "k"}, all, 0),
	} {
		if what == "no such namespace" {
			what = `no namespace "nope"`
		}
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got error %v, want one with %q", err, what)
		}
	}
}

func TestClock(t *testing.T) {
	s := miniaero.RunT(t, miniaero.Options{DefaultTTL: 50 * time.Second})
	c := connect(t, s.Addr(), 4)
	start := time.Now().Truncate(time.Second)
	s.SetTime(start)
	put := func(id string, seconds uint32) {
		t.Helper()
		if err := c.Put(ttl(seconds), key(t, "clock", id), bins{"a": 1}); err != nil {
			t.Fatal(err)
		}
	}
	put("default", 0)
	put("short", 10)
	put("never", as.TTLDontExpire)
	for _, step := range []struct {
		forward time.Duration
		want    string // which are there
	}{
		{0, "default short never"},
		{10 * time.Second, "default short never"}, // a record lives through its last second
		{time.Second, "default never"},            // 11 s
		{39 * time.Second, "default never"},       // 50 s
		{time.Second, "never"},                    // 51 s
		{1000 * time.Hour, "never"},
	} {
		s.FastForward(step.forward)
		var there []string
		for _, id := range []string{"default", "short", "never"} {
			ok, err := c.Exists(nil, key(t, "clock", id))
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				there = append(there, id)
			}
		}
		if got := strings.Join(there, " "); got != step.want {
			t.Errorf("after %v more: %q is there, want %q", step.forward, got, step.want)
		}
	}
	if n := s.Len("test"); n != 3 {
		t.Errorf("%d records are kept, want 3: nothing sweeps so soon", n)
	}
	s.SetTime(time.Time{})
	s.FastForward(time.Hour)
	put("later", 10)
	rec, ok := s.Get(miniaero.Key{Namespace: "test", Set: "clock", ID: "later"})
	if left := time.Until(rec.Expires) - time.Hour; !ok || left < 8*time.Second || left > 11*time.Second {
		t.Errorf("with a clock that is an hour ahead a record of 10 s has %v", left)
	}
}

func TestSweep(t *testing.T) {
	s := miniaero.RunT(t, miniaero.Options{SweepEvery: time.Millisecond})
	for i := range 100 {
		if err := s.Put(miniaero.Key{Namespace: "test", ID: i}, map[string]any{"a": 1}, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	s.FastForward(3 * time.Second)
	eventually(t, "expired records give their memory back", func() bool { return s.Len("test") == 0 && s.Memory("test") == 0 })
}

func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// TestFullNamespace: what grows is refused with the code of a full server; what shrinks, and reads, are not; and what
// has expired makes room.
func TestFullNamespace(t *testing.T) {
	for _, o := range []miniaero.Options{{MaxMemory: 100_000}, {MaxRecords: 80}} {
		s := miniaero.RunT(t, o)
		c := connect(t, s.Addr(), 4)
		var full as.Error
		n := 0
		for ; full == nil && n < 1000; n++ {
			full = c.Put(ttl(60), key(t, "full", n), bins{"pad": strings.Repeat("x", 900)})
		}
		if code(full) != "8" {
			t.Fatalf("%d records of 900 bytes fit, then %v; want code 8", n, full)
		}
		if m := s.Memory("test"); o.MaxMemory > 0 && m > o.MaxMemory {
			t.Errorf("%d bytes are taken, the limit is %d", m, o.MaxMemory)
		}
		if _, err := c.Get(nil, key(t, "full", 0)); err != nil {
			t.Errorf("get when full: %v", err)
		}
		if err := c.Put(policy(nil), key(t, "full", 0), bins{"pad": "small"}); err != nil {
			t.Errorf("a record that shrinks: %v", err)
		}
		s.FastForward(2 * time.Minute)
		if err := c.Put(policy(nil), key(t, "full", "new"), bins{"pad": strings.Repeat("x", 900)}); err != nil {
			t.Errorf("put when all has expired: %v", err)
		}
	}
}

func TestConnectionLimit(t *testing.T) {
	s := miniaero.RunT(t, miniaero.Options{MaxConns: 3})
	c := connect(t, s.Addr(), 2)
	if _, err := c.Get(nil, key(t, "s", "k")); code(err) != "2" {
		t.Fatal(err)
	}
	for range 5 {
		extra := rawDial(t, s.Addr())
		defer extra.Close()
	}
	eventually(t, "at most 3 connections", func() bool { return s.Connections() <= 3 })
}

// TestAdvertisedAddress: a client that comes from elsewhere asks where to connect, and must be able to.
func TestAdvertisedAddress(t *testing.T) {
	s, err := miniaero.Listen("0.0.0.0:0", miniaero.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	_, port, err := net.SplitHostPort(s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		c := connect(t, net.JoinHostPort(ip.IP.String(), port), 4)
		if _, err := c.Get(nil, key(t, "s", "k")); code(err) != "2" {
			t.Errorf("get through %v: %v", ip, err)
		}
		if host := c.GetNodes()[0].GetHost().Name; host != ip.IP.String() {
			t.Errorf("the client that came to %v was sent to %s", ip, host)
		}
		return
	}
	t.Skip("this machine has no address but the loopback's")
}

func TestFaults(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 8)
	k := key(t, "fault", "k")
	once := func(f miniaero.Fault, kind miniaero.Kind) {
		var struck atomic.Bool
		s.SetFault(func(call miniaero.Call) miniaero.Fault {
			if call.Kind == kind && call.Set == "fault" && struck.CompareAndSwap(false, true) {
				return f
			}
			return miniaero.Fault{}
		})
	}
	single := as.NewPolicy()
	single.MaxRetries = 0
	single.TotalTimeout = 5 * time.Second
	once(miniaero.Fault{Code: miniaero.KeyBusy}, miniaero.KindRead)
	if _, err := c.Get(single, k); code(err) != "14" {
		t.Errorf("hot key: %v", err)
	}
	if _, err := c.Get(single, k); code(err) != "2" {
		t.Errorf("get after it: %v", err)
	}
	once(miniaero.Fault{Disconnect: true}, miniaero.KindWrite)
	if err := c.Put(policy(nil), k, bins{"a": 1}); err == nil {
		t.Error("a put over a reset connection succeeded")
	}
	if _, ok := s.Get(miniaero.Key{Namespace: "test", Set: "fault", ID: "k"}); ok {
		t.Error("what was to be disconnected was done")
	}
	once(miniaero.Fault{Delay: 50 * time.Millisecond}, miniaero.KindDelete)
	began := time.Now()
	if _, err := c.Delete(policy(nil), k); err != nil || time.Since(began) < 50*time.Millisecond {
		t.Errorf("a delayed delete took %v: %v", time.Since(began), err)
	}
	s.SetFault(nil)
}

func TestListenFails(t *testing.T) {
	s := miniaero.RunT(t)
	for what, o := range map[string]miniaero.Options{
		"address already in use": {},
		"given twice":            {Namespaces: []string{"a", "a"}},
		"1 to 31 bytes":          {Namespaces: []string{""}},
		"want host:port":         {Advertise: []string{"db"}},
	} {
		extra, err := miniaero.Listen(s.Addr(), o)
		if err == nil {
			extra.Close()
		}
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got error %v, want one with %q", err, what)
		}
	}
}

// TestClose: it may be called twice, ends connections, and the data can still be read.
func TestClose(t *testing.T) {
	s, err := miniaero.Listen("127.0.0.1:0", miniaero.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, s.Addr(), 4)
	if err := c.Put(nil, key(t, "s", "k"), bins{"a": 1}); err != nil {
		t.Fatal(err)
	}
	raw := rawDial(t, s.Addr())
	defer raw.Close()
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if n, err := raw.Read(make([]byte, 1)); err == nil {
		t.Errorf("read %d bytes from a closed server", n)
	}
	if rec, ok := s.Get(miniaero.Key{Namespace: "test", Set: "s", ID: "k"}); !ok || fmt.Sprint(rec.Bins) != "map[a:1]" {
		t.Errorf("after Close: %v, %v", rec, ok)
	}
}
