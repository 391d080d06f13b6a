// Package control is what the processes of a trial say to one another: JSON objects, one a line, on stdin and
// stdout. It knows nothing of what they measure, serve or run.
//
// The driver's side of a trial, in order (-> to the driver's stdin, <- from its stdout):
//
//	-> {"subject":"grpc",...}               the job: the first line, a bare object (drive.Job)
//	<- {"event":"ready"}                    dialled, logged in, warmed up, quiescent
//	-> {"event":"go"}                       the window, or its next turn, starts as this line is read
//	<- {"event":"so_far","counters":{...}}  the calls so far, now and then where drive.Job.Tell asks for it
//	<- {"event":"done","counters":{...}}    it and its drain are over; the calls so far; nothing is computed before the next line
//	...                                     "go" and "done" again for each turn that is left of drive.Job.Turns
//	-> {"event":"report"}                   also in place of a "go", and at any time within a turn, which is then over at once and has no "done"
//	<- {"event":"result","trial":{...}}     result.Trial as far as the driver knows it; then the driver exits
//
// A server or store says {"event":"listening","addr":"127.0.0.1:1234","describe":"..."} and runs until its stdin
// ends. A store answers {"event":"counters"} with {"event":"counters","counters":{"read":1,...}}, a server with
// {"event":"counters","counters":{"calls":1}}. In place of any line a child may say {"event":"error","error":"..."} and
// exit. The end of its stdin tells a child that its parent is gone: it stops, whatever it is doing.
package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// The events.
const (
	Listening = "listening"
	Ready     = "ready"
	Go        = "go"
	SoFar     = "so_far"
	Done      = "done"
	Report    = "report"
	Counters  = "counters"
	Result    = "result"
	Error     = "error"
)

// Calls is the counter of a server: the calls that it was asked to handle, each counted as it began.
const Calls = "calls"

// The counters of a driver: the calls that have ended so far, and when it is done with a turn also those that were cut off or dropped. Before
// it is done those that succeeded are up to 63 more for each worker.
const (
	OK      = "ok"
	Failed  = "failed"
	CutOff  = "cut_off"
	Dropped = "dropped"
)

// MaxLine bounds a line, its newline included. The longest is a result with its histograms: some KiB for each
// step and class of outcome.
const MaxLine = 16 << 20

// ErrGone says that the other end closed its side, as a process does when it ends.
var ErrGone = errors.New("the other process closed its end")

// Line is one message. Event says which; the other fields belong to the events named beside them.
type Line struct {
	Event    string          `json:"event"`
	Addr     string          `json:"addr,omitempty"`     // listening: host:port
	Describe string          `json:"describe,omitempty"` // listening: the store that is used, for the result file
	Trial    json.RawMessage `json:"trial,omitempty"`    // result
	// Counters: what a store was asked to do since it started, by kind of operation; of a server, its Calls; of a driver, its calls.
	Counters map[string]int64 `json:"counters,omitempty"`
	Error    string           `json:"error,omitempty"` // error
}

// Peer is one end of a conversation. Its methods may be called concurrently, but lines go to whoever asks first.
type Peer struct {
	lines chan []byte
	gone  chan struct{}
	err   error // why reading ended; set before lines and gone are closed

	mu sync.Mutex
	w  io.Writer
}

// unread is how many lines may wait for their reader. The conversation is one of question and answer, so that
// even two are out of turn.
const unread = 16

// NewPeer starts to read r in a goroutine that ends with r: the end is noticed at once, also while nobody waits
// for a line.
func NewPeer(r io.Reader, w io.Writer) *Peer {
	p := &Peer{lines: make(chan []byte, unread), gone: make(chan struct{}), w: w}
	go func() {
		p.err = p.read(r)
		close(p.lines)
		close(p.gone)
	}()
	return p
}

func (p *Peer) read(r io.Reader) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, MaxLine)
	for n := 1; in.Scan(); n++ {
		select {
		case p.lines <- bytes.Clone(in.Bytes()):
		default:
			return fmt.Errorf("control line %d: %d lines before it were never asked for", n, unread)
		}
	}
	switch err := in.Err(); {
	case err == nil:
		return ErrGone
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("a control line is longer than %d bytes", MaxLine)
	default:
		return fmt.Errorf("reading control lines: %w", err)
	}
}

// Gone is closed when nothing more can be read. Lines that were read before are still handed out.
func (p *Peer) Gone() <-chan struct{} { return p.gone }

// Err says why reading ended, ErrGone where the other end closed; nil while it goes on.
func (p *Peer) Err() error {
	select {
	case <-p.gone:
		return p.err
	default:
		return nil
	}
}

// Next is the next line, without its newline. It waits until there is one, ctx ends, or the other end is gone.
func (p *Peer) Next(ctx context.Context) ([]byte, error) {
	select {
	case l, ok := <-p.lines:
		if !ok {
			return nil, p.err
		}
		return l, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Expect is Next for a line that must carry the event, or one of the others that are given. An "error" line in its place becomes a *RemoteError.
func (p *Peer) Expect(ctx context.Context, event string, others ...string) (Line, error) {
	raw, err := p.Next(ctx)
	if err != nil {
		return Line{}, fmt.Errorf("waiting for %q: %w", event, err)
	}
	var l Line
	if err := json.Unmarshal(raw, &l); err != nil {
		return Line{}, fmt.Errorf("waiting for %q: %w in the line %.200q", event, err, raw)
	}
	switch {
	case l.Event == event || slices.Contains(others, l.Event):
		return l, nil
	case l.Event == Error:
		return l, &RemoteError{l.Error}
	}
	return l, fmt.Errorf("waiting for %q: the line is %.200q", event, raw)
}

// Send writes v, a Line or the driver's job, as one line in one Write.
func (p *Peer) Send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("control line: %w", err)
	}
	if len(b) >= MaxLine {
		return fmt.Errorf("a control line of %d bytes: at most %d are allowed", len(b)+1, MaxLine)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("writing a control line: %w", err)
	}
	return nil
}

// Context is ctx that also ends, with Err as its cause, when the other end is gone: a child works under it.
func (p *Peer) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-p.gone:
			cancel(p.err)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// RemoteError is what the other process reported before it gave up.
type RemoteError struct{ Msg string }

func (e *RemoteError) Error() string { return e.Msg }
