package run

import (
	"fmt"
	"runtime"
	"slices"

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

// evaluate turns two readings of the meters into values and warnings. The counts of calls must be in out already.
func (f *family) evaluate(out *result.Trial, before, after readings) error {
	if out.Values == nil {
		out.Values = map[string]float64{}
	}
	server, err := meter.Sub(after.server, before.server)
	if err != nil {
		return err
	}
	driver, err := meter.Sub(after.driver, before.driver)
	if err != nil {
		return err
	}
	out.Elapsed = server.Elapsed.Seconds()
	ended := out.Outcomes.OK + out.Outcomes.FailedTotal()
	setUsage(out.Values, ended, server, names{result.ServerCPU, result.ServerCPUPerReq, result.ServerRSS, result.ServerSwitches})
	setUsage(out.Values, ended, driver, names{result.ClientCPU, result.ClientCPUPerReq, result.ClientRSS, result.ClientSwitches})
	if f.store != nil {
		store, err := meter.Sub(after.store, before.store)
		if err != nil {
			return err
		}
		setUsage(out.Values, ended, store, names{result.StoreCPU, result.StoreCPUPerReq, result.StoreRSS, ""})
	}
	out.Warnings = append(out.Warnings, limitWarnings(driver, server, f.count(Driver), f.count(Server))...)
	host := meter.SubHost(after.host, before.host)
	out.Warnings = append(out.Warnings, hostWarnings(host.Throttled, host.Stolen(f.all()))...)
	return nil
}

// names are those of one process's values; "" for one that is not kept.
type names struct{ cpu, cpuPerReq, rss, switches string }

// setUsage writes what is known of a process, and nothing of what is not. ended is the number of calls to divide by.
func setUsage(values map[string]float64, ended uint64, u meter.Usage, n names) {
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
// what the figures measure. The server's share stands beside it, so that a reader sees who was first.
func limitWarnings(driver, server meter.Usage, driverCPUs, serverCPUs int) []result.Warning {
	d, s := driver.Cores(), server.Cores()
	if d == nil || s == nil || *d/float64(driverCPUs) <= driverLimit {
		return nil
	}
	return []result.Warning{{Kind: "driver_limited", Text: fmt.Sprintf(
		"the driver used %.0f %% of its %s (the server %.0f %% of its %s): over %.0f %% the driver may be the limit",
		100**d/float64(driverCPUs), plural.Of(driverCPUs, "CPU"), 100**s/float64(serverCPUs), plural.Of(serverCPUs, "CPU"), 100*driverLimit)}}
}

// hostWarnings doubts a row whose processes were held up from outside.
func hostWarnings(throttled *meter.Throttled, stolen *float64) []result.Warning {
	var all []result.Warning
	if t := throttled; t != nil && (t.Periods > 0 || t.Time > 0) {
		all = append(all, result.Warning{Kind: "throttled", Text: fmt.Sprintf(
			"a CPU quota ran out in %d periods and held threads up for %v in sum", t.Periods, t.Time)})
	}
	if s := stolen; s != nil && *s > stolenLimit {
		all = append(all, result.Warning{Kind: "stolen", Text: fmt.Sprintf(
			"the hypervisor gave %.1f %% of the CPUs' time to others", 100**s)})
	}
	return all
}
