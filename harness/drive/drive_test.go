package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"bakeoff/harness/control"
	"bakeoff/harness/result"
	"bakeoff/harness/workload"
	"bakeoff/protocol"
	"bakeoff/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The toy protocol carries one call: 10 bytes for any request, 25 for the known answer, one call a connection.
const (
	request = 10
	answer  = 25
)

// serve answers like a toy until the test ends. Each connection is closed after the number of answers given (0: never).
func serve(t *testing.T, perConn int) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, answer)
				for n := 0; perConn == 0 || n < perConn; n++ {
					if _, err := io.ReadFull(c, buf[:request]); err != nil {
						return
					}
					c.Write(buf)
				}
			}()
		}
	}()
	return l.Addr().String()
}

// toy is the client. Other calls than DataType end in the nil API's panic.
type toy struct {
	service.API
	dial    func(ctx context.Context) (net.Conn, error)
	free    chan net.Conn
	wrong   bool          // answers
	deaf    bool          // to contexts
	called  chan struct{} // holds something after the first call
	stopped chan struct{}
	calls   atomic.Uint64
}

func (c *toy) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	if c.calls.Add(1) == 1 {
		c.called <- struct{}{}
	}
	if c.deaf {
		<-c.stopped
		return service.DataType{}, errors.New("closed")
	}
	conn := <-c.free
	if conn == nil {
		var err error
		if conn, err = c.dial(ctx); err != nil {
			c.free <- nil
			return service.DataType{}, err
		}
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var buf [answer]byte
	_, err := conn.Write(buf[:request])
	if err == nil {
		_, err = io.ReadFull(conn, buf[:])
	}
	if err != nil {
		conn.Close()
		c.free <- nil
		return service.DataType{}, err
	}
	c.free <- conn
	if c.wrong {
		return service.DataType{CodeID: 1}, nil
	}
	return service.DataType{CodeID: service.KnownCode, CnName: service.KnownCnName}, nil
}

func (c *toy) Close() error {
	close(c.stopped)
	for range cap(c.free) {
		if conn := <-c.free; conn != nil {
			conn.Close()
		}
	}
	return nil
}

// toyProtocol dials toys that are set up by change.
func toyProtocol(change func(*toy)) func(Job) (protocol.Protocol, error) {
	return func(j Job) (protocol.Protocol, error) {
		return protocol.Protocol{Name: "toy", Dial: func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
			c := &toy{free: make(chan net.Conn, o.Conns), called: make(chan struct{}, 1), stopped: make(chan struct{})}
			c.dial = func(ctx context.Context) (net.Conn, error) { return o.DialContext(ctx, "tcp", addr) }
			for range o.Conns {
				conn, err := c.dial(ctx)
				if err != nil {
					return nil, err
				}
				if _, ok := conn.(*net.TCPConn); !ok {
					return nil, fmt.Errorf("a %T was dialled: clients treat it worse than a *net.TCPConn", conn)
				}
				c.free <- conn
			}
			if change != nil {
				change(c)
			}
			return c, nil
		}}, nil
	}
}

const toyTimeout = time.Second

func toyJob(addr string) Job {
	return Job{
		Subject: "toy", Addr: addr, Workload: "datatype", Concurrency: 4, Options: protocol.Options{Conns: 4, InFlight: 4},
		Seed: 9, Warmup: 20 * time.Millisecond, Duration: 100 * time.Millisecond, Grace: time.Second, CallTimeout: toyTimeout,
	}
}

// drive runs a driver at the other end of pipes.
func drive(t *testing.T, ctx context.Context, subject func(Job) (protocol.Protocol, error)) (
	parent *control.Peer, hangUp func(), ended chan error,
) {
	toDriver, fromParent := io.Pipe()
	toParent, fromDriver := io.Pipe()
	ended = make(chan error, 1)
	go func() {
		err := Run(ctx, toDriver, fromDriver, subject)
		fromDriver.Close()
		ended <- err
	}()
	t.Cleanup(func() { fromParent.Close() })
	return control.NewPeer(toParent, fromParent), func() { fromParent.Close() }, ended
}

// whole is the conversation of a trial that succeeds.
func whole(t *testing.T, job any, subject func(Job) (protocol.Protocol, error)) result.Trial {
	t.Helper()
	parent, _, ended := drive(t, t.Context(), subject)
	if err := parent.Send(job); err != nil {
		t.Fatal(err)
	}
	var last control.Line
	steps := []struct{ wait, say string }{{control.Ready, control.Go}}
	if j, ok := job.(Job); ok {
		for range j.Turns - 1 {
			steps = append(steps, struct{ wait, say string }{control.Done, control.Go})
		}
	}
	for _, step := range append(steps, []struct{ wait, say string }{{control.Done, control.Report}, {control.Result, ""}}...) {
		var err error
		if last, err = parent.Expect(t.Context(), step.wait); err != nil {
			t.Fatal(err)
		}
		if step.say != "" {
			parent.Send(control.Line{Event: step.say})
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	var trial result.Trial
	if err := json.Unmarshal(last.Trial, &trial); err != nil {
		t.Fatal(err)
	}
	return trial
}

func TestATrial(t *testing.T) {
	var client *toy
	trial := whole(t, toyJob(serve(t, 0)), toyProtocol(func(c *toy) { client = c }))
	o := trial.Outcomes
	if o.OK == 0 || o.Started != o.OK+o.CutOff || o.Failed != nil || o.Dropped != 0 {
		t.Errorf("outcomes %+v", o)
	}
	if calls := client.calls.Load(); o.Started >= calls {
		t.Errorf("%d calls started of %d: the warm-up's must not count", o.Started, calls)
	}
	if trial.Subject != "toy" || trial.Workload != "datatype" || trial.Mode != "closed" || trial.Concurrency != 4 || trial.Conns != 4 ||
		trial.Seed != 9 || trial.Messages != 1 || trial.Window != 0.1 {
		t.Errorf("trial %+v", trial)
	}
	for name, want := range map[string]float64{result.SentPerReq: request, result.ReceivedPerReq: answer, result.Dials: 0} {
		if got, ok := trial.Values[name]; !ok || got != want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	if got := trial.Values[result.Throughput]; got < float64(o.OK)/0.1/2 || got > 2*float64(o.OK)/0.1 { // the rate of the workers' own time: see throughput
		t.Errorf("throughput %v of %d calls in 0.1 s", got, o.OK)
	}
	for _, name := range []string{ClientGCs, ClientAllocsPerReq, ClientHeapPerReq} {
		if _, ok := trial.Values[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	var options protocol.Options
	if err := json.Unmarshal(trial.Options, &options); err != nil || options.MaxMessage != protocol.DefaultMaxMessage || options.Timeout != toyTimeout {
		t.Errorf("the effective options are %s, %v", trial.Options, err)
	}
	if len(trial.Histograms) != 1 {
		t.Fatalf("%d histograms", len(trial.Histograms))
	}
	h := trial.Histograms[0]
	if d, err := h.Decode(); err != nil || uint64(d.TotalCount()) != o.OK || h.Step != "datatype" || h.Outcome != "ok" || h.Time != "response" {
		t.Errorf("histogram %+v, %v", h, err)
	}
	if kinds := doubts(trial); len(kinds) != 0 {
		t.Errorf("warnings %+v", trial.Warnings)
	}
}

// TestATrialInTurns: several windows, one load. What happens between them is in no figure.
func TestATrialInTurns(t *testing.T) {
	job := toyJob(serve(t, 0))
	job.Turns, job.Duration = 5, 500*time.Millisecond
	trial := whole(t, job, toyProtocol(nil))
	o := trial.Outcomes
	if o.OK == 0 || o.Started != o.OK || o.Failed != nil || trial.Window != 0.5 || *trial.TurnsMade != 5 {
		t.Errorf("outcomes %+v in %v s, %d turns", o, trial.Window, *trial.TurnsMade)
	}
	in := uint64(0)
	for i, s := range trial.Slices {
		if in += s.OK; s.OK == 0 {
			t.Errorf("no call ended in part %d", i)
		}
	}
	if ended := o.OK - in; ended > 5*4 { // of each turn those that were in flight at its end
		t.Errorf("%d of %d calls are in no part", ended, o.OK)
	}
	if h := trial.Histograms[0]; uint64(h.Count) != o.OK {
		t.Errorf("%d calls are in the histogram, want all %d", h.Count, o.OK)
	}
	if got := trial.Values[result.InFlight]; got < 3.5 || got > 5 {
		t.Errorf("%v calls were in flight, want 4", got)
	}
	if kinds := doubts(trial); len(kinds) != 0 {
		t.Errorf("warnings %+v", trial.Warnings)
	}
}

// TestAReportBeforeTheEnd: whoever asks gets what was measured so far, within a turn as well.
func TestAReportBeforeTheEnd(t *testing.T) {
	for _, row := range []struct {
		name   string
		before []string // events that are waited for, each answered by a "go"
		last   string   // the event after which the report is asked for
		turn   time.Duration
		made   int
	}{
		{"before the first turn", nil, control.Ready, 20 * time.Millisecond, 0},
		{"after two of five", []string{control.Ready, control.Done}, control.Done, 20 * time.Millisecond, 2},
		{"within the first", []string{control.Ready}, control.SoFar, time.Hour, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			job := toyJob(serve(t, 0))
			job.Turns, job.Duration, job.Tell = 5, 5*row.turn, time.Millisecond
			parent, _, ended := drive(t, t.Context(), toyProtocol(nil))
			parent.Send(job)
			await := func(event string) control.Line {
				t.Helper()
				for {
					line, err := parent.Expect(t.Context(), event, control.SoFar)
					if err != nil {
						t.Fatal(err)
					}
					if line.Event == event {
						return line
					}
				}
			}
			for _, event := range row.before {
				await(event)
				parent.Send(control.Line{Event: control.Go})
			}
			last := await(row.last)
			parent.Send(control.Line{Event: control.Report})
			var trial result.Trial
			if err := json.Unmarshal(await(control.Result).Trial, &trial); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			o := trial.Outcomes
			if trial.TurnsMade == nil || *trial.TurnsMade != row.made || trial.Error != "" {
				t.Errorf("%v turns made, want %d; error %q", trial.TurnsMade, row.made, trial.Error)
			}
			if o.Started != o.OK+o.CutOff || o.Failed != nil || (o.Started > 0) != (len(row.before) > 0) {
				t.Errorf("outcomes %+v", o)
			}
			if row.last == control.Done {
				want := map[string]int64{control.OK: int64(o.OK), control.Failed: 0, control.CutOff: int64(o.CutOff), control.Dropped: 0}
				if !maps.Equal(last.Counters, want) {
					t.Errorf("done with %v, want %v", last.Counters, want)
				}
			}
		})
	}
}

// doubts are the kinds of a trial's warnings, but for drift, which a busy machine has for real.
func doubts(trial result.Trial) (kinds []string) {
	for _, w := range trial.Warnings {
		if w.Kind != result.WarnDrift {
			kinds = append(kinds, w.Kind)
		}
	}
	return kinds
}

// TestWithoutWarmUpOneCallIsNotCounted: the call that may fill the store comes before the window.
func TestWithoutWarmUpOneCallIsNotCounted(t *testing.T) {
	var client *toy
	job := toyJob(serve(t, 0))
	job.Warmup, job.Duration = 0, 20*time.Millisecond
	trial := whole(t, job, toyProtocol(func(c *toy) { client = c }))
	if made, counted := client.calls.Load(), trial.Outcomes.Started; counted == 0 || made != counted+1 {
		t.Errorf("%d calls were made and %d counted, want one more made", made, counted)
	}
}

func TestConnectionsThatCloseLeaveTheBytesUnknown(t *testing.T) {
	trial := whole(t, toyJob(serve(t, 5)), toyProtocol(nil))
	if trial.Outcomes.Failed["reset"] == 0 || len(trial.Examples) == 0 || trial.Values[result.Dials] == 0 {
		t.Errorf("outcomes %+v, examples %+v, %v dials", trial.Outcomes, trial.Examples, trial.Values[result.Dials])
	}
	if _, ok := trial.Values[result.SentPerReq]; ok || !slices.Equal(doubts(trial), []string{"bytes_unknown", result.WarnRedialled}) {
		t.Errorf("values %v, warnings %+v", trial.Values, trial.Warnings)
	}
}

// TestDialsThatWereAskedFor are no doubt about the figures.
func TestDialsThatWereAskedFor(t *testing.T) {
	trial := whole(t, toyJob(serve(t, 5)), func(j Job) (protocol.Protocol, error) {
		p, err := toyProtocol(nil)(j)
		p.Kept = func(protocol.Options) int { return 0 }
		return p, err
	})
	if trial.Values[result.Dials] == 0 || slices.Contains(doubts(trial), result.WarnRedialled) {
		t.Errorf("%v dials, doubts %v", trial.Values[result.Dials], doubts(trial))
	}
}

func TestACallThatNeverEndsIsAWarning(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the load's patience")
	}
	job := toyJob(serve(t, 0))
	job.Warmup, job.Grace, job.CallTimeout, job.Turns = 0, 0, 0, 2
	trial := whole(t, job, toyProtocol(func(c *toy) { c.deaf = true }))
	if *trial.TurnsMade != 1 { // of two: see job
		t.Errorf("%d turns made, want the one with the calls that did not return", *trial.TurnsMade)
	}
	if trial.Outcomes.Started != 4 || trial.Outcomes.CutOff != 4 || len(trial.Warnings) != 1 || trial.Warnings[0].Kind != "stuck_calls" {
		t.Errorf("outcomes %+v, warnings %+v", trial.Outcomes, trial.Warnings)
	}
	if _, ok := trial.Values[result.SentPerReq]; ok {
		t.Error("bytes per request of no request")
	}
}

func TestWhatFailsIsSaidOnALine(t *testing.T) {
	good := toyJob(serve(t, 0))
	change := func(f func(*Job)) Job { j := good; f(&j); return j }
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for _, row := range []struct {
		job     any
		subject func(Job) (protocol.Protocol, error)
		want    string
	}{
		{"no object", nil, "job: json: cannot unmarshal string"},
		{map[string]any{"subjekt": "toy"}, nil, `job: json: unknown field "subjekt"`},
		{change(func(j *Job) { j.Workload = "datatpye" }), nil, `job: unknown workload "datatpye": did you mean "datatype"?`},
		{change(func(j *Job) { j.Concurrency = 0 }), nil, "job: concurrency is 0: want 1 to 100000"},
		{change(func(j *Job) { j.Concurrency = 5 }), nil, "job: options.in_flight is 4, less than the concurrency, 5"},
		{change(func(j *Job) { j.Duration = 0 }), nil, "job: duration_ns is 0"},
		{change(func(j *Job) { j.Auth = true }), nil, "job: auth needs client_id and secret"},
		{change(func(j *Job) { j.Rate = "fast" }), nil, `job: rate "fast": "fast" is not a whole number of calls a second`},
		{change(func(j *Job) { j.Arrivals = "bursty" }), nil, `job: unknown arrivals "bursty"`},
		{change(func(j *Job) { j.MaxFailures = 2 }), nil, "job: max_failures is 2: want a share from 0 to 1"},
		{change(func(j *Job) { j.Turns = 11 }), nil, "job: turns is 11: want 1 to 10"},
		{change(func(j *Job) { j.Turns, j.Rate = 5, "500" }), nil, `job: turns is 5, iterations 0 and rate "500": only a closed loop of a duration is measured in turns`},
		{good, func(Job) (protocol.Protocol, error) { return protocol.Protocol{}, errors.New("unknown protocol") }, "unknown protocol"},
		{change(func(j *Job) { j.Addr = l.Addr().String() }), nil, "dial " + l.Addr().String() + " over toy: dial tcp"},
		{good, toyProtocol(func(c *toy) { c.wrong = true }), "are wrong_answer: the answer is {Token: CodeID:1 CnName:}"},
	} {
		if row.subject == nil {
			row.subject = toyProtocol(nil)
		}
		parent, hangUp, ended := drive(t, t.Context(), row.subject)
		parent.Send(row.job)
		_, err := parent.Expect(t.Context(), control.Ready)
		var remote *control.RemoteError
		if !errors.As(err, &remote) || !strings.Contains(remote.Msg, row.want) {
			t.Errorf("line %v, want %s", err, row.want)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("returned %v, want %s", err, row.want)
		}
		hangUp()
	}
}

// TestTheDriverEndsWithItsParent closes its stdin at each point of the conversation.
func TestTheDriverEndsWithItsParent(t *testing.T) {
	for _, point := range []string{"before the job", "warming up", "ready", "measuring", "done"} {
		t.Run(point, func(t *testing.T) {
			job := toyJob(serve(t, 0))
			if point == "warming up" {
				job.Warmup = time.Hour
			}
			if point == "measuring" {
				job.Duration = time.Hour
			}
			var called chan struct{}
			dialled := make(chan struct{})
			parent, hangUp, ended := drive(t, t.Context(), toyProtocol(func(c *toy) { called = c.called; close(dialled) }))
			if point != "before the job" {
				parent.Send(job)
			}
			switch point {
			case "warming up":
				<-dialled
				<-called
			case "ready", "measuring", "done":
				parent.Expect(t.Context(), control.Ready)
			}
			if point == "measuring" || point == "done" {
				parent.Send(control.Line{Event: control.Go})
			}
			if point == "done" {
				parent.Expect(t.Context(), control.Done)
			}
			hangUp()
			err := <-ended
			if point == "before the job" {
				if err == nil || !strings.Contains(err.Error(), "before a job came") {
					t.Errorf("ended with %v", err)
				}
			} else if !errors.Is(err, control.ErrGone) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestTheDriverEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	job := toyJob(serve(t, 0))
	job.Duration = time.Hour
	parent, _, ended := drive(t, ctx, toyProtocol(nil))
	parent.Send(job)
	parent.Expect(t.Context(), control.Ready)
	parent.Send(control.Line{Event: control.Go})
	why := errors.New("interrupted")
	cancel(why)
	_, err := parent.Expect(t.Context(), control.Done)
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("the line is %v", err)
	}
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("ended with %v", err)
	}
}

func FuzzParseJob(f *testing.F) {
	good, _ := json.Marshal(toyJob("127.0.0.1:1"))
	f.Add(good)
	f.Add([]byte(`{"subject":"grpc"} {}`))
	f.Add([]byte(`{"subject":"grpc","addr":"x","concurrency":1e300}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		j, err := ParseJob(line)
		if err != nil {
			return
		}
		_, unknown := workload.Find(j.Workload)
		if unknown != nil || j.Concurrency < 1 || j.Options.InFlight < j.Concurrency || j.Duration <= 0 || j.Options.DialContext == nil {
			t.Errorf("accepted %+v", j)
		}
	})
}
