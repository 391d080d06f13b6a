package result

import "encoding/json"

// Target is a server that ran already, and how it was read. Where it was is for the command line to tell.
type Target struct {
	// Network is where it is, seen from the driver: NetworkLoopback, NetworkHost or NetworkRemote.
	Network string `json:"network"`
	// Meter is what told its CPU, memory and counts: MeterAdmin, MeterAgent, or "" for nothing.
	Meter string `json:"meter,omitempty"`
	// Checked is how much of the conformance kit it could be asked ("11 of 44 vectors"); empty is all of it.
	Checked string `json:"checked,omitempty"`
	// What its admin listener says of it: version of bakeoff and of Go, the CPUs that it may use, its effective options.
	Version    string          `json:"version,omitempty"`
	Go         string          `json:"go,omitempty"`
	CPUs       int             `json:"cpus,omitempty"`
	GOMAXPROCS int             `json:"gomaxprocs,omitempty"`
	Options    json.RawMessage `json:"options,omitempty"`
}

// The values of Target.Network.
const (
	NetworkLoopback = "loopback"
	NetworkHost     = "this host" // by an address that is not loopback's
	NetworkRemote   = "network"
)

// The values of Target.Meter.
const (
	MeterAdmin = "admin" // its own
	MeterAgent = "agent" // of a process beside it
)

// The kinds of warnings of trials with what ran already.
const (
	WarnNotRestarted  = "not_restarted"  // the server ran already: rounds are not fresh processes
	WarnMeterLost     = "meter_lost"     // a process that ran already could not be read at both edges, or was restarted between them
	WarnPartlyChecked = "partly_checked" // the server ran already, and could be asked only a part of the conformance kit
	WarnBackendUnread = "backend_unread" // the server ran already and asks another one, which nothing reads
	WarnTargets       = "targets"        // of a run: which subjects ran already, and how they were read
)
