// Package result is the file in which those who run and those who report meet: one JSON document a line, first a
// header, then one line for each trial, flushed as it ends. It knows nothing of what measured or of what prints.
package result

import (
	"encoding/json"
	"time"
)

// Schema is the version of the file's form. It grows when a field changes its meaning; Read turns what is older into this one.
//
//	1  the first
//	2  Subject.Differences holds differences alone: that a subject could not be checked is in Subject.Unchecked, and no longer the first of them
const Schema = 2

// Header is the first line: everything that is the same for all trials.
type Header struct {
	Schema     int             `json:"schema"`
	Kind       string          `json:"kind"` // "bakeoff-header"
	Version    string          `json:"version"`
	Experiment string          `json:"experiment"`
	Started    time.Time       `json:"started"`
	Command    []string        `json:"command"`
	Seed       uint64          `json:"seed"`
	Baseline   string          `json:"baseline,omitempty"`
	Precision  *Precision      `json:"precision,omitempty"`
	FindRate   *FindRate       `json:"find_rate,omitempty"`
	Planned    int             `json:"planned"` // trials
	Settings   json.RawMessage `json:"settings,omitempty"`
	Subjects   []Subject       `json:"subjects"`
	Env        Environment     `json:"environment"`
	Warnings   []Warning       `json:"warnings,omitempty"`
}

// Precision is what a run was told that goes on until an interval is narrow: what it looked at, and when. Who judges its figures
// needs it, because each look is a chance to be fooled (see stats.LookAlpha).
type Precision struct {
	Figure string  `json:"figure"` // a metric of the report
	Target float64 `json:"target"` // half the width of the interval, as a share
	First  int     `json:"first"`  // rounds at the first look; each next one has twice as many
}

// Subject is a contestant and the verdict of the conformance gate on it.
type Subject struct {
	Name        string   `json:"name"`
	Doc         string   `json:"doc"`
	Multiplexed bool     `json:"multiplexed"`
	Conformant  bool     `json:"conformant"`
	Differences []string `json:"differences,omitempty"`
	// Plain is the name of the subject that differs from this one in having no TLS; empty where this one has none either.
	Plain string `json:"plain,omitempty"`
	// Alone is the name of the subject that differs from this one in having no hop to a backend; empty where this one has none either.
	Alone string `json:"alone,omitempty"`
	// Uncompressed is the name of the subject that differs from this one in compressing nothing; empty where this one does not either.
	Uncompressed string `json:"uncompressed,omitempty"`
	// Unchecked is why its answers could not be checked; empty where they were.
	Unchecked string `json:"unchecked,omitempty"`
	// Target is absent where each trial had a server of its own.
	Target *Target `json:"target,omitempty"`
}

// Environment is what a sceptic asks about the machine. Empty fields are unknown.
type Environment struct {
	CPUModel   string            `json:"cpu_model,omitempty"`
	CPUs       int               `json:"cpus,omitempty"`
	Kernel     string            `json:"kernel,omitempty"`
	OS         string            `json:"os,omitempty"`
	Arch       string            `json:"arch,omitempty"`
	MemBytes   uint64            `json:"mem_bytes,omitempty"`
	Go         string            `json:"go,omitempty"`
	GOMAXPROCS int               `json:"gomaxprocs,omitempty"`
	GoEnv      map[string]string `json:"go_env,omitempty"` // GOGC, GOMEMLIMIT, GODEBUG as set
	CPUQuota   float64           `json:"cpu_quota,omitempty"`
	Container  string            `json:"container,omitempty"`
	Modules    map[string]string `json:"modules,omitempty"`
	Git        string            `json:"git,omitempty"` // revision that bakeoff was built from, "+dirty" when the tree was changed; as stamped into it
	// The revision of the checkout in which a bakeoff without a stamp was started (go run): it need not be what was built.
	GitWorkingDirectory string `json:"git_working_directory,omitempty"`
}

// Trial is one measurement, whole or failed.
type Trial struct {
	Kind     string `json:"kind"` // KindTrial or KindSearch
	Subject  string `json:"subject"`
	Workload string `json:"workload"`
	Mode     string `json:"mode"` // ModeClosed or ModeOpen
	// Rate is the calls a second of the open loop as it was asked for ("500", "500..2000"), Arrivals how they follow one
	// another; both are empty in the closed loop.
	Rate        string `json:"rate,omitempty"`
	Arrivals    string `json:"arrivals,omitempty"`
	Concurrency int    `json:"concurrency"`
	Conns       int    `json:"conns"`
	Round       int    `json:"round"`
	Order       int    `json:"order"`
	Seed        uint64 `json:"seed"`
	Store       string `json:"store"`
	// Messages is how many messages one iteration carries.
	Messages int       `json:"messages"`
	Started  time.Time `json:"started"`
	// Turns is in how many parts the window was to be measured, in turns with other trials; absent or 1 is one piece.
	Turns int `json:"turns,omitempty"`
	// TurnsMade is how many of them were measured, from 0: fewer than planned where the trial failed, where too many of its calls did (the turn that
	// was stopped for it is counted), or where calls did not return. A window of one piece is one turn. It is absent where that is not known.
	TurnsMade *int            `json:"turns_made,omitempty"`
	Window    float64         `json:"window"`  // seconds in which calls were started
	Elapsed   float64         `json:"elapsed"` // seconds between the readings of the meters: the window and the drains of its turns
	Options   json.RawMessage `json:"options,omitempty"`
	// CPUSets names the CPUs of each role ("0-1"); empty where nothing was pinned.
	CPUSets  map[string]string `json:"cpu_sets,omitempty"`
	Outcomes Outcomes          `json:"outcomes"`
	Examples []Example         `json:"examples,omitempty"`
	// Values are figures in base units (seconds, bytes, counts; see the Value constants). What is unknown is absent.
	Values     map[string]float64 `json:"values,omitempty"`
	Histograms []Histogram        `json:"histograms,omitempty"`
	// Slices are equal parts of the window, in their order: what a test for drift was made of.
	Slices []Slice `json:"slices,omitempty"`
	// Firsts are the first iterations of a workload of several steps, at most 50, in their order.
	Firsts   []Iteration `json:"first_iterations,omitempty"`
	Warnings []Warning   `json:"warnings,omitempty"`
	// Search is what a trial of a search was for; nil in all others.
	Search *Search `json:"search,omitempty"`
	// Error is why the trial has no figures to be ranked by; the rest of the trial is then as far as it came.
	Error string `json:"error,omitempty"`
	// Resumed is how often the run had been resumed when this was measured; absent in what it measured at first.
	Resumed int `json:"resumed,omitempty"`
	// Line is where Read found the trial, from 1; 0 for a trial that was not read from a file.
	Line int `json:"-"`
}

// The values of Trial.Mode.
const (
	ModeClosed = "closed" // each worker's next call is due when its last one has ended
	ModeOpen   = "open"   // calls are due at a rate, whatever has become of those before
)

// The names of Values. "per_req" divides by the calls that ended (ok and failed) between the readings.
const (
	Throughput      = "throughput"              // ok calls a second: of the window (open loop), of the workers' time (closed)
	ServerCPU       = "server_cpu"              // s
	ClientCPU       = "client_cpu"              // s
	StoreCPU        = "store_cpu"               // s
	ServerCPUPerReq = "server_cpu_per_req"      // s
	ClientCPUPerReq = "client_cpu_per_req"      // s
	StoreCPUPerReq  = "store_cpu_per_req"       // s; absent where the store has no process of its own
	SentPerReq      = "bytes_sent_per_req"      // bytes written by the client's sockets
	ReceivedPerReq  = "bytes_received_per_req"  // bytes
	ServerRSS       = "server_rss"              // bytes, peak
	ClientRSS       = "client_rss"              // bytes, peak
	StoreRSS        = "store_rss"               // bytes, peak
	ServerSwitches  = "server_switches_per_req" // context switches, voluntary and not
	ClientSwitches  = "client_switches_per_req" // context switches
	StoreOps        = "store_ops_"              // and the kind: operations that the store counted
	Dials           = "dials"                   // connections opened within the readings
	TargetRate      = "target_rate"             // open loop: iterations due in the window, a second
	AchievedRate    = "achieved_rate"           // open loop: those of them that were started, a second
	LatenessP50     = "lateness_p50"            // s, open loop: from when an iteration was due to when it was sent
	LatenessP99     = "lateness_p99"            // s
	LatenessMax     = "lateness_max"            // s
	InFlight        = "in_flight"               // calls in flight, mean over the window: time spent in calls over time
	ServerCalls     = "server_calls"            // calls that the server says it was asked to handle

	// Of the server that a front asks for each call; absent where the server answers by itself.
	BackendCPU       = "backend_cpu"              // s
	BackendCPUPerReq = "backend_cpu_per_req"      // s
	BackendRSS       = "backend_rss"              // bytes, peak
	BackendSwitches  = "backend_switches_per_req" // context switches
	BackendCalls     = "backend_calls"            // calls that it says it was asked to handle
)

// Outcomes partition the calls that were started: Started = OK + Failed(all classes) + CutOff.
type Outcomes struct {
	Started uint64            `json:"started"`
	OK      uint64            `json:"ok"`
	Failed  map[string]uint64 `json:"failed,omitempty"`
	CutOff  uint64            `json:"cut_off"`
	// Dropped calls were due and never started.
	Dropped uint64 `json:"dropped"`
}

// FailedTotal adds the classes up.
func (o Outcomes) FailedTotal() uint64 {
	var n uint64
	for _, c := range o.Failed {
		n += c
	}
	return n
}

// Example is one message out of a class of failures.
type Example struct {
	Class   string `json:"class"`
	Message string `json:"message"`
	Count   uint64 `json:"count"`
}

// Histogram holds the times of every call of one step and outcome: an HdrHistogram in nanoseconds (three
// significant digits, to 120 s) in its compressed V2 form, base64.
type Histogram struct {
	Step    string  `json:"step"`
	Outcome string  `json:"outcome"` // "ok" or a class of failure
	Time    string  `json:"time"`    // "response" (from due) or "service" (from sent)
	Count   int64   `json:"count"`
	Min     int64   `json:"min_ns"` // exact
	Mean    float64 `json:"mean_ns"`
	Max     int64   `json:"max_ns"` // exact
	Data    string  `json:"data"`
}

// Slice is the calls that succeeded and ended in one of equal parts of the window.
type Slice struct {
	OK   uint64  `json:"ok"`
	Mean float64 `json:"mean_ns"` // of their response times; 0 without calls
	// CPU is what the processes used in that part, in seconds, by role: "server", "client", "store". A role is absent where
	// that is unknown.
	CPU map[string]float64 `json:"cpu,omitempty"`
}

// Iteration is one pass through the steps of a workload.
type Iteration struct {
	N int `json:"n"` // from 1
	// Steps are the response times of the steps that ended, in their order; a step that failed is the last.
	Steps   []int64 `json:"steps_ns"`
	Outcome string  `json:"outcome"` // "ok", or the class of the failure
}

// The kinds of warnings that are raised where trials are made and drawn conclusions from where they are reported.
const (
	WarnDriverLimited  = "driver_limited"
	WarnRateMissed     = "rate_missed"     // under 99 % of the due iterations were started
	WarnDropped        = "dropped"         // over 0.1 % of the due iterations were never started
	WarnDrift          = "drift"           // a trend within the window
	WarnThrottled      = "throttled"       // a CPU quota ran out
	WarnPacketsDropped = "packets_dropped" // the kernel's table of connections was full
	WarnShortWindow    = "short_window"    // a closed loop whose workers made few calls each
	WarnLittle         = "little"          // in flight is not rate x latency
	WarnRedialled      = "redialled"       // connections were dialled while measuring
	WarnServerCount    = "server_count"    // the server handled other than the calls that were made
	WarnStoreCount     = "store_count"     // the store did other than what the calls ask for
)

// Warning is a doubt that travels with a number.
type Warning struct {
	Kind string `json:"kind"` // "driver_limited", "shared_cpu", "too_few_rounds", ...
	Text string `json:"text"`
}
