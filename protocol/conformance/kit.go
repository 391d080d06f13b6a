// Package conformance says what every contestant must do alike, as a list of vectors that run through any
// protocol.Protocol: the tests run them, and so does every run before it measures, since numbers of subjects that
// give different answers can't be compared. It knows no protocol.
//
// A vector states the answer that it wants in itself, and never compares two subjects, so that a difference names
// who is wrong. The answers that the real rules can't give (every error, a large payload, a slow handler) come from
// Probe, which the server has around its rules.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
)

// Vector is one thing that every subject does alike.
type Vector struct {
	Name string
	// Doc says in one sentence what is wanted.
	Doc string
	// Look says where the fault usually is when a subject differs.
	Look string
	// Check makes the calls; its error says what it got and what it wanted.
	Check func(ctx context.Context, env *Env) error
}

// Difference is a vector in which a subject differs.
type Difference struct {
	Subject string
	Vector  Vector
	Err     error
}

func (d Difference) String() string {
	look := d.Vector.Look
	var f *protocol.Fault
	if errors.As(d.Err, &f) && f.Kind == protocol.BadTLS { // no call was made that could tell something of the subject
		look = "the TLS options of both ends, before the subject: certificates, the CA that is trusted, names"
	}
	return fmt.Sprintf("%s differs in vector %q: %v\n\twanted of all: %s\n\tlook at: %s", d.Subject, d.Vector.Name, d.Err, d.Vector.Doc, look)
}

// Env is what a check has to work with.
type Env struct {
	// Client is freshly dialled for this vector, with the subject's default connections for shared calls in flight.
	Client protocol.Client
	// Session is a login with the demo pair; it is empty where the subject has no Login.
	Session service.Session
	// Run is unique to this vector and run, for what must not meet the remains of earlier runs in a store.
	Run string

	subject protocol.Protocol
	addr    string
	mu      sync.Mutex
	clients []protocol.Client
}

// shared is how many calls Env.Client must carry at a time.
const shared = 4

// Dial opens another client to the same server: for inFlight calls over conns connections (0: the subject's own
// number), with options that adjust may change. It is closed when the vector ends.
func (e *Env) Dial(ctx context.Context, inFlight, conns int, adjust func(*protocol.Options)) (protocol.Client, error) {
	o := e.subject.Options(inFlight, conns)
	if adjust != nil {
		adjust(&o)
	}
	c, err := e.subject.Dial(ctx, e.addr, o)
	if err != nil {
		return nil, fmt.Errorf("dial for %d calls in flight over %d connections: %w", o.InFlight, o.Conns, err)
	}
	e.mu.Lock()
	e.clients = append(e.clients, c)
	e.mu.Unlock()
	return c, nil
}

// Auth is what goes with a request of the demo client.
func (e *Env) Auth() service.Auth {
	return service.Auth{ClientID: service.DemoClientID, Token: e.Session.Token}
}

func (e *Env) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, c := range e.clients {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// vectorLimit is far above what the slowest vector takes on a slow machine.
const vectorLimit = 20 * time.Second

// hearLimit is how long a server that has let a vector run out of its time is given to answer one call.
const hearLimit = 5 * time.Second

// Run holds the subject to every vector of the calls that it has, through the server at addr, which must have Probe around its rules, auth on,
// and the demo client. It returns the differences; none means that the subject may be ranked. It takes about three seconds.
//
// An error says that ctx ended first, or that the server answers nothing at all any more, which is no verdict: the vector under way then failed
// for that, and those before it may have failed for what led to it, so that no differences come with it.
func Run(ctx context.Context, subject protocol.Protocol, addr string) ([]Difference, error) {
	return run(ctx, subject, addr, Asked(subject, Vectors))
}

func run(ctx context.Context, subject protocol.Protocol, addr string, vectors []Vector) ([]Difference, error) {
	return runWithin(ctx, vectorLimit, hearLimit, subject, addr, vectors)
}

func runWithin(ctx context.Context, limit, hearing time.Duration, subject protocol.Protocol, addr string, vectors []Vector) ([]Difference, error) {
	var all []Difference
	for n, v := range vectors {
		err := checkWithin(ctx, limit, subject, addr, v)
		deaf := ctx.Err() == nil && errors.As(err, new(*overLimitError)) && !hears(ctx, hearing, subject, addr)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("stopped in vector %d of %d, %q: %w", n+1, len(vectors), v.Name, context.Cause(ctx))
		}
		if deaf {
			return nil, fmt.Errorf("stopped in vector %d of %d, %q: %w; after it a single call was not answered within %v either: the server is stopped, or hangs",
				n+1, len(vectors), v.Name, err, hearing)
		}
		if err != nil {
			all = append(all, Difference{subject.Name, v, err})
		}
		if v.Name == probeVector && len(all) > 0 {
			break // without the probe every other vector would fail, and say the same
		}
	}
	return all, nil
}

// Check holds the subject to one vector. A call that never returns and a panic in the vector's goroutine are
// differences like others.
func Check(ctx context.Context, subject protocol.Protocol, addr string, v Vector) error {
	return checkWithin(ctx, vectorLimit, subject, addr, v)
}

var runs atomic.Int64

func checkWithin(ctx context.Context, limit time.Duration, subject protocol.Protocol, addr string, v Vector) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("the client panicked: %v\n%s", p, debug.Stack())
			}
		}()
		done <- check(ctx, subject, addr, v)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	// A client that honours its context is done soon after; one that does not is left behind.
	grace := time.NewTimer(limit / 10)
	defer grace.Stop()
	select {
	case err := <-done:
		return &overLimitError{fmt.Errorf("stopped after %v: %w", limit, errors.Join(context.Cause(ctx), err))}
	case <-grace.C:
		return &overLimitError{fmt.Errorf("a call never returned: neither an answer nor the end of its context ended it within %v", limit)}
	}
}

// overLimitError is that of a vector that was given up.
type overLimitError struct{ error }

func (e *overLimitError) Unwrap() error { return e.error }

// hears says whether a call of the subject returns within the limit, with whatever.
func hears(ctx context.Context, limit time.Duration, subject protocol.Protocol, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	returned := make(chan struct{}, 1)
	go func() {
		defer func() {
			_ = recover() // a client that panics has not hung
			if ctx.Err() == nil {
				returned <- struct{}{}
			}
		}()
		c, err := subject.Dial(ctx, addr, subject.Options(1, 0))
		if err != nil {
			return
		}
		defer c.Close()
		if subject.Has(service.CallLogin) {
			_, _ = c.Login(ctx, service.LoginRequest{ClientID: service.DemoClientID, Secret: service.DemoSecret})
		} else {
			_, _ = c.DataType(ctx, service.DataTypeRequest{Group: Group, Name: "echo:"})
		}
	}()
	select {
	case <-returned:
		return true
	case <-ctx.Done():
		return false
	}
}

func check(ctx context.Context, subject protocol.Protocol, addr string, v Vector) (err error) {
	env := &Env{
		Run:     strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.FormatInt(runs.Add(1), 36),
		subject: subject, addr: addr,
	}
	defer func() {
		if e := env.close(); err == nil && e != nil {
			err = fmt.Errorf("close: got error %w, want none", e)
		}
	}()
	if env.Client, err = env.Dial(ctx, shared, 0, nil); err != nil {
		return err
	}
	if subject.Has(service.CallLogin) {
		if env.Session, err = env.Client.Login(ctx, service.LoginRequest{ClientID: service.DemoClientID, Secret: service.DemoSecret}); err != nil {
			return fmt.Errorf("login with the demo pair: got error %w, want a session", err)
		}
	}
	return v.Check(ctx, env)
}
