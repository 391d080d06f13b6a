package workload

import (
	"context"
	"maps"
	"testing"
	"time"

	"bakeoff/service"
	"bakeoff/store/memory"
)

// counting counts what the rules ask of a store, by the kinds that a store counts.
type counting struct {
	service.Store
	n map[string]float64
}

func (c counting) Get(ctx context.Context, k service.Key) (service.Record, error) {
	c.n["read"]++
	return c.Store.Get(ctx, k)
}

func (c counting) GetMany(ctx context.Context, keys []service.Key) ([]service.Record, error) {
	kind := "batch"
	if len(keys) == 1 {
		kind = "read"
	}
	c.n[kind]++
	return c.Store.GetMany(ctx, keys)
}

func (c counting) Put(ctx context.Context, k service.Key, b service.Bins, ttl time.Duration) error {
	c.n["write"]++
	return c.Store.Put(ctx, k, b, ttl)
}

func (c counting) Create(ctx context.Context, k service.Key, b service.Bins, ttl time.Duration) error {
	c.n["write"]++
	return c.Store.Create(ctx, k, b, ttl)
}

func (c counting) Append(ctx context.Context, k service.Key, bin, value string, keep int, ttl time.Duration) ([]string, error) {
	c.n["write"]++
	return c.Store.Append(ctx, k, bin, value, keep, ttl)
}

func (c counting) Delete(ctx context.Context, k service.Key, generation uint32) error {
	c.n["delete"]++
	return c.Store.Delete(ctx, k, generation)
}

// TestWorkloadsAskTheStoreForWhatTheySay holds Asks to the rules: after a first iteration, which may fill what is missing,
// each further one asks for exactly that.
func TestWorkloadsAskTheStoreForWhatTheySay(t *testing.T) {
	for _, w := range All {
		if w.Asks == nil {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			store := counting{memory.New(nil), map[string]float64{}}
			api, err := service.New(t.Context(), store, service.Config{})
			if err != nil {
				t.Fatal(err)
			}
			calls, err := w.Start(t.Context(), api, Settings{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			iterate := func(n uint64) {
				for _, call := range calls {
					if err := call(t.Context(), n); err != nil {
						t.Fatal(err)
					}
				}
			}
			iterate(0)
			clear(store.n)
			const times = 7
			for n := range uint64(times) {
				iterate(n + 1)
			}
			want := maps.Clone(w.Asks)
			for kind := range want {
				want[kind] *= times
			}
			if !maps.Equal(store.n, want) {
				t.Errorf("%d iterations asked for %v, want %v", times, store.n, want)
			}
		})
	}
}
