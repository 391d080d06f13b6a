package admin

import (
	"maps"
	"math"
	"runtime/metrics"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// runtimeFigures are all single numbers that the Go runtime keeps of itself, by its own names. Reading them stops nothing.
func runtimeFigures() map[string]float64 {
	var samples []metrics.Sample
	for _, d := range metrics.All() {
		if d.Kind == metrics.KindUint64 || d.Kind == metrics.KindFloat64 {
			samples = append(samples, metrics.Sample{Name: d.Name})
		}
	}
	metrics.Read(samples)
	all := make(map[string]float64, len(samples))
	for _, s := range samples {
		switch s.Value.Kind() {
		case metrics.KindUint64:
			all[s.Name] = float64(s.Value.Uint64())
		case metrics.KindFloat64:
			if v := s.Value.Float64(); !math.IsNaN(v) && !math.IsInf(v, 0) { // JSON has no word for these
				all[s.Name] = v
			}
		}
	}
	return all
}

// The metrics of what is read. Those of this process's own Go runtime come with the library.
var (
	descInfo     = prometheus.NewDesc("bakeoff_info", "1, with what this is", []string{"version", "role", "serves"}, nil)
	descReady    = prometheus.NewDesc("bakeoff_ready", "1 while it serves and what it tells of can be read", nil, nil)
	descCPU      = prometheus.NewDesc("bakeoff_cpu_seconds_total", "CPU time of what is measured, user and system", nil, nil)
	descRSS      = prometheus.NewDesc("bakeoff_resident_memory_bytes", "resident memory of what is measured", nil, nil)
	descPeak     = prometheus.NewDesc("bakeoff_resident_memory_peak_bytes", "its highest since the start", nil, nil)
	descSwitches = prometheus.NewDesc("bakeoff_context_switches_total", "context switches of its threads that are alive", []string{"kind"}, nil)
	descCounted  = prometheus.NewDesc("bakeoff_operations_total", "what was asked of it, by kind: calls of a server, operations of a store", []string{"kind"}, nil)
)

func (s *Server) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collector{s})
	if s.options.Own {
		r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	return r
}

// collector reads at each scrape. It implements prometheus.Collector.
type collector struct{ s *Server }

// Describe tells all that Collect may send.
func (collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descInfo, descReady, descCPU, descRSS, descPeak, descSwitches, descCounted} {
		ch <- d
	}
}

// Collect leaves out what is unknown.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	u, err := c.s.options.Read()
	ready := 0.0
	if info := c.s.info.Load(); info != nil {
		if err == nil {
			ready = 1
		}
		send(descInfo, prometheus.GaugeValue, 1, info.Version, info.Role, info.Serves)
	}
	send(descReady, prometheus.GaugeValue, ready)
	if err != nil {
		return // a scrape without these: what is not there is unknown
	}
	send(descCPU, prometheus.CounterValue, u.CPU.Seconds())
	for _, m := range []struct {
		d      *prometheus.Desc
		kind   prometheus.ValueType
		v      *uint64
		labels []string
	}{
		{descRSS, prometheus.GaugeValue, u.RSS, nil}, {descPeak, prometheus.GaugeValue, u.RSSPeak, nil},
		{descSwitches, prometheus.CounterValue, u.Voluntary, []string{"voluntary"}}, {descSwitches, prometheus.CounterValue, u.Involuntary, []string{"involuntary"}},
	} {
		if m.v != nil {
			send(m.d, m.kind, float64(*m.v), m.labels...)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(u.Counters)) {
		send(descCounted, prometheus.CounterValue, float64(u.Counters[kind]), kind)
	}
}
