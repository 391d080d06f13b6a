package suite

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/store/aerospike"
	"bakeoff/store/miniaero"
)

// These tests hold every contestant to the same answers when its store fails. Everything is real but the database: the
// subject's server and client over sockets, the rules, and the Aerospike client against the embedded server.

// callers is how many calls are in flight at a time.
const callers = 8

// serve runs a server of p over a store of its own on db, and is a client of it. Both end with the test.
func serve(t *testing.T, p protocol.Protocol, db *miniaero.Server, so aerospike.Options, c service.Config) protocol.Client {
	t.Helper()
	so.Concurrency = callers
	store, err := aerospike.Open(t.Context(), "aerospike://"+db.Addr()+"/test", so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	rules, err := service.New(t.Context(), store, c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := p.Options(callers, 0)
	o.Timeout = time.Minute // no answer below comes from it
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, l, rules, o) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("%s: Serve: %v", p.Name, err)
		}
	})
	client, err := p.Dial(t.Context(), l.Addr().String(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// each runs a test for every subject.
func each(t *testing.T, test func(t *testing.T, p protocol.Protocol)) {
	for _, p := range All {
		t.Run(p.Name, func(t *testing.T) { test(t, p) })
	}
}

var known = service.DataTypeRequest{Group: service.KnownGroup, Name: service.KnownName}

// askKnown makes the call that needs a record, and puts it there if it is missing.
func askKnown(ctx context.Context, c protocol.Client) error {
	d, err := c.DataType(ctx, known)
	if want := (service.DataType{CodeID: service.KnownCode, CnName: service.KnownCnName}); err == nil && d != want {
		return errors.New("a wrong answer: " + d.CnName)
	}
	return err
}

// calls are all those that ask the store: for one record, for many, and to write one.
var calls = map[string]func(ctx context.Context, c protocol.Client) error{
	"DataType": askKnown,
	"GetFeature": func(ctx context.Context, c protocol.Client) error {
		_, err := c.GetFeature(ctx, service.Point{})
		return err
	},
	"ListFeatures": func(ctx context.Context, c protocol.Client) error {
		world := service.Rectangle{
			Lo: service.Point{Latitude: -90_0000000, Longitude: -180_0000000},
			Hi: service.Point{Latitude: 90_0000000, Longitude: 180_0000000},
		}
		_, err := service.Collect(c.ListFeatures(ctx, world))
		return err
	},
	"RecordRoute": func(ctx context.Context, c protocol.Client) error {
		_, err := c.RecordRoute(ctx, service.All([]service.Point{{}, {Latitude: 1}}))
		return err
	},
	"RouteChat": func(ctx context.Context, c protocol.Client) error {
		_, err := service.Collect(c.RouteChat(ctx, service.All([]service.RouteNote{{Message: "m"}})))
		return err
	},
}

// failed wants an error of the service that arrived with this code and outcome class.
func failed(t *testing.T, what string, err error, code service.Code, class string) {
	t.Helper()
	var e *service.Error
	if !errors.As(err, &e) || e.Code != code || e.Class() != class {
		t.Errorf("%s: got error %v (%#v), want %v of class %s", what, err, e, code, class)
	}
}

// eventually waits for what another goroutine brings about.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
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

// TestStoreFaultsAreOutcomeClasses: what goes wrong in the store is known by its class at the client, with the code that
// a caller acts on, and calls succeed again when it is over.
func TestStoreFaultsAreOutcomeClasses(t *testing.T) {
	const timeout = 100 * time.Millisecond
	each(t, func(t *testing.T, p protocol.Protocol) {
		db := miniaero.RunT(t)
		c := serve(t, p, db, aerospike.Options{Timeout: timeout}, service.Config{})
		for _, row := range []struct {
			what  string
			fault miniaero.Fault
			code  service.Code
			class string
			least time.Duration // before which it can't be known
		}{
			{"a hot key", miniaero.Fault{Code: miniaero.KeyBusy}, service.ResourceExhausted, "store_hot_key", 0},
			{"a device that can't keep up", miniaero.Fault{Code: miniaero.DeviceOverload}, service.ResourceExhausted, "store_overload", 0},
			{"a full namespace", miniaero.Fault{Code: miniaero.OutOfSpace}, service.ResourceExhausted, "store_full", 0},
			{"answers 2 s late", miniaero.Fault{Delay: 2 * time.Second}, service.DeadlineExceeded, "store_timeout", timeout},
			{"connections that are reset", miniaero.Fault{Disconnect: true}, service.Unavailable, "store_unavailable", 0},
		} {
			db.SetFault(func(call miniaero.Call) miniaero.Fault {
				if call.Kind == miniaero.KindInfo {
					return miniaero.Fault{}
				}
				return row.fault
			})
			for name, call := range calls {
				began := time.Now()
				err := call(t.Context(), c)
				took := time.Since(began)
				failed(t, row.what+": "+name, err, row.code, row.class)
				if took < row.least || took > 2*time.Second {
					t.Errorf("%s: %s: it took %v, with a store's timeout of %v", row.what, name, took, timeout)
				}
			}
			db.SetFault(nil)
			for name, call := range calls {
				eventually(t, name+" succeeds after "+row.what, func() bool { return call(t.Context(), c) == nil })
			}
		}
	})
}

// aside is a database at a loopback address of its own, where that can be had: of 127.0.0.1 somebody else's server may be given the port while
// the database is down, and be asked in its place.
func aside(t *testing.T) *miniaero.Server {
	db, err := miniaero.Listen("127.77.0.1:0", miniaero.Options{})
	if err != nil {
		return miniaero.RunT(t)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestStoreIsKilledAndRestarted while calls are in flight: they fail at once, as unavailable and not with their timeout, and
// when the store is back at its address, empty, they succeed with nothing done.
func TestStoreIsKilledAndRestarted(t *testing.T) {
	const prompt = 2 * time.Second // far below the store's timeout, far above what a slow machine needs
	each(t, func(t *testing.T, p protocol.Protocol) {
		db := aside(t)
		c := serve(t, p, db, aerospike.Options{Timeout: 30 * time.Second}, service.Config{})
		if err := askKnown(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		var (
			good, bad atomic.Int64
			slowest   [callers]time.Duration
			stop      = make(chan struct{})
			run       sync.WaitGroup
		)
		ended := sync.OnceFunc(func() { close(stop); run.Wait() })
		defer ended() // also where the test is given up
		for i := range callers {
			run.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					began := time.Now()
					err := askKnown(t.Context(), c)
					if err == nil {
						good.Add(1)
						continue
					}
					failed(t, "a call without a store", err, service.Unavailable, "store_unavailable")
					slowest[i] = max(slowest[i], time.Since(began))
					bad.Add(1)
				}
			})
		}
		more := func(what string, n *atomic.Int64) {
			want := n.Load() + 10*callers
			eventually(t, what, func() bool { return n.Load() >= want })
		}
		more("calls succeed", &good)
		db.Close()
		more("calls fail", &bad)
		again, err := miniaero.Listen(db.Addr(), miniaero.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		more("calls succeed again", &good)
		before := bad.Load()
		more("calls go on", &good)
		if n := bad.Load() - before; n > callers { // each may have had one under way
			t.Errorf("%d calls of %d callers failed after the store was back", n, callers)
		}
		ended()
		for i, took := range slowest {
			if took > prompt {
				t.Errorf("caller %d: a call took %v to fail", i, took)
			}
		}
	})
}

var (
	recordKey = miniaero.Key{Namespace: "test", Set: service.DataTypeSet, ID: service.KnownGroup + "|" + service.KnownName}
	lockKey   = miniaero.Key{Namespace: "test", Set: service.DataTypeLock, ID: recordKey.ID}
)

// TestLockOwnerDies: the lock that it leaves holds the others up for its time and no longer, and whoever can't wait that
// long is told why.
func TestLockOwnerDies(t *testing.T) {
	const ttl = time.Hour // of which nothing is waited
	each(t, func(t *testing.T, p protocol.Protocol) {
		db := miniaero.RunT(t)
		patient := serve(t, p, db, aerospike.Options{Timeout: 10 * time.Second}, service.Config{LockTTL: ttl, LockWait: ttl})
		hasty := serve(t, p, db, aerospike.Options{Timeout: 10 * time.Second}, service.Config{LockTTL: ttl, LockWait: 20 * time.Millisecond})
		if err := db.Put(lockKey, map[string]any{"owner": "dead"}, ttl); err != nil {
			t.Fatal(err)
		}
		failed(t, "who can't wait", askKnown(t.Context(), hasty), service.Unavailable, "lock_wait")

		tried := db.Counters()[miniaero.KindWrite]
		answered := make(chan error, 1)
		go func() { answered <- askKnown(t.Context(), patient) }()
		eventually(t, "the lock is tried three times", func() bool { return db.Counters()[miniaero.KindWrite] >= tried+3 })
		select {
		case err := <-answered:
			t.Fatalf("answered with %v while another has the lock", err)
		default:
		}
		db.FastForward(ttl)
		if err := <-answered; err != nil {
			t.Errorf("after the lock's time: %v", err)
		}
		if r, ok := db.Get(recordKey); !ok || r.Generation != 1 {
			t.Errorf("the record: %v, %+v", ok, r)
		}
		if r, ok := db.Get(lockKey); ok {
			t.Errorf("the lock of who got through is left: %+v", r)
		}
	})
}

// TestTwoServersRace: callers of two servers, each with a store of its own on one database, miss the same record at the
// same time. One record is made, and all get it.
func TestTwoServersRace(t *testing.T) {
	each(t, func(t *testing.T, p protocol.Protocol) {
		db := miniaero.RunT(t)
		clients := []protocol.Client{
			serve(t, p, db, aerospike.Options{Timeout: 10 * time.Second}, service.Config{}),
			serve(t, p, db, aerospike.Options{Timeout: 10 * time.Second}, service.Config{}),
		}
		for round := range 5 {
			db.Delete(recordKey)
			// Nobody gets the lock before all have missed the record and ask for it.
			var missed atomic.Int64
			all := make(chan struct{})
			db.SetFault(func(call miniaero.Call) miniaero.Fault {
				if call.Kind == miniaero.KindWrite && call.Set == service.DataTypeLock {
					if missed.Add(1) == int64(len(clients)*callers) {
						close(all)
					}
					select {
					case <-all:
					case <-t.Context().Done():
					}
				}
				return miniaero.Fault{}
			})
			var run sync.WaitGroup
			for i, c := range clients {
				for range callers {
					run.Go(func() {
						if err := askKnown(t.Context(), c); err != nil {
							t.Errorf("round %d: a caller of server %d: %v", round, i, err)
						}
					})
				}
			}
			run.Wait()
			db.SetFault(nil)
			if r, ok := db.Get(recordKey); !ok || r.Generation != 1 {
				t.Errorf("round %d: the record: %v, %+v; want it at its first generation", round, ok, r)
			}
			count := map[string]int{}
			for _, r := range db.Records("test") {
				count[r.Set]++
			}
			if count[service.DataTypeSet] != 1 || count[service.DataTypeLock] != 0 {
				t.Errorf("round %d: %v records by set, want one data type and no lock", round, count)
			}
		}
	})
}
