// Package admin is how a process that runs by itself tells what it has used: an HTTP listener beside whatever it serves, and the
// client that a run reads it with. It answers what it is asked and samples nothing, so that a reading at each edge of a window
// is all that a window costs. It knows nothing of protocols, trials or flags.
//
//	GET  /health     200 while the process can answer
//	GET  /ready      200 while it serves and what it tells of can be read, 503 otherwise
//	GET  /info       Info: what it is, version and effective options; 503 before it is ready
//	GET  /usage      Usage: what the process has used and counted so far
//	GET  /runtime    figures of its Go runtime, by the names of runtime/metrics
//	GET  /metrics    the same for Prometheus
//	POST /examine    Examination: another server like this one, for as long as the request lasts, whose answers may be checked
//	GET  /debug/pprof/...  where it was asked for
//
// Whoever reaches the listener can read all of it and start one examination at a time. So it listens on loopback unless told
// otherwise, and answers only to names that are its own (see hosts.go).
package admin

import (
	"encoding/json"
	"time"

	"bakeoff/harness/meter"
)

// Kind is how a listener of this package is told from others, Schema the version of its JSON: it grows when a field changes its
// meaning.
const (
	Kind   = "bakeoff-admin"
	Schema = 1
)

// The roles of a process that has such a listener.
const (
	RoleServer = "server"
	RoleStore  = "store"
	RoleAgent  = "agent" // it tells of another process
)

// Info is what does not change while the process serves.
type Info struct {
	Kind    string `json:"kind"`
	Schema  int    `json:"schema"`
	Role    string `json:"role"`
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	// CPUs is how many CPUs the process may run on, GOMAXPROCS how many its Go runtime uses at a time.
	CPUs       int `json:"cpus"`
	GOMAXPROCS int `json:"gomaxprocs"`
	// Serves is the subject of a server ("grpc"), or what an agent reads ("process 12 (asd)").
	Serves string `json:"serves"`
	// Addr is where it serves, as it sees it.
	Addr string `json:"addr,omitempty"`
	// Store is the store that a server uses, in words.
	Store string `json:"store,omitempty"`
	// Auth says that a server wants tokens.
	Auth bool `json:"auth,omitempty"`
	// Options are a server's effective ones, as in a result file.
	Options json.RawMessage `json:"options,omitempty"`
	// Examines says that the server can be examined.
	Examines bool `json:"examines,omitempty"`
}

// Usage is one reading. What is unknown is absent.
type Usage struct {
	meter.Reading
	// Uptime is how long the process that answers had run when it read, by a clock that nobody sets: the difference of two
	// is the time between them.
	Uptime time.Duration `json:"uptime_ns"`
	// Counters are what was asked of it since it started, by kind: "calls" of a server, the operations of a store.
	Counters map[string]int64 `json:"counters,omitempty"`
	// Throttled is how often a CPU quota ran out.
	Throttled *meter.Throttled `json:"throttled,omitempty"`
}

// Examination is the only line of an answer to /examine, which then stays open: the port of a server like this one that has what
// the conformance kit asks for. It is on the same host.
type Examination struct {
	Port  int    `json:"port"`
	Error string `json:"error,omitempty"`
}
