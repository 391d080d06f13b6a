// Package drive is the client side of one trial: it dials, warms up, drives the load and condenses what it saw. It
// speaks the lines of package control and does not know who is at their other end, nor of any process.
package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"bakeoff/harness/control"
	"bakeoff/harness/load"
	"bakeoff/harness/record"
	"bakeoff/harness/workload"
	"bakeoff/protocol"
)

// Run reads a job from in and carries it out, in the order that package control gives; subject finds the job's
// protocol, and is where the process may be set up for it. Run returns when the result has been written, ctx has
// ended, in has, or a step has failed. It reports a failure as an "error" line as well.
//
// The goroutine that reads in ends with in.
func Run(ctx context.Context, in io.Reader, out io.Writer, subject func(Job) (protocol.Protocol, error)) error {
	peer := control.NewPeer(in, out)
	ctx, cancel := peer.Context(ctx)
	defer cancel()
	err := converse(ctx, peer, subject)
	if err != nil && !errors.Is(err, control.ErrGone) {
		err = errors.Join(err, peer.Send(control.Line{Event: control.Error, Error: err.Error()}))
	}
	return err
}

func converse(ctx context.Context, peer *control.Peer, subject func(Job) (protocol.Protocol, error)) (err error) {
	line, err := peer.Next(ctx)
	if errors.Is(err, control.ErrGone) {
		return errors.New("stdin ended before a job came: it is one line of JSON")
	}
	if err != nil {
		return fmt.Errorf("waiting for the job: %w", err)
	}
	job, err := ParseJob(line)
	if err != nil {
		return err
	}
	p, err := subject(job)
	if err != nil {
		return err
	}
	t, err := prepare(ctx, job, p)
	if err != nil {
		return err
	}
	defer func() {
		if closing := t.client.Close(); closing != nil {
			err = errors.Join(err, fmt.Errorf("closing the client: %w", closing))
		}
	}()
	defer func() { err = errors.Join(err, t.steps.close()) }()
	defer t.garbage.restore()
	if err := t.warmUp(ctx); err != nil {
		return err
	}
	if err := peer.Send(control.Line{Event: control.Ready}); err != nil {
		return err
	}
	if err := t.turns(ctx, peer); err != nil {
		return err
	}
	t.after = t.edge()
	if err := t.steps.close(); err != nil {
		return err
	}
	trial, err := t.condense()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(trial)
	if err != nil {
		return fmt.Errorf("the result: %w", err)
	}
	return peer.Send(control.Line{Event: control.Result, Trial: raw})
}

// turns measures until a report is asked for: after the last turn, or before, where whoever asks has seen that the trial is lost and wants
// what it came to.
func (t *trial) turns(ctx context.Context, peer *control.Peer) error {
	for turn := 0; ; turn++ {
		next, orElse := control.Go, control.Report
		if turn == t.job.Turns {
			next = control.Report
		}
		line, err := peer.Expect(ctx, next, orElse)
		if err != nil || line.Event == control.Report {
			return err
		}
		within, asked := t.untilAsked(ctx, peer)
		err = t.measure(within, turn, func(ok, failed uint64) {
			_ = peer.Send(soFar(control.SoFar, ok, failed)) // that nobody reads is noticed with the next line
		})
		switch why := asked(); {
		case why == errAsked: // the calls in flight were cut off, if it was not over already
			return nil
		case why != nil:
			return why
		case err != nil:
			return err
		}
		done := soFar(control.Done, t.stats.OK, t.stats.Failed)
		done.Counters[control.CutOff], done.Counters[control.Dropped] = int64(t.stats.CutOff), int64(t.stats.Dropped)
		if err := peer.Send(done); err != nil {
			return err
		}
	}
}

// errAsked ends a turn whose trial is to be reported at once.
var errAsked = errors.New("the report was asked for before the turn was over")

// untilAsked is ctx that also ends when a report is asked for. The function that it returns ends the watch: its error is errAsked, what was
// wrong with a line that came, or nil where none did.
func (t *trial) untilAsked(ctx context.Context, peer *control.Peer) (context.Context, func() error) {
	within, end := context.WithCancelCause(ctx)
	watching, stop := context.WithCancel(ctx)
	heard := make(chan error, 1)
	go func() {
		_, err := peer.Expect(watching, control.Report)
		switch {
		case err == nil:
			err = errAsked
		case watching.Err() != nil || errors.Is(err, control.ErrGone): // ctx tells of the latter
			err = nil
		}
		if err != nil {
			end(err)
		}
		heard <- err
	}()
	return within, func() error {
		stop()
		defer end(nil)
		return <-heard
	}
}

// trial is a trial under way.
type trial struct {
	job      Job
	protocol protocol.Protocol
	workload workload.Workload
	traffic  *traffic
	client   protocol.Client
	garbage  garbage
	calls    [][]load.Call // of each worker
	measured *record.Set
	workers  []load.Worker // those that record into measured
	steps    *stepLog      // nil: one step, and no lines
	profile  load.Profile  // zero in the closed loop
	arrivals load.Arrivals

	// What measure saw.
	stats         load.Stats
	made          int   // turns that came to their end, or to that of a rule
	stuck         error // calls that did not return
	failed        error // more failures than are allowed
	before, after edge  // before "ready" and after "report"
}

// prepare dials and starts the workload for each worker.
func prepare(ctx context.Context, job Job, p protocol.Protocol) (*trial, error) {
	w, err := workload.Find(job.Workload)
	if err != nil {
		return nil, err
	}
	t := &trial{job: job, protocol: p, workload: w, traffic: &traffic{dial: job.Options.DialContext}}
	o := job.Options
	o.DialContext, o.Handshaken = t.traffic.DialContext, t.traffic.handshakes.Note
	if t.client, err = p.Dial(ctx, job.Addr, o); err != nil {
		return nil, fmt.Errorf("dial %s over %s: %w", job.Addr, job.Subject, err)
	}
	if t.profile, t.arrivals, err = job.pace(); err != nil {
		t.client.Close() // the first failure is the one to tell
		return nil, err
	}
	if t.steps, err = newStepLog(w.Steps, job.Lines); err != nil {
		t.client.Close() // the first failure is the one to tell
		return nil, err
	}
	t.garbage = findGarbage()
	t.measured = record.New(w.Steps, t.open())
	if job.Iterations == 0 { // else nobody knows how long the window will be
		t.measured.Watch(job.Duration)
	}
	for i := range job.Concurrency {
		var calls []load.Call
		if i > 0 && w.Shared && !job.Auth {
			calls = t.calls[0]
		} else {
			calls, err = w.Start(ctx, t.client, workload.Settings{
				Seed: job.Seed, Worker: i, Auth: job.Auth, ClientID: job.ClientID, Secret: job.Secret,
			})
		}
		if err != nil {
			t.client.Close() // the first failure is the one to tell
			t.steps.close()
			return nil, fmt.Errorf("workload %s, worker %d: %w", w.Name, i, err)
		}
		t.calls = append(t.calls, calls)
		t.workers = append(t.workers, load.Worker{Calls: calls, Recorder: t.steps.around(t.measured.Recorder())})
	}
	t.garbage.made()
	return t, nil
}

// warmUp makes calls that count nowhere. When it returns none is in flight and the garbage is collected, so that the
// window starts from the same state in each trial. Calls of which none succeeds are not worth measuring.
func (t *trial) warmUp(ctx context.Context) error {
	warmed := false
	if t.job.Warmup > 0 {
		set := record.New(t.workload.Steps, false)
		var workers []load.Worker
		for _, calls := range t.calls {
			workers = append(workers, load.Worker{Calls: calls, Recorder: set.Recorder()})
		}
		stats, err := load.Run(ctx, t.options(workers, t.job.Warmup, t.warmPacer()))
		if err != nil {
			return fmt.Errorf("warm-up: %w", err)
		}
		if stats.OK == 0 && stats.Failed > 0 {
			return fmt.Errorf("warm-up: none of %d calls succeeded%s", stats.Started, firstExample(set.Summary()))
		}
		warmed = stats.OK > 0
	}
	if !warmed { // none was asked for, or the machine was too busy for a call to end in so short a time
		if err := t.prime(ctx); err != nil {
			return err
		}
	}
	t.garbage.collect()
	t.before = t.edge()
	return nil
}

// prime makes one iteration by one worker where there is no warm-up: the first call of a workload may find an empty store and
// fill it, which is more requests to the store than any later call costs. What comes of it is for the window to tell.
func (t *trial) prime(ctx context.Context) error {
	set := record.New(t.workload.Steps, false)
	one := []load.Worker{{Calls: t.calls[0], Recorder: set.Recorder()}}
	if _, err := load.Run(ctx, t.options(one, time.Second, onlyOne{})); err != nil && ctx.Err() != nil {
		return fmt.Errorf("the first call: %w", context.Cause(ctx))
	}
	return nil
}

// onlyOne has one iteration due, at once.
type onlyOne struct{}

// At implements load.Pacer.
func (onlyOne) At(n uint64) (time.Duration, bool) { return 0, n == 0 }

// firstExample tells of the most frequent failure of the first class, if there is one.
func firstExample(s record.Summary) string {
	for _, e := range s.Examples {
		return fmt.Sprintf(": %d are %s: %s", s.Failed[e.Class], e.Class, strings.TrimPrefix(e.Message, e.Class+": "))
	}
	return ": they were cut off"
}

func (t *trial) options(workers []load.Worker, d time.Duration, p load.Pacer) load.Options {
	return load.Options{Workers: workers, Duration: d, Grace: t.job.Grace, CallTimeout: t.job.CallTimeout, Pacer: p, Precise: true}
}

// open says that the calls come at a rate.
func (t *trial) open() bool { return !t.profile.IsZero() }

// pacer says when the calls of the window are due; nil in the closed loop.
func (t *trial) pacer() load.Pacer {
	if !t.open() {
		return nil
	}
	return t.arrivals.Pacer(t.profile, t.job.Duration, t.job.Seed)
}

// warmPacer has the warm-up's calls come at the rates of the window, in a time of its own, and evenly: the first at once,
// so that there is one.
func (t *trial) warmPacer() load.Pacer {
	if !t.open() {
		return nil
	}
	return load.Even.Pacer(t.profile, t.job.Warmup, 0)
}

// measure makes the calls of one turn that count, and nothing else. The trial's own edges, at which hundreds of sockets may have to be
// asked, lie outside of those at which others read this process's meters; in between there are no calls. Where calls were stuck, or too many
// failed, the turns that are left are over at once.
func (t *trial) measure(ctx context.Context, turn int, tell func(ok, failed uint64)) error {
	if t.failed != nil || t.stuck != nil {
		return nil
	}
	o := t.options(t.workers, t.job.Duration/time.Duration(t.job.Turns), t.pacer())
	o.MaxFailures, o.Iterations, o.Earlier = t.job.MaxFailures, t.job.Iterations, t.stats
	o.Tell, o.TellEvery = tell, t.job.Tell
	t.measured.Turn(turn, t.job.Turns)
	stats, err := load.Run(ctx, o)
	t.stats = t.stats.Add(stats)
	if ctx.Err() != nil {
		return fmt.Errorf("measuring: %w", context.Cause(ctx))
	}
	t.made++
	var limit *load.FailureLimit
	if errors.As(err, &limit) { // the trial stands without figures, with what failed
		t.failed = limit
		return nil
	}
	if stats.Stuck > 0 { // a client that is deaf to its context spoils no figure: the trial stands, with a warning
		t.stuck, err = err, nil
	}
	if err != nil {
		return fmt.Errorf("measuring: %w", err)
	}
	return nil
}

// soFar says how many calls have ended.
func soFar(event string, ok, failed uint64) control.Line {
	return control.Line{Event: event, Counters: map[string]int64{control.OK: int64(ok), control.Failed: int64(failed)}}
}
