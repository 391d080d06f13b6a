package report

import (
	"fmt"
	"math"
	"slices"

	"bakeoff/harness/result"
)

// Direction says which of two figures is the better one.
type Direction int

// The directions. Figures that are Neither are shown and not compared.
const (
	Neither Direction = iota
	Lower
	Higher
)

// Metric is a documented figure of a row.
type Metric struct {
	Name   string // in JSON and CSV
	Unit   string // base unit
	Doc    string
	Better Direction

	latency bool // is known by step, too
	hop     bool // is of servers with a backend alone: others have nothing to say of it
	all     bool // is unknown if it is in one round: leaving out the rounds without it would choose among them
	applies func(mode string) bool
	given   func(mode string) bool               // in this mode it is set from outside: nothing to compare
	of      func(*round) (v float64, why string) // why it is unknown
}

// Base units.
const (
	unitRate    = "req/s"
	unitSeconds = "s"
	unitBytes   = "B"
	unitCores   = "cores"
	unitCount   = "1"
)

// minP999 is how many calls a round needs for its p99.9: ten of them lie beyond it.
const minP999 = 10_000

// inProcess is the address of the store that lives within the server and so has no figures of its own.
const inProcess = "memory"

// Metrics are all figures of a row, in the order in which they are shown.
var Metrics = func() []Metric {
	ms := []Metric{
		{Name: "throughput", Unit: unitRate, Better: Higher, Doc: "calls that succeeded, a second; given in the open loop", of: value(result.Throughput), given: open},
	}
	ms = append(ms, paceMetrics...)
	ms = append(ms, latencies("latency", result.TimeResponse, "from when the call was due to its end", nil)...)
	ms = append(ms, latencies("service", result.TimeService, "from when the call was sent to its end", func(mode string) bool { return mode != "closed" })...)
	return append(ms,
		Metric{Name: serverCPU, Unit: unitSeconds, Better: Lower, Doc: "CPU time of the server for each call that ended", of: value(result.ServerCPUPerReq)},
		Metric{Name: clientCPU, Unit: unitSeconds, Better: Lower, Doc: "CPU time of the driver for each call that ended", of: value(result.ClientCPUPerReq)},
		Metric{Name: storeCPU, Unit: unitSeconds, Better: Lower, Doc: "CPU time of the store for each call that ended; within the server's for a store in the server",
			of: store(value(result.StoreCPUPerReq))},
		Metric{Name: backendCPU, Unit: unitSeconds, Doc: "CPU time of the backend of a front for each call that ended, which cores_per_10k has in it; absent where the server answers by itself", hop: true,
			of: value(result.BackendCPUPerReq)},
		Metric{Name: answerCPU, Unit: unitSeconds, Doc: "CPU time of a front and its backend together for each call that ended; absent where the server answers by itself", hop: true,
			of: answerCPUPerReq},
		Metric{Name: "cores_per_10k", Unit: unitCores, Better: Lower, Doc: "cores that server, client and store need for 10,000 calls a second", of: coresPer10k},
		Metric{Name: "server_cores_per_10k", Unit: unitCores, Doc: "cores that the server needs for 10,000 calls a second: server_cpu_per_req x 10,000",
			of: scaled(result.ServerCPUPerReq, 10_000)},
		Metric{Name: "server_cores", Unit: unitCores, Doc: "cores that the server kept busy", of: busy(result.ServerCPU)},
		Metric{Name: "client_cores", Unit: unitCores, Doc: "cores that the driver kept busy", of: busy(result.ClientCPU)},
		Metric{Name: "backend_cores", Unit: unitCores, Doc: "cores that the backend of a front kept busy", hop: true, of: busy(result.BackendCPU)},
		Metric{Name: "store_cores", Unit: unitCores, Doc: "cores that the store kept busy", of: store(busy(result.StoreCPU))},
		Metric{Name: "server_rss", Unit: unitBytes, Better: Lower, Doc: "resident memory of the server, peak", of: value(result.ServerRSS)},
		Metric{Name: "backend_rss", Unit: unitBytes, Doc: "resident memory of the backend of a front, peak", hop: true, of: value(result.BackendRSS)},
		Metric{Name: "client_rss", Unit: unitBytes, Doc: "resident memory of the driver, peak", of: value(result.ClientRSS)},
		Metric{Name: "store_rss", Unit: unitBytes, Doc: "resident memory of the store, peak", of: store(value(result.StoreRSS))},
		Metric{Name: "bytes_sent_per_req", Unit: unitBytes, Better: Lower, Doc: "bytes that the client's sockets wrote for each call that ended", of: value(result.SentPerReq)},
		Metric{Name: "bytes_received_per_req", Unit: unitBytes, Better: Lower, Doc: "bytes that the client's sockets read for each call that ended", of: value(result.ReceivedPerReq)},
		Metric{Name: "server_switches_per_req", Unit: unitCount, Doc: "context switches of the server for each call that ended", of: value(result.ServerSwitches)},
		Metric{Name: "client_switches_per_req", Unit: unitCount, Doc: "context switches of the driver for each call that ended", of: value(result.ClientSwitches)},
		Metric{Name: "in_flight", Unit: unitCount, Doc: "calls in flight, mean over the window", of: value(result.InFlight)},
		Metric{Name: "dials", Unit: unitCount, Doc: "connections that were opened while measuring", of: value(result.Dials)},
	)
}()

// metricOf is the figure of that name; there is none of another name, which has no unit and no direction.
func metricOf(name string) Metric {
	for _, m := range Metrics {
		if m.Name == name {
			return m
		}
	}
	return Metric{}
}

// isOf says that the figure is one of such a row, whether known there or not.
func (m Metric) isOf(r *Row) bool {
	return (r.Step == "" || m.latency) && (m.applies == nil || m.applies(r.Mode))
}

// isGiven says that the figure is set from outside, so that there is nothing to compare.
func (m Metric) isGiven(mode string) bool { return m.given != nil && m.given(mode) }

// latencies are the figures of one histogram: of a round, since percentiles are never averaged. The median over
// the rounds is then that of the rounds' percentiles.
func latencies(prefix, time, doc string, applies func(mode string) bool) []Metric {
	quantile := func(q float64) func(result.Merged) float64 {
		return func(m result.Merged) float64 {
			ns, _ := m.Quantile(q)
			return float64(ns)
		}
	}
	var ms []Metric
	for _, l := range []struct {
		name, what string
		least      int64
		of         func(result.Merged) float64
	}{
		{"p50", "median time of the calls that succeeded, ", 1, quantile(0.5)},
		{"p90", "90th percentile, ", 1, quantile(0.9)},
		{"p99", "99th percentile, ", 1, quantile(0.99)},
		{"p999", "99.9th percentile, in rounds of at least 10,000 calls, ", minP999, quantile(0.999)},
		{"max", "longest time of a call that succeeded, ", 1, func(m result.Merged) float64 { return float64(m.Max) }},
		{"mean", "mean time, ", 1, func(m result.Merged) float64 { return m.Mean }},
	} {
		ms = append(ms, Metric{Name: prefix + "_" + l.name, Unit: unitSeconds, Better: Lower, Doc: l.what + doc, latency: true, all: l.least > 1, applies: applies,
			of: func(r *round) (float64, string) {
				m := r.times[time]
				switch {
				case m.Count == 0:
					return 0, "no call succeeded"
				case m.Count < l.least:
					return 0, fmt.Sprintf(tooFewCalls+": %d in round %d, %d are needed", m.Count, r.trial.Round, l.least)
				}
				return l.of(m) / 1e9, ""
			}})
	}
	return ms
}

// Why a figure is unknown; tooFewCalls is how such a reason begins.
const (
	notMeasured    = "not measured"
	noStoreProcess = "the store has no process of its own"
	tooFewCalls    = "too few calls"
)

// known refuses what no meter can have read.
func known(v float64) (float64, string) {
	if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, notMeasured
	}
	return v, ""
}

func value(name string) func(*round) (float64, string) { return scaled(name, 1) }

func scaled(name string, factor float64) func(*round) (float64, string) {
	return func(r *round) (float64, string) {
		v, ok := r.trial.Values[name]
		if !ok {
			return 0, notMeasured
		}
		return known(v * factor)
	}
}

// busy is CPU time over the time between the readings.
func busy(name string) func(*round) (float64, string) {
	return func(r *round) (float64, string) {
		if r.trial.Elapsed <= 0 {
			return 0, notMeasured
		}
		return scaled(name, 1/r.trial.Elapsed)(r)
	}
}

// store explains why a store within the server has no figures.
func store(of func(*round) (float64, string)) func(*round) (float64, string) {
	return func(r *round) (float64, string) {
		v, why := of(r)
		if why != "" && r.trial.Store == inProcess {
			why = noStoreProcess
		}
		return v, why
	}
}

// The names of the CPU time of a call by role: of the server, of the backend of a front and of both, of the driver and of the store.
const (
	serverCPU  = "server_cpu_per_req"
	clientCPU  = "client_cpu_per_req"
	storeCPU   = "store_cpu_per_req"
	backendCPU = "backend_cpu_per_req"
	answerCPU  = "answer_cpu_per_req"
)

func answerCPUPerReq(r *round) (float64, string) {
	server, why := value(result.ServerCPUPerReq)(r)
	if why != "" {
		return 0, why
	}
	backend, why := value(result.BackendCPUPerReq)(r)
	if why != "" {
		return 0, why
	}
	return known(server + backend)
}

// coresPer10k adds the roles up, with the backend where there is one; with one of the others unknown the sum is.
func coresPer10k(r *round) (float64, string) {
	if slices.ContainsFunc(r.trial.Warnings, func(w result.Warning) bool { return w.Kind == result.WarnBackendUnread }) {
		return 0, "the CPU of the backend is unknown"
	}
	sum := max(0, 10_000*r.trial.Values[result.BackendCPUPerReq])
	for _, role := range []struct{ what, name string }{
		{"server", result.ServerCPUPerReq}, {"client", result.ClientCPUPerReq}, {"store", result.StoreCPUPerReq},
	} {
		v, why := scaled(role.name, 10_000)(r)
		if why != "" {
			if role.what == "store" && r.trial.Store == inProcess {
				continue // it is in the server's
			}
			return 0, "the CPU of the " + role.what + " is unknown"
		}
		sum += v
	}
	return known(sum)
}
