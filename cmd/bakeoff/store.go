package main

import (
	"context"
	"fmt"
	"strings"

	harness "bakeoff/harness/run"
	"bakeoff/service"
	"bakeoff/store/aerospike"
	"bakeoff/store/memory"
)

// The addresses of stores that are not those of a server which runs already.
const (
	storeMemory   = "memory"
	storeEmbedded = "embedded" // a process of ours for each trial: `serve store`
)

// storeNamespace is the namespace of the published experiment, and of the embedded store.
const storeNamespace = "test"

const serveStoreUsage = "`address` of the store: memory, or aerospike://host:port/namespace"

const runStoreUsage = "`address` of the store: embedded (an Aerospike of our own, in a process of its own), memory (the servers' own: no\n" +
	"database at all), or aerospike://host:port/namespace"

// openStore opens the store at an address for so many calls at a time. It is the one place that knows which
// stores there are.
func openStore(ctx context.Context, addr string, concurrency int) (service.Store, error) {
	switch {
	case addr == storeMemory:
		return memory.New(nil), nil
	case strings.HasPrefix(addr, aerospike.Scheme+"://"):
		return aerospike.Open(ctx, addr, aerospike.Options{Concurrency: concurrency})
	case addr == storeEmbedded:
		return nil, fmt.Errorf("--store %s is for run; here start one with 'bakeoff serve store' and name it: --store aerospike://127.0.0.1:3000/%s", addr, storeNamespace)
	}
	return nil, fmt.Errorf("--store %q: must be memory, or aerospike://host:port/namespace", addr)
}

// checkStore says whether a run could use the store at an address, without opening it.
func checkStore(addr string) error {
	if addr == storeMemory || addr == storeEmbedded || strings.HasPrefix(addr, aerospike.Scheme+"://") {
		return nil
	}
	return fmt.Errorf("--store %q: must be embedded, memory, or aerospike://host:port/namespace", addr)
}

// reachable opens a store that runs already and closes it again, so that a run finds out at once, and in one place,
// that it can't be had.
func reachable(ctx context.Context, addr string) error {
	if addr == storeMemory || addr == storeEmbedded {
		return nil
	}
	store, err := openStore(ctx, addr, 1)
	if err != nil {
		return err
	}
	return store.Close()
}

// storeCommand starts the store of a trial; nil where it has no process of ours.
func storeCommand(addr string) *harness.Command {
	if addr != storeEmbedded {
		return nil
	}
	return &harness.Command{Args: []string{"serve", "store", "--control", "--addr", "127.0.0.1:0", "--namespace", storeNamespace}}
}

// storeFor is the address that a server is told: that of the trial's own store, or the run's.
func storeFor(addr, listening string) string {
	if listening == "" {
		return addr
	}
	return aerospike.Scheme + "://" + listening + "/" + storeNamespace
}

// storePolicy is how the servers use the store at an address, in words, for the result file.
func storePolicy(addr string, concurrency int) string {
	if addr == storeMemory {
		return "in the servers' own memory"
	}
	return aerospike.Options{Concurrency: concurrency}.String()
}
