// Package doctor examines a machine before it measures: what on it would spoil figures, and what to do about that. Each check is
// a documented value over a Machine, whose files are below a root that is given: tests examine machines that are not there. The package
// changes nothing, prints nothing, and knows no protocols.
package doctor

import (
	"os"
	"path/filepath"
	"strings"

	"bakeoff/harness/run"
)

// Level says how bad a finding is.
type Level string

// The levels. Unknown is neither good nor bad: the machine does not show it.
const (
	OK      Level = "ok"
	Unknown Level = "unknown"
	Warn    Level = "warn" // figures will be noisier, or of this machine only
	Bad     Level = "bad"  // what is planned can't work, or its figures would be worthless
)

// Finding is what one check found. Advice is what to do; empty where there is nothing.
type Finding struct {
	Name   string `json:"name"`
	Level  Level  `json:"level"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"`
	// Spoils says that the finding concerns the figures of a run, and not only whether it can start.
	Spoils bool `json:"spoils,omitempty"`
}

// Machine is what is examined. Use This for the one that we are on.
type Machine struct {
	// Root is where its file system begins.
	Root string
	// Getenv looks up the environment; "" is not set.
	Getenv func(string) string
	// CPUs are those that the processes may run on; none is unknown.
	CPUs []int
	// GOMAXPROCS is how many CPUs Go uses here.
	GOMAXPROCS int
}

// Plan is the most that one process of what is planned needs at a time.
type Plan struct {
	Conns    int
	InFlight int
	Roles    []string // of the processes that run side by side
}

// DefaultPlan is larger than the default run by far: the largest level of the published experiments.
var DefaultPlan = Plan{Conns: 800, InFlight: 800, Roles: []string{run.Server, run.Driver, run.Store}}

// Check is one thing to look at.
type Check struct {
	Name, Doc string
	Spoils    bool // as in Finding
	Look      func(Machine, Plan) Finding
}

// All are the checks, in the order in which they are shown.
var All = []Check{
	{"cpus", "cores, their threads and NUMA nodes, and who gets which", true, cpus},
	{"governor", "whether the CPUs' clock depends on their load", true, governor},
	{"turbo", "whether the CPUs' clock depends on their heat and on how many are busy", true, turbo},
	{"steal", "CPU time that a hypervisor gave to others", true, steal},
	{"load", "what else is running", true, load},
	{"cgroup", "control groups and their CPU quota", true, cgroup},
	{"memory", "what is free", true, memory},
	{"clock", "what reading the time costs", true, clock},
	{"descriptors", "file descriptors that a process may open", false, descriptors},
	{"ports", "local ports for outgoing connections", false, ports},
	{"tracking", "room in the kernel's table of connections, where it keeps one", true, tracking},
	{"container", "what the processes are wrapped in", false, container},
	{"proxies", "proxy variables, which hijack connections of some libraries", false, proxies},
}

// Examine makes all checks.
func Examine(m Machine, p Plan) []Finding {
	var all []Finding
	for _, c := range All {
		f := c.Look(m, p)
		f.Name, f.Spoils = c.Name, c.Spoils
		all = append(all, f)
	}
	return all
}

// Healthy says that nothing is bad.
func Healthy(all []Finding) bool {
	for _, f := range all {
		if f.Level == Bad {
			return false
		}
	}
	return true
}

// String is the finding in one line.
func (f Finding) String() string {
	if f.Advice == "" {
		return f.Found
	}
	return f.Found + ": " + f.Advice
}

// read gives a file of the machine without the blanks around it, "" where it can't be read.
func (m Machine) read(path string) string {
	b, err := os.ReadFile(filepath.Join(m.Root, path))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
