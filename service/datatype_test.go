package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bakeoff/service"
	"bakeoff/store/memory"
)

func id(r service.DataTypeRequest) string { return r.Group + "|" + r.Name }

var (
	recordKey = service.Key{Set: service.DataTypeSet, ID: id(known)}
	lockKey   = service.Key{Set: service.DataTypeLock, ID: id(known)}
	answer    = service.DataType{CodeID: 101, CnName: "語音接通"}
)

func TestDataTypeFillsWhatIsMissing(t *testing.T) {
	s, store, _ := fresh(t, service.Config{})
	if _, err := store.Get(t.Context(), recordKey); !errors.Is(err, service.ErrNotFound) {
		t.Fatalf("before the first call: got error %v, want ErrNotFound", err)
	}
	if d, err := s.DataType(t.Context(), known); err != nil || d != answer {
		t.Fatalf("first call: got %+v, %v", d, err)
	}
	rec, err := store.Get(t.Context(), recordKey)
	if err != nil || rec.Bins["code_id"] != int64(101) || rec.Bins["cnname"] != "語音接通" || rec.Generation != 1 {
		t.Errorf("the record: got %+v, %v", rec, err)
	}
	if rec, err := store.Get(t.Context(), lockKey); !errors.Is(err, service.ErrNotFound) {
		t.Errorf("the lock after the call: got %+v, %v, want it gone", rec, err)
	}
	store.create = func(k service.Key) error {
		t.Errorf("second call creates %v", k)
		return nil
	}
	if d, err := s.DataType(t.Context(), known); err != nil || d != answer {
		t.Errorf("second call: got %+v, %v", d, err)
	}
}

// What stands in the store is the truth, whatever the catalogue says.
func TestDataTypeAnswersFromTheStore(t *testing.T) {
	s, store, _ := fresh(t, service.Config{})
	for r, bins := range map[service.DataTypeRequest]service.Bins{
		known:                        {"code_id": int64(-7), "cnname": "改名"},
		{Group: "OURS", Name: "own"}: {"code_id": int64(1) << 60, "cnname": "", "other": "bin"},
	} {
		if err := store.Put(t.Context(), service.Key{Set: service.DataTypeSet, ID: id(r)}, bins, 0); err != nil {
			t.Fatal(err)
		}
		d, err := s.DataType(t.Context(), r)
		if want := (service.DataType{CodeID: bins["code_id"].(int64), CnName: bins["cnname"].(string)}); err != nil || d != want {
			t.Errorf("%s: got %+v, %v, want %+v", id(r), d, err, want)
		}
	}
	for _, bins := range []service.Bins{{"code_id": "101", "cnname": "x"}, {"code_id": int64(1)}, {"cnname": "x"}, {"code_id": int64(1), "cnname": []string{"x"}}} {
		if err := store.Put(t.Context(), recordKey, bins, 0); err != nil {
			t.Fatal(err)
		}
		_, err := s.DataType(t.Context(), known)
		wantError(t, fmt.Sprint(bins), err, service.Internal, "")
	}
}

func TestDataTypeRefuses(t *testing.T) {
	s, _, _ := fresh(t, service.Config{})
	long := strings.Repeat("x", service.MaxName)
	for _, c := range []struct {
		group, name string
		code        service.Code
		msg         string
	}{
		{"", "", service.InvalidArgument, service.MsgEmptyName},
		{"USER_EVENT", "", service.InvalidArgument, service.MsgEmptyName},
		{"", "app_call_connect_success", service.InvalidArgument, service.MsgEmptyName},
		{long + "x", "n", service.InvalidArgument, service.MsgLongName},
		{"g", long + "x", service.InvalidArgument, service.MsgLongName},
		{long, "n", service.NotFound, `no data type "n" in group "` + long + `"`},
		{"USER_EVENT", "none", service.NotFound, `no data type "none" in group "USER_EVENT"`},
		{"user_event", "app_call_connect_success", service.NotFound, ""},
		{"USER_EVENT|", "app_call_connect_success", service.NotFound, ""}, // the joint does not move
		{"DEVICE_EVENT", "app_call_connect_success", service.NotFound, ""},
	} {
		_, err := s.DataType(t.Context(), service.DataTypeRequest{Group: c.group, Name: c.name})
		wantError(t, fmt.Sprintf("%.20q %.20q", c.group, c.name), err, c.code, c.msg)
	}
}

// TestRaceToFill: two servers over one store and 64 callers that miss the same key leave one record, written once.
func TestRaceToFill(t *testing.T) {
	for range 20 {
		var written, locks atomic.Int64
		inner := memory.New(nil)
		store := &spy{Store: inner}
		services := []*service.Service{newService(t, store, service.Config{}), newService(t, store, service.Config{})}
		store.create = func(k service.Key) error {
			if k == recordKey {
				written.Add(1)
			}
			return nil
		}
		store.del = func(k service.Key) error {
			locks.Add(1)
			return nil
		}
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for i := range 64 {
			wg.Go(func() {
				<-begin
				if d, err := services[i%2].DataType(t.Context(), known); err != nil || d != answer {
					t.Errorf("caller %d: got %+v, %v", i, d, err)
				}
			})
		}
		close(begin)
		wg.Wait()
		rec, err := inner.Get(t.Context(), recordKey)
		if err != nil || rec.Generation != 1 {
			t.Fatalf("the record: got %+v, %v, want generation 1", rec, err)
		}
		// A late caller may lock when the record is there already; each lock that was taken is given back.
		if w, l := written.Load(), locks.Load(); w < 1 || w != l {
			t.Errorf("%d attempts to write the record under %d locks that were given back", w, l)
		}
		if _, err := inner.Get(t.Context(), lockKey); !errors.Is(err, service.ErrNotFound) {
			t.Errorf("a lock is left: %v", err)
		}
	}
}

// waiting makes a call in the background, to a service whose lock another holds, and returns when it waits.
func waiting(t *testing.T, s *service.Service, store *spy, ctx context.Context) <-chan error {
	t.Helper()
	tried := make(chan struct{})
	var once sync.Once
	store.create = func(k service.Key) error {
		if k == lockKey {
			once.Do(func() { close(tried) })
		}
		return nil
	}
	done := make(chan error, 1)
	go func() {
		d, err := s.DataType(ctx, known)
		if err == nil && d != answer {
			err = fmt.Errorf("got %+v, want %+v", d, answer)
		}
		done <- err
	}()
	<-tried
	return done
}

func holdLock(t *testing.T, store service.Store, ttl time.Duration) {
	t.Helper()
	if err := store.Create(t.Context(), lockKey, service.Bins{"owner": "another"}, ttl); err != nil {
		t.Fatal(err)
	}
}

func TestWaiterReadsWhatTheOwnerWrote(t *testing.T) {
	s, store, _ := fresh(t, service.Config{})
	holdLock(t, store.Store, time.Minute)
	done := waiting(t, s, store, t.Context())
	bins := service.Bins{"code_id": int64(101), "cnname": "語音接通"}
	if err := store.Store.Create(t.Context(), recordKey, bins, 0); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the caller that waited: %v", err)
	}
	if rec, err := store.Get(t.Context(), lockKey); err != nil || rec.Bins["owner"] != "another" {
		t.Errorf("the other's lock: got %+v, %v, want it untouched", rec, err)
	}
}

func TestDeadOwnerBlocksForItsLifeOnly(t *testing.T) {
	s, store, clk := fresh(t, service.Config{LockTTL: 2 * time.Second, LockWait: 5 * time.Second})
	holdLock(t, store.Store, 2*time.Second) // by a process that has died
	done := waiting(t, s, store, t.Context())
	clk.Advance(2 * time.Second)
	if err := <-done; err != nil {
		t.Errorf("the caller that waited for a dead owner: %v", err)
	}
}

func TestWaitIsBounded(t *testing.T) {
	s, store, clk := fresh(t, service.Config{LockWait: 5 * time.Second})
	holdLock(t, store.Store, time.Hour)
	done := waiting(t, s, store, t.Context())
	clk.Advance(5 * time.Second)
	err := <-done
	wantError(t, "the caller that waited for 5 s", err, service.Unavailable,
		"another call has held the lock on USER_EVENT|app_call_connect_success for longer than 5s")
	var se *service.Error
	if errors.As(err, &se) && se.Class() != "lock_wait" {
		t.Errorf("its class: got %q, want lock_wait", se.Class())
	}
}

func TestWaitEndsWithTheContext(t *testing.T) {
	s, store, _ := fresh(t, service.Config{})
	holdLock(t, store.Store, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	done := waiting(t, s, store, ctx)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got error %v, want context.Canceled", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	wantError(t, "deadline", <-waiting(t, s, store, ctx), service.DeadlineExceeded, "")
}

// TestUnlock lets something happen between the write of the record and the release of its lock.
func TestUnlock(t *testing.T) {
	const ttl = 4 * time.Second
	for _, c := range []struct {
		what    string
		happens func(t *testing.T, store service.Store, clk *clock)
		owner   string // of the lock that is left; empty for none, "own" for ours
	}{
		{"nothing", func(*testing.T, service.Store, *clock) {}, ""},
		{"1.9 s pass: within half of 4 s", func(_ *testing.T, _ service.Store, clk *clock) { clk.Advance(1900 * time.Millisecond) }, ""},
		{"2.1 s pass: left to its expiry", func(_ *testing.T, _ service.Store, clk *clock) { clk.Advance(2100 * time.Millisecond) }, "own"},
		{"it expires and another takes it", func(t *testing.T, store service.Store, clk *clock) {
			clk.Advance(ttl)
			holdLock(t, store, time.Minute)
		}, "another"},
		{"another has it before its time", func(t *testing.T, store service.Store, _ *clock) {
			if err := store.Delete(t.Context(), lockKey, 0); err != nil {
				t.Fatal(err)
			}
			holdLock(t, store, time.Minute)
		}, "another"},
		{"it is gone", func(t *testing.T, store service.Store, _ *clock) {
			if err := store.Delete(t.Context(), lockKey, 0); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, store, clk := fresh(t, service.Config{LockTTL: ttl, Owner: "own"})
			wrote := false
			store.get = func(k service.Key) error {
				if k == recordKey && wrote { // the read back, the last step under the lock
					wrote = false
					c.happens(t, store.Store, clk)
				}
				return nil
			}
			store.create = func(k service.Key) error {
				wrote = wrote || k == recordKey
				return nil
			}
			if d, err := s.DataType(t.Context(), known); err != nil || d != answer {
				t.Errorf("got %+v, %v", d, err)
			}
			rec, err := store.Store.Get(t.Context(), lockKey)
			owner, _ := rec.Bins["owner"].(string)
			if c.owner == "" && !errors.Is(err, service.ErrNotFound) || !strings.HasPrefix(owner, c.owner) {
				t.Errorf("the lock that is left: got %+v, %v, want owner %q", rec, err, c.owner)
			}
		})
	}
}

// A caller that gave up must not leave its lock to the others until it expires.
func TestUnlockOutlivesTheCaller(t *testing.T) {
	s, store, _ := fresh(t, service.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	store.create = func(k service.Key) error {
		if k == recordKey {
			cancel()
		}
		return nil
	}
	if _, err := s.DataType(ctx, known); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	if _, err := store.Store.Get(t.Context(), lockKey); !errors.Is(err, service.ErrNotFound) {
		t.Errorf("the lock: got error %v, want it gone", err)
	}
}

func TestStoreFaultsReachTheCaller(t *testing.T) {
	down := &service.Error{Code: service.Unavailable, Msg: "store: connection refused", Cause: "store_down"}
	fail := func(set string) func(service.Key) error {
		return func(k service.Key) error {
			if k.Set == set {
				return down
			}
			return nil
		}
	}
	for what, plant := range map[string]func(*spy){
		"get":              func(s *spy) { s.get = fail(service.DataTypeSet) },
		"create of lock":   func(s *spy) { s.create = fail(service.DataTypeLock) },
		"create of record": func(s *spy) { s.create = fail(service.DataTypeSet) },
	} {
		s, store, _ := fresh(t, service.Config{})
		plant(store)
		_, err := s.DataType(t.Context(), known)
		var se *service.Error
		if !errors.As(err, &se) || se != down {
			t.Errorf("%s: got error %v, want the store's own", what, err)
		}
	}
	// The record is there; that its lock could not be removed is not the caller's trouble.
	s, store, _ := fresh(t, service.Config{})
	store.del = fail(service.DataTypeLock)
	if d, err := s.DataType(t.Context(), known); err != nil || d != answer {
		t.Errorf("unlock fails: got %+v, %v, want the answer", d, err)
	}
	// An error that is not of the contract is not shown as anything else than internal.
	s, store, _ = fresh(t, service.Config{})
	store.get = func(service.Key) error { return errors.New("surprise") }
	_, err := s.DataType(t.Context(), known)
	wantError(t, "unknown error", err, service.Internal, "surprise")
}

// TestHotPathAllocates: what a benchmark of protocols must not hide behind is the service's own garbage.
func TestHotPathAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops items at random under the race detector")
	}
	for _, auth := range []bool{false, true} {
		s, r := hot(t, auth)
		ctx := t.Context()
		got := testing.AllocsPerRun(1000, func() {
			if _, err := s.DataType(ctx, r); err != nil {
				t.Fatal(err)
			}
		})
		if got > 0 {
			t.Errorf("auth %v: %v allocations a call, want none", auth, got)
		}
	}
}

// hot is a service that has the known pair in its store, and a request for it.
func hot(t testing.TB, auth bool) (*service.Service, service.DataTypeRequest) {
	s := newService(t, memory.New(nil), service.Config{Auth: auth})
	session, err := s.Login(t.Context(), service.LoginRequest{ClientID: service.DemoClientID, Secret: service.DemoSecret})
	if err != nil {
		t.Fatal(err)
	}
	r := known
	r.Auth = service.Auth{ClientID: service.DemoClientID, Token: session.Token}
	if _, err := s.DataType(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return s, r
}

func BenchmarkDataType(b *testing.B) {
	for _, auth := range []bool{false, true} {
		b.Run(fmt.Sprintf("auth=%v", auth), func(b *testing.B) {
			s, r := hot(b, auth)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.DataType(ctx, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
