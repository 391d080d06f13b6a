// Package memory is the store that a server keeps in its own process: the baseline that shows what a protocol
// costs when the database costs nothing. It knows nothing of servers or of measuring.
package memory

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"bakeoff/service"
)

// shards is how many locks the records are spread over: well above the cores of one machine, so that writers
// of different records seldom meet.
const shards = 64

// minSweep is the least number of writes to a shard between two looks for expired records. A shard waits for as
// many writes as it had records at the last look, so that a write pays a constant part of a look on average, and
// what has expired never outgrows what lives by more than about two to one.
const minSweep = 64

// Store holds records in maps. A record that it has handed out is never changed: a write replaces it. Expired
// records are never returned; their memory is reclaimed by later writes, without a goroutine. All methods may
// be called concurrently, and none waits, so that a context matters only if it has ended already.
type Store struct {
	now  func() time.Time
	seed maphash.Seed
	of   [shards]shard
}

var _ service.Store = (*Store)(nil)

type shard struct {
	mu       sync.RWMutex
	records  map[service.Key]entry
	volatile int // how many records carry an expiry
	wait     int // writes until the next sweep
	_        [64]byte
}

type entry struct {
	record  service.Record
	expires int64 // Unix nanoseconds, 0 for never
}

func (e entry) expired(now int64) bool { return e.expires != 0 && now >= e.expires }

// New makes an empty store that expires records by the clock; nil is time.Now.
func New(clock func() time.Time) *Store {
	if clock == nil {
		clock = time.Now
	}
	s := &Store{now: clock, seed: maphash.MakeSeed()}
	for i := range s.of {
		s.of[i].records, s.of[i].wait = make(map[service.Key]entry), minSweep
	}
	return s
}

// Describe names the store in results.
func (s *Store) Describe() string { return "memory" }

// Close does nothing: there is nothing to give back.
func (s *Store) Close() error { return nil }

func (s *Store) shard(k service.Key) *shard {
	return &s.of[maphash.String(s.seed, k.ID)%shards]
}

// Get implements service.Store.
func (s *Store) Get(ctx context.Context, k service.Key) (service.Record, error) {
	if err := ctx.Err(); err != nil {
		return service.Record{}, err
	}
	r := s.read(k)
	if r.Bins == nil {
		return service.Record{}, service.ErrNotFound
	}
	return r, nil
}

// read gives a record without bins where there is none. The clock is asked only for records that can expire.
func (s *Store) read(k service.Key) service.Record {
	sh := s.shard(k)
	sh.mu.RLock()
	e, ok := sh.records[k]
	sh.mu.RUnlock()
	if !ok || e.expires != 0 && e.expired(s.now().UnixNano()) {
		return service.Record{}
	}
	return e.record
}

// GetMany implements service.Store. Each record is read at a moment of its own, as in a database's batch.
func (s *Store) GetMany(ctx context.Context, keys []service.Key) ([]service.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	records := make([]service.Record, len(keys))
	for i, k := range keys {
		records[i] = s.read(k)
	}
	return records, nil
}

// Put implements service.Store.
func (s *Store) Put(ctx context.Context, k service.Key, bins service.Bins, ttl time.Duration) error {
	own, err := check(ctx, bins)
	if err != nil {
		return err
	}
	return s.write(k, ttl, func(service.Record) (service.Bins, error) { return own, nil })
}

// Create implements service.Store.
func (s *Store) Create(ctx context.Context, k service.Key, bins service.Bins, ttl time.Duration) error {
	own, err := check(ctx, bins)
	if err != nil {
		return err
	}
	return s.write(k, ttl, func(old service.Record) (service.Bins, error) {
		if old.Bins != nil {
			return nil, service.ErrExists
		}
		return own, nil
	})
}

// Append implements service.Store.
func (s *Store) Append(ctx context.Context, k service.Key, bin, value string, keep int, ttl time.Duration) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if keep < 1 {
		return nil, service.Errorf(service.Internal, "store: append keeps %d values, it must keep at least 1", keep)
	}
	var kept []string
	err := s.write(k, ttl, func(old service.Record) (service.Bins, error) {
		list, ok := old.Bins[bin].([]string)
		if !ok && old.Bins[bin] != nil {
			return nil, service.Errorf(service.Internal, "store: append to bin %s of %s|%s, which holds %T", bin, k.Set, k.ID, old.Bins[bin])
		}
		list = list[max(0, len(list)+1-keep):]
		kept = append(append(make([]string, 0, len(list)+1), list...), value)
		bins := make(service.Bins, len(old.Bins)+1)
		maps.Copy(bins, old.Bins)
		bins[bin] = kept
		return bins, nil
	})
	if err != nil {
		return nil, err
	}
	return kept, nil
}

// Delete implements service.Store.
func (s *Store) Delete(ctx context.Context, k service.Key, generation uint32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := s.now().UnixNano()
	sh := s.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	e, ok := sh.records[k]
	switch {
	case !ok || e.expired(now):
		return service.ErrNotFound
	case generation != 0 && generation != e.record.Generation:
		return service.ErrGeneration
	}
	sh.remove(k, e)
	return nil
}

// write replaces the record of k by what change makes of the live one, under the shard's lock.
func (s *Store) write(k service.Key, ttl time.Duration, change func(old service.Record) (service.Bins, error)) error {
	now := s.now()
	sh := s.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.sweep(now.UnixNano())
	e, ok := sh.records[k]
	if ok && e.expired(now.UnixNano()) {
		sh.remove(k, e)
		e = entry{}
	}
	bins, err := change(e.record)
	if err != nil {
		return err
	}
	if e.expires != 0 {
		sh.volatile--
	}
	e = entry{record: service.Record{Bins: bins, Generation: e.record.Generation + 1}}
	if ttl > 0 {
		e.expires = now.Add(wholeSeconds(ttl)).UnixNano()
		sh.volatile++
	}
	sh.records[k] = e
	return nil
}

// sweep deletes what has expired, if it is time to look. The caller holds the lock.
func (sh *shard) sweep(now int64) {
	if sh.volatile == 0 {
		return
	}
	if sh.wait--; sh.wait > 0 {
		return
	}
	for k, e := range sh.records {
		if e.expired(now) {
			sh.remove(k, e)
		}
	}
	sh.wait = max(minSweep, len(sh.records))
}

func (sh *shard) remove(k service.Key, e entry) {
	if e.expires != 0 {
		sh.volatile--
	}
	delete(sh.records, k)
}

// wholeSeconds rounds up, as the contract of service.Store asks.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// check refuses what no store could keep, and copies the bins, since their maker may go on using them.
func check(ctx context.Context, bins service.Bins) (service.Bins, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(bins) == 0 {
		return nil, service.Errorf(service.Internal, "store: a record needs at least one bin")
	}
	own := make(service.Bins, len(bins))
	for name, v := range bins {
		switch v := v.(type) {
		case int64, string:
			own[name] = v
		case []string:
			own[name] = slices.Clone(v)
		default:
			return nil, service.Errorf(service.Internal, "store: bin %s holds %T; use int64, string or []string", name, v)
		}
	}
	return own, nil
}
