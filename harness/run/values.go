package run

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"bakeoff/harness/meter"
	"bakeoff/harness/result"
	"bakeoff/internal/plural"
)

// The shares above which a row is in doubt.
const (
	driverLimit = 0.85 // of the driver's CPUs
	stolenLimit = 0.01 // of the time of the CPUs in use
)

func (r *runner) describeCPUs(out *result.Trial) {
	if len(r.cpus) > 0 {
		out.CPUSets = make(map[string]string, len(r.cpus))
		for role, cpus := range r.cpus {
			out.CPUSets[role] = FormatCPUs(cpus)
		}
	}
	out.Warnings = slices.Clone(r.shared)
}

// evaluate turns what was read at the edges of the turns into values and warnings. The counts of calls must be in out already.
func (f *family) evaluate(out *result.Trial) {
	if out.Values == nil {
		out.Values = map[string]float64{}
	}
	driver, server, store := f.total.driver, f.total.server, f.total.store
	if f.target != nil && server != nil && idle(server.CPU, out.Outcomes.OK) {
		f.lose("the server", &otherError{server.CPU, out.Outcomes.OK})
		server = nil
	}
	out.Elapsed = driver.Elapsed.Seconds()
	ended := out.Outcomes.OK + out.Outcomes.FailedTotal()
	setUsage(out.Values, ended, driver, names{result.ClientCPU, result.ClientCPUPerReq, result.ClientRSS, result.ClientSwitches})
	setUsage(out.Values, ended, server, names{result.ServerCPU, result.ServerCPUPerReq, result.ServerRSS, result.ServerSwitches})
	setUsage(out.Values, ended, f.total.backend, names{result.BackendCPU, result.BackendCPUPerReq, result.BackendRSS, result.BackendSwitches})
	setUsage(out.Values, ended, store, names{result.StoreCPU, result.StoreCPUPerReq, result.StoreRSS, ""})

	out.Warnings = append(out.Warnings, f.lostWarnings()...)
	out.Warnings = append(out.Warnings, limitWarnings(driver, server, f.count(Driver), f.serverCPUs())...)
	// The machine's counters move in steps of 10 ms: they are read over all turns at once, those of others in between included.
	host := meter.SubHost(f.last.near.host, f.first.near.host)
	out.Warnings = append(out.Warnings, hostWarnings(host.Throttled, host.Stolen(f.all()))...)
	out.Warnings = append(out.Warnings, droppedWarning(host.Dropped)...)
	out.Warnings = append(out.Warnings, farThrottled("the server's", f.last.far.server, f.first.far.server)...)
	out.Warnings = append(out.Warnings, farThrottled("the store's", f.last.far.store, f.first.far.store)...)
}

// The CPU time of a call below which nothing answers it: one read and one write of a socket take more. And how far off the reading of a process
// may be, where the kernel counts in ticks.
const (
	leastCPU  = 500 * time.Nanosecond
	unseenCPU = 10 * time.Millisecond
)

// idle says that a process which used so much CPU is none that answered so many calls.
func idle(cpu time.Duration, answered uint64) bool {
	return cpu+unseenCPU < time.Duration(answered)*leastCPU
}

// farThrottled doubts a row of which a process elsewhere was held up by its quota.
func farThrottled(whose string, after, before *Remote) []result.Warning {
	if after == nil || before == nil {
		return nil
	}
	return throttledWarning(whose, meter.SubThrottled(after.Throttled, before.Throttled))
}

// names are those of one process's values; "" for one that is not kept.
type names struct{ cpu, cpuPerReq, rss, switches string }

// setUsage writes what is known of a process, and nothing of what is not. ended is the number of calls to divide by.
func setUsage(values map[string]float64, ended uint64, u *meter.Usage, n names) {
	if u == nil {
		return
	}
	values[n.cpu] = u.CPU.Seconds()
	if ended > 0 {
		values[n.cpuPerReq] = u.CPU.Seconds() / float64(ended)
	}
	if u.RSSPeak != nil {
		values[n.rss] = float64(*u.RSSPeak)
	}
	if s := u.Switches(); s != nil && ended > 0 && n.switches != "" {
		values[n.switches] = float64(*s) / float64(ended)
	}
}

// count is how many CPUs a role has.
func (r *runner) count(role string) int {
	if n := len(r.cpus[role]); n > 0 {
		return n
	}
	return runtime.NumCPU()
}

// serverCPUs is how many CPUs the server has; 0 is unknown.
func (f *family) serverCPUs() int {
	if f.target != nil {
		return f.target.CPUs
	}
	return f.count(Server)
}

// all are the CPUs of all roles; none for all of the machine.
func (r *runner) all() []int {
	var all []int
	for _, cpus := range r.cpus {
		all = append(all, cpus...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// limitWarnings doubts a row whose driver was near the end of its CPUs: then the driver, and not the server, may be
// what the figures measure. The server's share stands beside it, where it is known, so that a reader sees who was first.
func limitWarnings(driver, server *meter.Usage, driverCPUs, serverCPUs int) []result.Warning {
	d := driver.Cores()
	if d == nil || *d/float64(driverCPUs) <= driverLimit {
		return nil
	}
	beside := "what the server used is unknown"
	if server != nil && server.Cores() != nil && serverCPUs > 0 {
		beside = "the server " + shareOf(*server.Cores(), serverCPUs)
	}
	return []result.Warning{{Kind: result.WarnDriverLimited, Text: fmt.Sprintf(
		"the driver used %s (%s): over %.0f %% the driver may be the limit", shareOf(*d, driverCPUs), beside, 100*driverLimit)}}
}

func shareOf(cores float64, cpus int) string {
	return fmt.Sprintf("%.0f %% of its %s", 100*cores/float64(cpus), plural.Of(cpus, "CPU"))
}

// hostWarnings doubts a row whose processes were held up from outside.
func hostWarnings(throttled *meter.Throttled, stolen *float64) []result.Warning {
	all := throttledWarning("a", throttled)
	if s := stolen; s != nil && *s > stolenLimit {
		all = append(all, result.Warning{Kind: "stolen", Text: fmt.Sprintf(
			"the hypervisor gave %.1f %% of the CPUs' time to others", 100**s)})
	}
	return all
}

// droppedWarning is about packets that were sent again after a second or more, those of connections that were being made first of all.
func droppedWarning(packets *uint64) []result.Warning {
	if packets == nil || *packets == 0 {
		return nil
	}
	return []result.Warning{{Kind: result.WarnPacketsDropped, Text: fmt.Sprintf(
		"the kernel dropped %s, its table of connections being full: calls that dial waited for seconds ('bakeoff doctor' says what to do)", plural.Of(int(*packets), "packet"))}}
}

func throttledWarning(whose string, t *meter.Throttled) []result.Warning {
	if t == nil || t.Periods == 0 && t.Time == 0 {
		return nil
	}
	return []result.Warning{{Kind: result.WarnThrottled, Text: fmt.Sprintf(
		"%s CPU quota ran out in %d periods and held threads up for %v in sum", whose, t.Periods, t.Time)}}
}
