package nethttp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/pool"
)

// Client is a number of connections to one server, all opened by Dial. HTTP/1.1 carries one call at a time over each:
// further calls wait for one. HTTP/2 carries any number, spread in turn. A connection that broke, or that was unused for
// so long that its server may close it, is dialled anew by the next call; no call is made twice. It is safe for concurrent
// use.
type Client struct {
	// Scheme is that of the requests' URLs: http, or https over TLS.
	Scheme string

	addr      string
	version   Version
	secure    *tls.Config
	open      func(ctx context.Context, network, addr string) (net.Conn, error)
	transport *http.Transport
	timeout   time.Duration
	idle      time.Duration // a connection unused for longer is looked at before it carries a call
	patience  *pool.Patience
	suspect   *pool.Suspect // nil: calls are made over TLS
	closed    atomic.Bool

	lanes *pool.Pool[*Lane] // HTTP/1.1
	muxes *muxes            // HTTP/2
}

// Dial opens o.Conns connections to addr before it returns, or fails. ctx bounds the dialling alone. Whether HTTP is
// spoken there, the first call finds out.
func Dial(ctx context.Context, addr string, v Version, o protocol.Options) (*Client, error) {
	o = o.Defaulted()
	secure, err := o.ClientTLS(addr, v.ALPN())
	if err != nil {
		return nil, err
	}
	c := &Client{Scheme: "http", addr: addr, version: v, secure: secure, open: o.DialContext, timeout: o.Timeout, idle: o.ServerIdle / 2}
	if secure == nil {
		c.suspect = new(pool.Suspect)
	} else {
		c.Scheme = "https"
	}
	c.transport = &http.Transport{
		Protocols:          v.protocols(),
		DialContext:        dialled,
		DialTLSContext:     dialled,
		DisableCompression: true,
		IdleConnTimeout:    max(c.idle, 1), // of HTTP/2; a lane is looked at
	}
	if v == HTTP2 {
		c.muxes, err = newMuxes(ctx, c, max(o.Conns, 1))
	} else {
		c.lanes, err = pool.New(ctx, o.Conns, func(ctx context.Context) (*Lane, error) {
			conn, err := c.dial(ctx)
			if err != nil {
				return nil, err
			}
			return &Lane{Guard: pool.NewGuard(conn), Conn: conn}, nil
		})
	}
	if err != nil {
		return nil, pool.DialError(ctx, err)
	}
	c.patience = pool.NewPatience(o.Timeout, o.InFlight)
	return c, nil
}

// Close ends the calls in flight and those that wait. It may be called more than once, by one goroutine at a time.
func (c *Client) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	if c.lanes != nil {
		c.lanes.Close()
	} else {
		c.muxes.close()
	}
	c.patience.Stop()
	return nil
}

// dial opens a socket, and shakes hands where there is TLS.
func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	conn, err := c.open(ctx, "tcp", c.addr)
	if err != nil {
		return nil, err
	}
	return protocol.Secure(ctx, conn, c.secure)
}

// connKey has a context carry the connection over which a http.ClientConn is wanted.
type connKey struct{}

// dialled is the transport's way to dial: it takes the connection that is there.
func dialled(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, ok := ctx.Value(connKey{}).(net.Conn)
	if !ok {
		return nil, errors.New("nethttp: a connection that nobody has dialled")
	}
	return conn, nil
}

// over speaks HTTP over conn from now on. An error has closed it.
func (c *Client) over(conn net.Conn) (*http.ClientConn, error) {
	ctx := context.WithValue(context.Background(), connKey{}, conn)
	cc, err := c.transport.NewClientConn(ctx, c.Scheme, c.addr)
	if err != nil {
		_ = protocol.Cut(conn)
	}
	return cc, err
}

// Lane is a connection of HTTP/1.1, with what ends its calls. It belongs to whoever holds its lease.
type Lane struct {
	*pool.Guard
	Conn net.Conn
	// Other is what the connection has become instead of one of HTTP: a WebSocket. Whoever began with BeginOther sets it.
	Other any

	http *http.ClientConn // nil before the first call
}

// fit says whether a lane may carry a call of HTTP, or another, that begins now.
func (k *Lane) fit(now time.Time, other bool, idle time.Duration) bool {
	if other && k.http != nil || !other && k.Other != nil || k.http != nil && k.http.Err() != nil {
		return false
	}
	return k.Fit(now, idle)
}

// draw draws a lane for a call that begins now.
func (c *Client) draw(ctx context.Context, now, until time.Time, other bool) (*pool.Lease[*Lane], error) {
	return c.lanes.Draw(ctx, until, func(k *Lane) bool { return k.fit(now, other, c.idle) })
}
