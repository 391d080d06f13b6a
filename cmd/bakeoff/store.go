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

// openStore opens the store at an address, which checkServeStore has found right, for so many calls at a time.
func openStore(ctx context.Context, addr string, concurrency int) (service.Store, error) {
	if addr == storeMemory {
		return memory.New(nil), nil
	}
	return aerospike.Open(ctx, addr, aerospike.Options{Concurrency: concurrency})
}

// checkStore says whether a run could use the store at an address, without opening it.
func checkStore(addr string) error {
	if addr == storeEmbedded {
		return nil
	}
	return checkAddress(addr, "embedded, memory, or aerospike://host:port/namespace")
}

// checkServeStore says the same of a server, which has no store of its own to start.
func checkServeStore(addr string) error {
	if addr == storeEmbedded {
		return fmt.Errorf("--store %s is for run; here start one with 'bakeoff serve store' and name it: --store aerospike://127.0.0.1:3000/%s", addr, storeNamespace)
	}
	return checkAddress(addr, "memory, or aerospike://host:port/namespace")
}

func checkAddress(addr, want string) error {
	switch {
	case addr == storeMemory:
		return nil
	case !strings.HasPrefix(addr, aerospike.Scheme+"://"):
		return fmt.Errorf("--store %q: must be %s", addr, want)
	}
	if err := aerospike.CheckAddress(addr); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	return nil
}

// reachable opens a store that runs already and closes it again, so that a run finds out at once, and in one place,
// that it can't be had.
func reachable(ctx context.Context, addr string) error {
	if addr == storeMemory || addr == storeEmbedded || addr == storeOfTargets {
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
	switch addr {
	case storeMemory:
		return "in the servers' own memory"
	case storeOfTargets:
		return "that of the targets"
	}
	return aerospike.Options{Concurrency: concurrency}.String()
}
