package drive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"bakeoff/harness/load"
	"bakeoff/harness/plan"
	"bakeoff/harness/record"
	"bakeoff/harness/workload"
	"bakeoff/protocol"
)

// Job is what a driver is told to do: the first line on its stdin. Durations are in nanoseconds.
type Job struct {
	Subject  string           `json:"subject"` // the protocol's name
	Addr     string           `json:"addr"`    // host:port of the server
	Options  protocol.Options `json:"options"`
	Workload string           `json:"workload"`
	// Concurrency is the number of workers: the calls in flight, or in the open loop their bound.
	Concurrency int    `json:"concurrency"`
	Seed        uint64 `json:"seed"`
	// Warmup is traffic before the window, outside every counter; 0 is none.
	Warmup time.Duration `json:"warmup_ns"`
	// Duration is the window in which calls are started.
	Duration time.Duration `json:"duration_ns"`
	// Turns is in how many equal parts, each with a "go" of its own, a closed loop's Duration is measured; 0 and 1 are one piece.
	Turns int `json:"turns,omitempty"`
	// Iterations ends the closed loop, or Duration does if it is over before; 0 is no bound.
	Iterations uint64 `json:"iterations,omitempty"`
	// Grace is how long calls in flight at the window's end may take to end by themselves.
	Grace time.Duration `json:"grace_ns"`
	// CallTimeout ends a call; 0 leaves it to the protocol (Options.Timeout).
	CallTimeout time.Duration `json:"call_timeout_ns"`
	// Rate is the total calls a second of the open loop (see load.ParseProfile); empty is the closed loop.
	Rate string `json:"rate,omitempty"`
	// Arrivals is how the calls of an open loop follow one another (see load.AllArrivals); empty is the default.
	Arrivals string `json:"arrivals,omitempty"`
	// MaxFailures is the share of the calls that may fail; with more the trial has no figures. 0 is no limit.
	MaxFailures float64 `json:"max_failures,omitempty"`
	// Tell is how often a "so_far" line is written while the load runs; 0 is never.
	Tell time.Duration `json:"tell_ns,omitempty"`
	// Lines has each step written as it ends; nil for none.
	Lines *Lines `json:"lines,omitempty"`
	// Auth has each request carry the client's token.
	Auth     bool   `json:"auth,omitempty"`
	ClientID string `json:"client_id,omitempty"`
	Secret   string `json:"secret,omitempty"`
}

// DefaultGrace is ample for a call that is answered at all, and short beside a run.
const DefaultGrace = 2 * time.Second

// maxConcurrency bounds the workers: beyond it a job is a mistake, and a goroutine with a buffer for each would hide it.
const maxConcurrency = 100_000

// maxTurns bounds the turns: as many as there are slices to look for a trend in.
const maxTurns = plan.MostTurns

// The plan's turns and the record's slices are parts of one another: this does not compile where they differ in number.
const _ = uint(record.Slices-plan.MostTurns) + uint(plan.MostTurns-record.Slices)

// ParseJob reads a job, and refuses one that names what does not exist or could not be carried out.
func ParseJob(line []byte) (Job, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var j Job
	if err := d.Decode(&j); err != nil {
		return Job{}, fmt.Errorf("job: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Job{}, errors.New("job: more than one object on the line")
	}
	if err := j.check(); err != nil {
		return Job{}, fmt.Errorf("job: %w", err)
	}
	j.Options = j.Options.Defaulted()
	j.Turns = max(1, j.Turns)
	return j, nil
}

func (j Job) check() error {
	switch {
	case j.Subject == "":
		return errors.New("subject is empty")
	case j.Addr == "":
		return errors.New("addr is empty: the server's host:port")
	case j.Concurrency < 1 || j.Concurrency > maxConcurrency:
		return fmt.Errorf("concurrency is %d: want 1 to %d", j.Concurrency, maxConcurrency)
	case j.Options.InFlight < j.Concurrency:
		return fmt.Errorf("options.in_flight is %d, less than the concurrency, %d: calls would wait for the client and not for the server",
			j.Options.InFlight, j.Concurrency)
	case j.Options.Conns < 1:
		return fmt.Errorf("options.conns is %d: want at least 1", j.Options.Conns)
	case j.Duration <= 0:
		return fmt.Errorf("duration_ns is %d: want more than 0", j.Duration)
	case j.Iterations > 0 && j.Rate != "":
		return fmt.Errorf("iterations is %d and rate %q: a number of iterations ends the closed loop alone", j.Iterations, j.Rate)
	case j.Turns < 0 || j.Turns > maxTurns:
		return fmt.Errorf("turns is %d: want 1 to %d", j.Turns, maxTurns)
	case j.Turns > 1 && (j.Iterations > 0 || j.Rate != ""):
		return fmt.Errorf("turns is %d, iterations %d and rate %q: only a closed loop of a duration is measured in turns", j.Turns, j.Iterations, j.Rate)
	case j.Warmup < 0 || j.Grace < 0 || j.CallTimeout < 0 || j.Tell < 0:
		return fmt.Errorf("warmup_ns is %d, grace_ns %d, call_timeout_ns %d, tell_ns %d: none may be below 0", j.Warmup, j.Grace, j.CallTimeout, j.Tell)
	case j.Lines != nil && j.Lines.File == "":
		return errors.New("lines.file is empty")
	case j.Auth && (j.ClientID == "" || j.Secret == ""):
		return errors.New("auth needs client_id and secret")
	}
	if !(j.MaxFailures >= 0 && j.MaxFailures <= 1) {
		return fmt.Errorf("max_failures is %v: want a share from 0 to 1", j.MaxFailures)
	}
	if _, _, err := j.pace(); err != nil {
		return err
	}
	_, err := workload.Find(j.Workload)
	return err
}

// pace reads how calls come. The profile is zero in the closed loop.
func (j Job) pace() (load.Profile, load.Arrivals, error) {
	a, err := load.FindArrivals(j.Arrivals)
	if err != nil || j.Rate == "" {
		return load.Profile{}, a, err
	}
	p, err := load.ParseProfile(j.Rate)
	return p, a, err
}
