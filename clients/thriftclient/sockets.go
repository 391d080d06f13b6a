package thriftclient

import (
	"context"
	"fmt"
	"net"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/pool"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/stack"
)

// sockets are the line over Thrift's own transports. The library's client ignores contexts, so deadlines are set on the
// socket and a cancelled context closes it.
type sockets struct {
	addr    string
	timeout time.Duration
	idle    time.Duration // a connection unused for longer is looked at before it carries a call
	pool    *pool.Pool[*conn]
	suspect *pool.Suspect // nil: calls are made over TLS
}

func dialSockets(ctx context.Context, addr string, s *stack.Stack, o protocol.Options) (*sockets, error) {
	secure, err := o.ClientTLS(addr)
	if err != nil {
		return nil, err
	}
	o = o.Defaulted()
	l := &sockets{addr: addr, timeout: o.Timeout, idle: o.ServerIdle / 2}
	if secure == nil {
		l.suspect = new(pool.Suspect)
	}
	l.pool, err = pool.New(ctx, o.Conns, func(ctx context.Context) (*conn, error) {
		raw, err := o.DialContext(ctx, "tcp", addr)
		if err == nil {
			raw, err = protocol.Secure(ctx, raw, secure)
		}
		if err != nil {
			return nil, err
		}
		return newConn(l, s, raw)
	})
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, pool.DialError(ctx, err))
	}
	return l, nil
}

func (l *sockets) Close() error {
	l.pool.Close()
	return nil
}

func (l *sockets) begin(ctx context.Context) (turn, error) {
	now := time.Now()
	until, exact := pool.Until(ctx, now, l.timeout)
	lease, err := l.pool.Draw(ctx, until, func(k *conn) bool { return k.Fit(now, l.idle) })
	if err != nil {
		return nil, err
	}
	k := lease.Conn
	k.lease = lease
	k.Reset()
	if err := k.Begin(ctx, now, until, exact); err != nil {
		return nil, k.end(ctx, &stack.SocketError{Op: "begin", Err: err})
	}
	return k, nil
}

// conn is one connection with the library's clients on it, and with what ends their calls. All but Abort is called by
// whoever holds its lease.
type conn struct {
	*pool.Guard
	stack.Socket
	services
	line  *sockets
	lease *pool.Lease[*conn] // of the call under way, or the latest
	// answered says that it has brought an answer.
	answered bool
}

func newConn(l *sockets, s *stack.Stack, raw net.Conn) (*conn, error) {
	k := &conn{Guard: pool.NewGuard(raw), Socket: s.NewSocket(raw), line: l}
	p, err := s.Protocol(&k.Socket)
	if err != nil {
		raw.Close()
		return nil, err
	}
	k.services = newServices(p)
	return k, nil
}

// library gives the library's client no context: it would only look at its deadline, to read on after the socket's has
// passed.
func (k *conn) library() (*services, context.Context) { return &k.services, context.Background() }

func (k *conn) end(ctx context.Context, err error) error {
	l := k.line
	intact := k.End()
	if err == nil { // not intact: the context ended, or the client was closed, just after the answer
		k.answered = true
		l.pool.Put(k.lease, intact)
		return nil
	}
	if declared, ok := err.(*inf.ServiceError); ok {
		l.pool.Put(k.lease, intact)
		return declaredError(declared)
	}
	err = k.callError(ctx, err)
	if !k.answered && l.suspect != nil {
		err = l.suspect.Judge(ctx, l.addr, err)
	}
	l.pool.Put(k.lease, false)
	return err
}
