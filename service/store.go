package service

import (
	"context"
	"errors"
	"time"
)

// Key names a record: the set that it is in and its id within the set.
type Key struct{ Set, ID string }

// Bins are the named values of a record: int64, string or []string. A record that a Store hands out is
// shared and must not be changed.
type Bins map[string]any

// Record is what a Store keeps under a key. Generation counts the writes of the record, from 1.
type Record struct {
	Bins       Bins
	Generation uint32
}

// The answers of a Store that its callers decide on. Everything else that goes wrong in a store comes as an
// *Error: Unavailable when it can't be reached, DeadlineExceeded when it took too long, ResourceExhausted
// when it is full or its pool is.
var (
	ErrNotFound   = errors.New("store: no such record")
	ErrExists     = errors.New("store: the record exists")
	ErrGeneration = errors.New("store: the record was changed by another")
)

// Store is what the rules need of a database. It is called concurrently. A ttl is rounded up to whole
// seconds; 0 keeps the record for ever.
type Store interface {
	// Get returns ErrNotFound when there is none.
	Get(ctx context.Context, k Key) (Record, error)
	// GetMany answers in the order of keys; a missing record has nil Bins.
	GetMany(ctx context.Context, keys []Key) ([]Record, error)
	// Put writes the whole record, whether it exists or not.
	Put(ctx context.Context, k Key, bins Bins, ttl time.Duration) error
	// Create writes the record only if there is none; else ErrExists. Of racing callers one succeeds.
	Create(ctx context.Context, k Key, bins Bins, ttl time.Duration) error
	// Append adds value to the end of a []string bin, drops the oldest so that at most keep remain, and
	// returns what is kept, all in one atomic step.
	Append(ctx context.Context, k Key, bin, value string, keep int, ttl time.Duration) ([]string, error)
	// Delete removes the record if its generation is the one given (0: whichever); ErrNotFound, ErrGeneration.
	Delete(ctx context.Context, k Key, generation uint32) error
	// Describe names the store and its version for the result file: "memory", "aerospike 8.1.2.0 at host:port".
	Describe() string
	Close() error
}
