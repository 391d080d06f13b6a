package aerospike

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// connection is a client with its pool, and what the server said about itself.
//
// The client may not be closed while a call is made with it: its Close takes the table of nodes away, which a call that
// has just begun then reads, and panics. So calls are counted.
type connection struct {
	client  *as.Client
	version string
	users   atomic.Int64  // calls, and one for the store while this is its connection
	unused  chan struct{} // closed when users has become 0, which it then stays
}

func newConnection(client *as.Client, version string) *connection {
	c := &connection{client: client, version: version, unused: make(chan struct{})}
	c.users.Store(1)
	return c
}

// take begins a call; false: the connection is to be closed.
func (c *connection) take() bool {
	for {
		n := c.users.Load()
		if n == 0 {
			return false
		}
		if c.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave ends a call.
func (c *connection) leave() {
	if c.users.Add(-1) == 0 {
		close(c.unused)
	}
}

// close waits for the calls that are under way, which is at most their timeout. The store calls it once, when it has
// another connection or is closed.
func (c *connection) close() {
	c.leave()
	<-c.unused
	c.client.Close()
}

// take is the connection for a call, which must leave it; nil when the store is closed.
func (s *Store) take() *connection {
	for {
		c := s.conn.Load()
		if c.take() {
			return c
		}
		if s.closed.Load() {
			return nil
		}
		// Another one was put in its place since.
	}
}

// connect makes a client and fills its pool, within the connect timeout. What the client says when it can't connect
// does not name the reason, so that a plain dial is made first; listens is called when that has succeeded.
func (s *Store) connect(ctx context.Context, listens func()) (*connection, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, s.options.ConnectTimeout)
	defer cancel()
	probe, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.addr.hostPort())
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", s.addr, err)
	}
	probe.Close()
	listens()

	began := time.Now()
	filled := &filling{of: s.options.pool()}
	made := make(chan result, 1)
	go func() {
		c, err := s.makeClient(ctx, filled)
		made <- result{c, err}
	}()
	select {
	case r := <-made:
		return r.connection, r.err
	case <-ctx.Done():
		s.discard(made)
		if err := caller.Err(); err != nil {
			return nil, fmt.Errorf("store %s: given up before an Aerospike had answered: %w", s.addr, err)
		}
		if filled.begun.Load() {
			return nil, fmt.Errorf("store %s: %s: %w", s.addr, filled.in(time.Since(began)), ctx.Err())
		}
		return nil, fmt.Errorf("store %s: no Aerospike answered within %v: %w", s.addr, s.options.ConnectTimeout, ctx.Err())
	}
}

type result struct {
	connection *connection
	err        error
}

// discard closes a client that comes too late; Close waits for that.
func (s *Store) discard(made <-chan result) {
	s.wait.Go(func() {
		if r := <-made; r.connection != nil {
			r.connection.client.Close()
		}
	})
}

func (a address) String() string { return fmt.Sprintf("%s://%s/%s", Scheme, a.hostPort(), a.namespace) }

// filling is how far a pool is filled. It may be read while it goes on.
type filling struct {
	of     int
	begun  atomic.Bool
	opened atomic.Int64
}

// in says what was reached, and the two ways on.
func (f *filling) in(d time.Duration) string {
	return fmt.Sprintf("opened %d of %d connections in %v (the machine is too busy, or the server takes no more: its limit is proto-fd-max)",
		f.opened.Load(), f.of, d.Round(time.Millisecond))
}

// atOnce is how many connections are dialled at a time: below the backlog of any server, which drops what comes beyond
// it, so that the kernel tries again only a second later.
const atOnce = 100

// fill opens the connections that the pool lacks. The one that tends the cluster is open.
func (f *filling) fill(ctx context.Context, client *as.Client) error {
	f.opened.Store(1)
	f.begun.Store(true)
	for ctx.Err() == nil {
		n, err := client.WarmUp(atOnce)
		f.opened.Add(int64(n))
		if err != nil {
			return errors.New(root(err))
		}
		if n == 0 {
			return nil
		}
	}
	return ctx.Err()
}

func (s *Store) makeClient(ctx context.Context, filled *filling) (*connection, error) {
	began := time.Now()
	client, err := as.NewClientWithPolicyAndHost(s.options.client(), as.NewHost(s.addr.host, s.addr.port))
	if err != nil {
		return nil, fmt.Errorf("store %s: what listens there does not answer as an Aerospike server: %s", s.addr, root(err))
	}
	version, failed := s.inspect(client)
	if failed == nil {
		if err := filled.fill(ctx, client); err != nil {
			failed = fmt.Errorf("store %s: %s: %w", s.addr, filled.in(time.Since(began)), err)
		}
	}
	if failed != nil {
		client.Close()
		return nil, failed
	}
	return newConnection(client, version), nil
}

// inspect asks the server who it is, and whether it has the namespace.
func (s *Store) inspect(client *as.Client) (version string, err error) {
	nodes := client.GetNodes()
	if len(nodes) == 0 {
		return "", fmt.Errorf("store %s: the cluster has no nodes", s.addr)
	}
	policy := &as.InfoPolicy{Timeout: s.options.ConnectTimeout}
	info, aerr := nodes[0].RequestInfo(policy, "build", "edition", "namespaces")
	if aerr != nil {
		return "", fmt.Errorf("store %s: ask for its version: %s", s.addr, root(aerr))
	}
	if err := s.addr.checkNamespace(info["namespaces"]); err != nil {
		return "", err
	}
	if info["edition"] == "miniaero" {
		return "miniaero (as aerospike " + info["build"] + ")", nil
	}
	return "aerospike " + info["build"], nil
}

// ErrNamespace says that an Aerospike answers and does not have the namespace.
var ErrNamespace = errors.New("the server has no namespace")

// checkNamespace looks for the namespace of the address in what the server says of its own.
func (a address) checkNamespace(list string) error {
	names := strings.Split(list, ";")
	if slices.Contains(names, a.namespace) {
		return nil
	}
	return fmt.Errorf("store %s: %w %q, it has %s", a, ErrNamespace, a.namespace, strings.Join(names, ", "))
}

// The pauses between attempts to find the server again.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// seek starts to look for the server, unless that is going on or broken has been replaced already. When the first attempt succeeds, it was only a
// connection that broke, and calls go on all the while. Otherwise they fail at once until one does.
func (s *Store) seek(broken *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seeker || s.closed.Load() || s.conn.Load() != broken {
		return
	}
	s.seeker = true
	asked := make(chan struct{})
	s.asked.Store(&asked)
	s.wait.Go(func() { s.seekUntilFound(sync.OnceFunc(func() { s.asked.Store(nil); close(asked) })) })
}

// doubted waits while it is not known whether the server still listens, at most for d: a call that is made before then may
// find the client's pool empty, and that looks for a connection until the call's timeout, however often a dial is refused.
// It is moments, or as long as the network takes to say it; calls that have their connections are not held up.
func (s *Store) doubted(ctx context.Context, d time.Duration) {
	asked := s.asked.Load()
	if asked == nil {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-*asked:
	case <-ctx.Done():
	case <-timer.C:
	}
}

// seekUntilFound replaces the client by a new one, because the old one's pool is full of dead connections, each of
// which would cost a call.
// answered is called when it is known whether it listens.
func (s *Store) seekUntilFound(answered func()) {
	defer answered()
	pause := firstPause
	for s.life.Err() == nil {
		c, err := s.connect(s.life, answered)
		if err == nil {
			old := s.conn.Swap(c)
			s.mu.Lock()
			s.seeker = false
			s.mu.Unlock()
			s.gone.Store(nil)
			old.close()
			return
		}
		if errors.Is(err, context.Canceled) {
			return
		}
		why := err.Error()
		s.gone.Store(&why)
		answered()
		select {
		case <-s.life.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}
