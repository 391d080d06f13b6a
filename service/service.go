package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// The client that may log in where Config names none. It is public: fit for a bake-off, not for anything else.
const (
	DemoClientID = "bakeoff"
	DemoSecret   = "bakeoff-demo-secret"
)

// The defaults of Config. A caller waits longer for a lock than a dead owner can hold it, so that a crash
// delays those who want the record and fails none of them.
const (
	DefaultTokenTTL  = 15 * time.Minute
	DefaultLockTTL   = 2 * time.Second
	DefaultLockWait  = 5 * time.Second
	DefaultNotesKept = 10
)

// Config is how a Service is set up. The zero value serves without auth and with the defaults.
type Config struct {
	// Auth demands a session token with each DataType request.
	Auth bool
	// Clients are the ids that may log in, with their secrets. Empty: the demo pair.
	Clients map[string]string
	// Key signs the tokens. Servers that are to accept each other's tokens share one. Empty: a random one,
	// so that tokens end with the process.
	Key []byte
	// TokenTTL is how long a token is accepted, in whole milliseconds. 0: DefaultTokenTTL.
	TokenTTL time.Duration
	// LockTTL is how long a filler of a missing record may hold its lock, in whole seconds. 0: DefaultLockTTL.
	LockTTL time.Duration
	// LockWait bounds how long a call waits for another's lock. 0: DefaultLockWait.
	LockWait time.Duration
	// NotesKept is how many notes are kept at a place, at most 10: with the size limit on a message that
	// keeps a place within the 1 MiB that a record of Aerospike may have. 0: DefaultNotesKept.
	NotesKept int
	// Owner marks this process's locks. Empty: host, process id and the time of the start.
	Owner string
	// Clock tells the time; nil is time.Now.
	Clock func() time.Time
}

// Service is the rules. Its methods may be called concurrently. It keeps nothing of its own but what is fixed
// at the start: all state is in the Store, so that several servers over one store are one service.
type Service struct {
	store     Store
	auth      bool
	secrets   secrets
	tokens    *tokens
	now       func() time.Time
	lockTTL   time.Duration
	lockWait  time.Duration
	notesKept int
	owner     string
	locks     atomic.Uint64 // numbers the locks of this process, so that no two have the same owner
	places    []Point
}

var _ API = (*Service)(nil)

// New makes the service over a store, and puts the named places into it that are not there yet. The store stays
// the caller's to close.
func New(ctx context.Context, store Store, c Config) (*Service, error) {
	if c.TokenTTL < 0 || c.LockTTL < 0 || c.LockWait < 0 {
		return nil, fmt.Errorf("service: a negative duration (token %v, lock %v, wait %v); 0 means the default", c.TokenTTL, c.LockTTL, c.LockWait)
	}
	if c.NotesKept < 0 || c.NotesKept > DefaultNotesKept {
		return nil, fmt.Errorf("service: %d notes kept at a place; use 1 to %d, or 0 for the default", c.NotesKept, DefaultNotesKept)
	}
	if len(c.Clients) == 0 {
		c.Clients = map[string]string{DemoClientID: DemoSecret}
	}
	if len(c.Key) == 0 {
		c.Key = make([]byte, 32)
		rand.Read(c.Key) // never fails, by its contract
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Owner == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		c.Owner = fmt.Sprintf("%s-%d-%d", host, os.Getpid(), time.Now().UnixNano())
	}
	secrets, err := newSecrets(c.Clients)
	if err != nil {
		return nil, err
	}
	s := &Service{
		store: store, auth: c.Auth, secrets: secrets, now: c.Clock, owner: c.Owner,
		tokens:    newTokens(c.Key, cmp.Or(c.TokenTTL, DefaultTokenTTL)),
		lockTTL:   cmp.Or(c.LockTTL, DefaultLockTTL),
		lockWait:  cmp.Or(c.LockWait, DefaultLockWait),
		notesKept: cmp.Or(c.NotesKept, DefaultNotesKept),
	}
	if err := s.seedPlaces(ctx); err != nil {
		return nil, fmt.Errorf("service: put the places into the store: %w", err)
	}
	return s, nil
}

// answerable makes an error of the store or the context into one that the API may answer with: an *Error, or
// that of a cancelled context.
func answerable(err error) error {
	if isCancelled(err) {
		return err
	}
	return AsError(err)
}
