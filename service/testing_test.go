package service_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"bakeoff/service"
	"bakeoff/store/memory"
)

// clock is a clock that only the test moves. It may be read concurrently.
type clock struct{ ns atomic.Int64 }

var start = time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)

func newClock() *clock {
	c := new(clock)
	c.ns.Store(start.UnixNano())
	return c
}

func (c *clock) Now() time.Time          { return time.Unix(0, c.ns.Load()) }
func (c *clock) Advance(d time.Duration) { c.ns.Add(int64(d)) }

// spy is a store that calls before each operation what the test put there; an error from it is the answer.
type spy struct {
	service.Store
	get    func(k service.Key) error
	many   func(keys []service.Key) error
	create func(k service.Key) error
	del    func(k service.Key) error
	append func(k service.Key) error
}

func (s *spy) Get(ctx context.Context, k service.Key) (service.Record, error) {
	if s.get != nil {
		if err := s.get(k); err != nil {
			return service.Record{}, err
		}
	}
	return s.Store.Get(ctx, k)
}

func (s *spy) GetMany(ctx context.Context, keys []service.Key) ([]service.Record, error) {
	if s.many != nil {
		if err := s.many(keys); err != nil {
			return nil, err
		}
	}
	return s.Store.GetMany(ctx, keys)
}

func (s *spy) Create(ctx context.Context, k service.Key, bins service.Bins, ttl time.Duration) error {
	if s.create != nil {
		if err := s.create(k); err != nil {
			return err
		}
	}
	return s.Store.Create(ctx, k, bins, ttl)
}

func (s *spy) Delete(ctx context.Context, k service.Key, generation uint32) error {
	if s.del != nil {
		if err := s.del(k); err != nil {
			return err
		}
	}
	return s.Store.Delete(ctx, k, generation)
}

func (s *spy) Append(ctx context.Context, k service.Key, bin, value string, keep int, ttl time.Duration) ([]string, error) {
	if s.append != nil {
		if err := s.append(k); err != nil {
			return nil, err
		}
	}
	return s.Store.Append(ctx, k, bin, value, keep, ttl)
}

func newService(t testing.TB, store service.Store, c service.Config) *service.Service {
	t.Helper()
	s, err := service.New(t.Context(), store, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fresh is a service over a store of its own, both by one clock.
func fresh(t testing.TB, c service.Config) (*service.Service, *spy, *clock) {
	t.Helper()
	clk := newClock()
	store := &spy{Store: memory.New(clk.Now)}
	c.Clock = clk.Now
	return newService(t, store, c), store, clk
}

func wantError(t *testing.T, what string, err error, code service.Code, msg string) {
	t.Helper()
	var se *service.Error
	if !errors.As(err, &se) || se.Code != code || msg != "" && se.Msg != msg {
		t.Errorf("%s: got error %v, want %s: %s", what, err, code, msg)
	}
}

var known = service.DataTypeRequest{Group: service.KnownGroup, Name: service.KnownName}
