// Package aerospike is the store in an Aerospike database, through the real client. It knows the client's ways and
// nothing of servers or of measuring.
//
// Nothing is hidden from what is measured: no call is made twice, the connections are opened before the first call,
// and what fails does so under an outcome class of its own. When the server goes away, calls fail at once instead of
// trying until their timeout, and one goroutine looks for it until it is back.
package aerospike

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"bakeoff/service"
)

// Store is a service.Store. All methods may be called concurrently.
//
// A context's deadline shortens the timeout of a call. Its cancelling ends the wait for a turn, but not a call that
// has been sent: the client can't take one back, so that it ends with its answer or its timeout.
type Store struct {
	addr    address
	options Options
	base    as.BasePolicy
	batch   as.BatchPolicy

	turns chan struct{} // one for each connection
	conn  atomic.Pointer[connection]

	mu     sync.Mutex
	seeker bool                          // a goroutine looks for the server
	gone   atomic.Pointer[string]        // why there is no server, nil while there is
	asked  atomic.Pointer[chan struct{}] // closed when the seeker knows whether the server listens; nil while nobody asks
	closed atomic.Bool
	stop   context.CancelFunc
	life   context.Context
	wait   sync.WaitGroup
}

var _ service.Store = (*Store)(nil)

// Open connects to addr, aerospike://host:port/namespace, and opens all connections that o asks for. It fails within
// o.ConnectTimeout, or when ctx ends, with the address in the error. ctx does not matter after that.
func Open(ctx context.Context, addr string, o Options) (*Store, error) {
	a, err := parseAddress(addr)
	if err != nil {
		return nil, err
	}
	o = o.defaulted()
	s := &Store{addr: a, options: o, base: o.base(), batch: *as.NewBatchPolicy(), turns: make(chan struct{}, o.Concurrency)}
	s.batch.BasePolicy = s.base
	c, err := s.connect(ctx, func() {})
	if err != nil {
		return nil, err
	}
	s.conn.Store(c)
	s.life, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Describe names the server and its version: "aerospike 8.1.2.0 at host:port".
func (s *Store) Describe() string { return s.conn.Load().version + " at " + s.addr.hostPort() }

// Policy is the effective policy of the client in words, for the result file.
func (s *Store) Policy() string { return s.options.String() }

// Close ends the store: calls that come later fail, those under way end with their answer or their timeout, and
// nothing of it runs any more when Close returns.
func (s *Store) Close() error {
	s.mu.Lock()
	was := s.closed.Swap(true)
	s.mu.Unlock()
	if was {
		return nil
	}
	s.stop()
	s.wait.Wait()
	s.conn.Load().close()
	return nil
}

// Get implements service.Store.
func (s *Store) Get(ctx context.Context, k service.Key) (service.Record, error) {
	var found *as.Record
	err := s.call(ctx, "get", func(c *as.Client, base *as.BasePolicy) as.Error {
		key, err := as.NewKey(s.addr.namespace, k.Set, k.ID)
		if err == nil {
			found, err = c.Get(base, key)
		}
		return err
	})
	if err != nil {
		return service.Record{}, err
	}
	return fromRecord(found)
}

// maxBatch is how many keys go in one batch: below the 5,000 that servers take by default.
const maxBatch = 4096

// GetMany implements service.Store. Many keys go in one batch; of over 4,096 each batch is a call of its own.
func (s *Store) GetMany(ctx context.Context, keys []service.Key) ([]service.Record, error) {
	records := make([]service.Record, 0, len(keys))
	if len(keys) == 0 {
		return records, ctx.Err()
	}
	for from := 0; from < len(keys); from += maxBatch {
		part := keys[from:min(from+maxBatch, len(keys))]
		found, err := s.getBatch(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			record, err := fromRecord(r)
			if err != nil {
				return nil, err
			}
			records = append(records, record)
		}
	}
	return records, nil
}

func (s *Store) getBatch(ctx context.Context, keys []service.Key) (found []*as.Record, err error) {
	asKeys := make([]*as.Key, len(keys))
	for i, k := range keys {
		key, err := as.NewKey(s.addr.namespace, k.Set, k.ID)
		if err != nil {
			out, _ := s.translate("get many", err)
			return nil, out
		}
		asKeys[i] = key
	}
	err = s.call(ctx, "get many", func(c *as.Client, base *as.BasePolicy) as.Error {
		policy := &s.batch
		if base != &s.base {
			short := s.batch
			short.BasePolicy = *base
			policy = &short
		}
		var err as.Error
		found, err = c.BatchGet(policy, asKeys)
		return err
	})
	return found, err
}

// Put implements service.Store.
func (s *Store) Put(ctx context.Context, k service.Key, bins service.Bins, ttl time.Duration) error {
	return s.write(ctx, "put", k, bins, ttl, as.REPLACE)
}

// Create implements service.Store.
func (s *Store) Create(ctx context.Context, k service.Key, bins service.Bins, ttl time.Duration) error {
	return s.write(ctx, "create", k, bins, ttl, as.CREATE_ONLY)
}

func (s *Store) write(ctx context.Context, what string, k service.Key, bins service.Bins, ttl time.Duration, action as.RecordExistsAction) error {
	converted, err := toBins(bins)
	if err != nil {
		return err
	}
	return s.call(ctx, what, func(c *as.Client, base *as.BasePolicy) as.Error {
		key, err := as.NewKey(s.addr.namespace, k.Set, k.ID)
		if err != nil {
			return err
		}
		p := as.WritePolicy{BasePolicy: *base, RecordExistsAction: action, Expiration: expiration(ttl)}
		return c.PutBins(&p, key, converted...)
	})
}

// Append implements service.Store: append, trim and read are one operation of the database.
func (s *Store) Append(ctx context.Context, k service.Key, bin, value string, keep int, ttl time.Duration) ([]string, error) {
	if keep < 1 {
		return nil, service.Errorf(service.Internal, "store: append keeps %d values, it must keep at least 1", keep)
	}
	var answer *as.Record
	err := s.call(ctx, "append", func(c *as.Client, base *as.BasePolicy) as.Error {
		key, err := as.NewKey(s.addr.namespace, k.Set, k.ID)
		if err != nil {
			return err
		}
		p := as.WritePolicy{BasePolicy: *base, Expiration: expiration(ttl)}
		answer, err = c.Operate(&p, key, as.ListAppendOp(bin, value), as.ListTrimOp(bin, -keep, keep), as.GetBinOp(bin))
		return err
	})
	if err != nil {
		return nil, err
	}
	// Three operations on one bin: the size, how many were trimmed, the list.
	if all, ok := answer.Bins[bin].([]any); ok && len(all) == 3 {
		if list, ok := all[2].([]any); ok {
			return stringList(bin, list)
		}
	}
	return nil, foreign(bin, answer.Bins[bin])
}

// Delete implements service.Store.
func (s *Store) Delete(ctx context.Context, k service.Key, generation uint32) error {
	var existed bool
	err := s.call(ctx, "delete", func(c *as.Client, base *as.BasePolicy) as.Error {
		key, err := as.NewKey(s.addr.namespace, k.Set, k.ID)
		if err != nil {
			return err
		}
		p := as.WritePolicy{BasePolicy: *base}
		if generation != 0 {
			p.GenerationPolicy, p.Generation = as.EXPECT_GEN_EQUAL, generation
		}
		existed, err = c.Delete(&p, key)
		return err
	})
	if err == nil && !existed {
		return service.ErrNotFound
	}
	return err
}

// call makes one call of the client, when it is its turn, under the policy that ctx leaves.
func (s *Store) call(ctx context.Context, what string, do func(*as.Client, *as.BasePolicy) as.Error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed.Load() {
		return s.isClosed(what)
	}
	if why := s.gone.Load(); why != nil {
		return s.failed(service.Unavailable, ClassUnavailable, what, *why)
	}
	left := s.options.Timeout
	select {
	case s.turns <- struct{}{}:
	default:
		waited, err := s.queue(ctx, what)
		if err != nil {
			return err
		}
		left -= waited
	}
	if s.asked.Load() != nil {
		began := time.Now()
		s.doubted(ctx, left)
		if why := s.gone.Load(); why != nil {
			<-s.turns
			return s.failed(service.Unavailable, ClassUnavailable, what, *why)
		}
		left -= time.Since(began)
	}
	base := &s.base
	if deadline, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	if left < s.options.Timeout {
		short := s.base
		short.TotalTimeout = max(left, time.Millisecond)
		short.SocketTimeout = short.TotalTimeout
		base = &short
	}
	conn := s.take()
	if conn == nil {
		<-s.turns
		return s.isClosed(what)
	}
	err := do(conn.client, base)
	conn.leave()
	if err == nil {
		<-s.turns
		return nil
	}
	out, lost := s.translate(what, err)
	if lost {
		s.seek(conn) // before the turn is another's: the pool has one connection less
	}
	<-s.turns
	return out
}

// queue waits for a turn, and says how long that took.
func (s *Store) queue(ctx context.Context, what string) (time.Duration, error) {
	began := time.Now()
	timer := time.NewTimer(s.options.Timeout)
	defer timer.Stop()
	select {
	case s.turns <- struct{}{}:
		return time.Since(began), nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return 0, s.failed(service.DeadlineExceeded, ClassPool, what, "no free connection before the deadline")
		}
		return 0, ctx.Err()
	case <-timer.C:
		return 0, s.failed(service.ResourceExhausted, ClassPool, what, "no free connection in time")
	}
}

func (s *Store) isClosed(operation string) error {
	return s.failed(service.Unavailable, ClassClosed, operation, "the store is closed")
}

func (s *Store) failed(code service.Code, class, operation, what string) *service.Error {
	e := service.Errorf(code, "store: %s: %s", operation, what)
	e.Cause = class
	return e
}
