package miniaero

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a server can be told. The zero value is a server as a real one is by default, with one
// namespace "test" and no bound on its memory.
type Options struct {
	// Namespaces are the names of the namespaces; none: "test".
	Namespaces []string
	// NodeName is the name of this only node of the cluster, "A1" if empty. A client that finds another name
	// behind an address that it knows takes the node for a new one.
	NodeName string
	// Build is the version that clients are told, "8.1.2.0" if empty: the one that this server is like.
	Build string
	// ClusterName is asked for by clients that were given one; empty: "null", as a real server says.
	ClusterName string
	// Advertise are the addresses (host:port) that clients are told to use. Empty: whichever address the asking
	// client has reached this server by, which it can reach again, also across containers.
	Advertise []string

	// DefaultTTL is for writes that leave it to the namespace; 0 keeps records for ever. Parts of a second
	// count as a second.
	DefaultTTL time.Duration
	// SweepEvery is how often expired records, which nobody can see any more, give their memory back; 0: every
	// two minutes; negative: never. A full namespace sweeps at once.
	SweepEvery time.Duration

	// MaxMemory bounds the bytes that a namespace takes, about; over it writes that grow it fail with
	// OutOfSpace. 0: no bound.
	MaxMemory int64
	// MaxRecords bounds the records of a namespace in the same way. 0: no bound.
	MaxRecords int64
	// MaxRecordSize bounds the bins of one record in bytes, as they are on the wire; over it a write fails with
	// RecordTooBig. 0: 1 MiB.
	MaxRecordSize int
	// MaxMessage bounds one message in bytes; over it the connection is closed. 0: 16 MiB. A real server's
	// bound is 128 MiB. Memory is taken as the bytes arrive, not as a length promises them.
	MaxMessage int
	// MaxConns bounds the connections; further ones are closed at once. 0: 15,000.
	MaxConns int
	// IdleTimeout closes a connection that has asked nothing for so long; 0: never, as a real server since 6.
	IdleTimeout time.Duration
	// MessageTimeout is how long a client may take to send the rest of a message that it has begun, or to take
	// in an answer; then its connection is closed. 0: 30 s.
	MessageTimeout time.Duration

	// Fault, when set, is asked before each operation whether to fail it; see SetFault.
	Fault func(Call) Fault
}

func (o Options) defaulted() Options {
	if len(o.Namespaces) == 0 {
		o.Namespaces = []string{"test"}
	}
	if o.NodeName == "" {
		o.NodeName = "A1"
	}
	if o.Build == "" {
		o.Build = "8.1.2.0"
	}
	if o.ClusterName == "" {
		o.ClusterName = "null"
	}
	if o.SweepEvery == 0 {
		o.SweepEvery = 2 * time.Minute
	}
	if o.MaxRecordSize <= 0 {
		o.MaxRecordSize = 1 << 20
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = 16 << 20
	}
	if o.MaxConns <= 0 {
		o.MaxConns = 15000
	}
	if o.MessageTimeout <= 0 {
		o.MessageTimeout = 30 * time.Second
	}
	return o
}

// Server is a running server. Its methods may be called from several goroutines.
type Server struct {
	options    Options
	listener   net.Listener
	namespaces map[string]*namespace
	names      []string
	clock      clock
	fault      atomic.Pointer[func(Call) Fault]
	counts     [kinds]atomic.Int64
	indexes    indexes

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
	done   chan struct{} // closed by Close
	wait   sync.WaitGroup
}

// Listen starts a server at addr, a host:port whose port may be 0, and returns when clients can connect. It
// serves until Close.
func Listen(addr string, o Options) (*Server, error) {
	o = o.defaulted()
	limits := &limits{memory: o.MaxMemory, records: o.MaxRecords, recordSize: o.MaxRecordSize, ttl: o.DefaultTTL}
	s := &Server{options: o, namespaces: map[string]*namespace{}, conns: map[net.Conn]struct{}{}, done: make(chan struct{})}
	for _, name := range o.Namespaces {
		if name == "" || len(name) > 31 {
			return nil, fmt.Errorf("miniaero: namespace %q: a name has 1 to 31 bytes", name)
		}
		if s.namespaces[name] != nil {
			return nil, fmt.Errorf("miniaero: namespace %q is given twice", name)
		}
		s.namespaces[name] = newNamespace(name, limits)
		s.names = append(s.names, name)
	}
	for _, a := range o.Advertise {
		if _, _, err := net.SplitHostPort(a); err != nil {
			return nil, fmt.Errorf("miniaero: advertised address %q: want host:port: %w", a, err)
		}
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("miniaero: %w", err)
	}
	s.listener = l
	s.SetFault(o.Fault)
	s.wait.Go(s.accept)
	if o.SweepEvery > 0 {
		s.wait.Go(s.sweep)
	}
	return s, nil
}

// Addr is the address that the server listens at, "127.0.0.1:41234".
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops listening, ends all connections in the middle of whatever they do, as a killed server would, and
// returns when nothing of the server runs any more. The data stays readable through the Go API. It may be called
// more than once.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.wait.Wait()
		return nil
	}
	s.closed = true
	close(s.done)
	err := s.listener.Close()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.wait.Wait()
	return err
}

// CloseConnections resets every connection that is open now, and goes on serving.
func (s *Server) CloseConnections() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		reset(c)
	}
}

// Connections is the number of connections that are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// reset closes a connection so that its peer gets a reset, not an end of file.
func reset(c net.Conn) {
	if t, ok := c.(interface{ SetLinger(seconds int) error }); ok {
		_ = t.SetLinger(0) // when it fails the connection is gone already
	}
	c.Close()
}

func (s *Server) accept() {
	pause := time.Millisecond
	for {
		c, err := s.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of descriptors, most likely: others will close some.
			select {
			case <-s.done:
				return
			case <-time.After(pause):
			}
			pause = min(2*pause, time.Second)
			continue
		}
		pause = time.Millisecond
		s.start(c)
	}
}

func (s *Server) start(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= s.options.MaxConns {
		c.Close()
		return
	}
	s.conns[c] = struct{}{}
	s.wait.Go(func() {
		(&session{server: s, conn: quick(c)}).serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	})
}

func (s *Server) sweep() {
	tick := time.NewTicker(s.options.SweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
			for _, ns := range s.namespaces {
				s.reap(ns)
			}
		}
	}
}

// reap removes what has expired and says whether there was any.
func (s *Server) reap(ns *namespace) bool {
	now := s.clock.seconds()
	return ns.removeIf(func(r *record) bool { return r.expired(now) }) > 0
}
