package main

import (
	"context"
	"fmt"
	"strings"

	"bakeoff/service"
	"bakeoff/store/aerospike"
	"bakeoff/store/memory"
)

const storeUsage = "`address` of the store: memory, or aerospike://host:port/namespace"

// openStore opens the store at an address for so many calls at a time. It is the one place that knows which
// stores there are.
func openStore(ctx context.Context, addr string, concurrency int) (service.Store, error) {
	if err := checkStore(addr); err != nil {
		return nil, err
	}
	if addr == "memory" {
		return memory.New(nil), nil
	}
	return aerospike.Open(ctx, addr, aerospike.Options{Concurrency: concurrency})
}

// checkStore says whether an address could be opened, without opening it.
func checkStore(addr string) error {
	if addr == "memory" || strings.HasPrefix(addr, "aerospike://") {
		return nil
	}
	return fmt.Errorf("--store %q: must be memory, or aerospike://host:port/namespace", addr)
}

// reachable opens a store that is not in the servers' own memory and closes it again, so that a run finds out at
// once, and in one place, that it can't be had.
func reachable(ctx context.Context, addr string) error {
	if addr == "memory" {
		return nil
	}
	store, err := openStore(ctx, addr, 1)
	if err != nil {
		return err
	}
	return store.Close()
}
