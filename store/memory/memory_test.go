package memory_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"bakeoff/service"
	"bakeoff/store/memory"
	"bakeoff/store/storetest"
)

// clock is a clock that only the test moves. It may be read concurrently.
type clock struct{ ns atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.ns.Store(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) Now() time.Time          { return time.Unix(0, c.ns.Load()) }
func (c *clock) Advance(d time.Duration) { c.ns.Add(int64(d)) }

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) (service.Store, func(time.Duration)) {
		c := newClock()
		return memory.New(c.Now), c.Advance
	})
}

func TestExpiryIsExact(t *testing.T) {
	c := newClock()
	s := memory.New(c.Now)
	k := service.Key{Set: "s", ID: "a"}
	if err := s.Put(t.Context(), k, service.Bins{"a": "x"}, 1001*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	c.Advance(2*time.Second - 1) // rounded up to 2 s, and 1 ns before
	if _, err := s.Get(t.Context(), k); err != nil {
		t.Errorf("1 ns before its expiry: %v", err)
	}
	c.Advance(1)
	if _, err := s.Get(t.Context(), k); err != service.ErrNotFound {
		t.Errorf("at its expiry: got error %v, want ErrNotFound", err)
	}
}

// A chat at ever new places must not grow the store for ever.
func TestExpiredRecordsAreReclaimed(t *testing.T) {
	c := newClock()
	s := memory.New(c.Now)
	put := func(from, to int, ttl time.Duration) {
		for i := from; i < to; i++ {
			if err := s.Put(t.Context(), service.Key{Set: "s", ID: fmt.Sprint(i)}, service.Bins{"a": "x"}, ttl); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(0, 50_000, time.Second)
	c.Advance(2 * time.Second)
	// Each of the 64 shards holds about 780 expired records, and looks again after at most as many writes (50,000 in all).
	put(100_000, 160_000, 0)
	if n := s.Len(); n != 60_000 {
		t.Errorf("%d records are held after 60000 live ones were written over 50000 expired ones", n)
	}
}

func BenchmarkGet(b *testing.B) {
	s := memory.New(nil)
	k := service.Key{Set: "data_type_def", ID: "USER_EVENT|app_call_connect_success"}
	if err := s.Put(b.Context(), k, service.Bins{"cnname": "語音接通", "code_id": int64(101)}, 0); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Get(b.Context(), k); err != nil {
				b.Fatal(err)
			}
		}
	})
}
