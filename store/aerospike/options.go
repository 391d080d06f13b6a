package aerospike

import (
	"fmt"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// Options say how many calls a store carries and how long it waits.
type Options struct {
	// Concurrency is how many calls may be made at a time, at least what the server in front carries; 0: 100. Each has
	// a connection to itself, all opened by Open. Further calls wait for their turn, at most Timeout.
	Concurrency int
	// Timeout bounds a call from its start, waiting included; 0: 1 s. A context's deadline shortens it.
	Timeout time.Duration
	// ConnectTimeout bounds Open, and each attempt to connect again; 0: 5 s and 2 ms for each connection of the pool, which
	// a busy machine needs to open thousands.
	ConnectTimeout time.Duration
}

func (o Options) defaulted() Options {
	if o.Concurrency <= 0 {
		o.Concurrency = 100
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Second
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 5*time.Second + time.Duration(o.pool())*2*time.Millisecond
	}
	return o
}

// idleTimeout lies below the 60 s after which servers close an idle connection, where they do.
const idleTimeout = 50 * time.Second

// pool is the connections to each node: one for each call, and the one that the client tends the cluster with.
func (o Options) pool() int { return o.Concurrency + 1 }

func (o Options) client() *as.ClientPolicy {
	p := as.NewClientPolicy()
	p.Timeout = o.ConnectTimeout
	p.IdleTimeout = idleTimeout
	p.ConnectionQueueSize = o.pool()
	p.LimitConnectionsToQueueSize = true
	p.MaxErrorRate = 0 // off: it would refuse calls of its own accord
	p.FailIfNotConnected = true
	return p
}

// base is the policy of every call: one attempt, under one absolute timeout. The pause is not between attempts but
// between looks at an empty pool while it opens a connection.
func (o Options) base() as.BasePolicy {
	p := *as.NewPolicy()
	p.TotalTimeout, p.SocketTimeout = o.Timeout, o.Timeout
	p.MaxRetries = 0
	p.SleepBetweenRetries = time.Millisecond
	p.SendKey = false
	p.UseCompression = false
	p.ReplicaPolicy = as.MASTER
	return p
}

// String is the effective policy, for the result file.
func (o Options) String() string {
	o = o.defaulted()
	return fmt.Sprintf("timeout %v for the whole call and for the socket, no retries, no error-rate limit, pool of %d connections opened at start "+
		"(%d calls and the tending), idle ones dropped after %v, keys not sent, no compression, reads from the master, connect timeout %v",
		o.Timeout, o.pool(), o.Concurrency, idleTimeout, o.ConnectTimeout)
}
