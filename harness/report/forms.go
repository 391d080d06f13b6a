package report

import (
	"fmt"
	"math"
	"slices"
)

// form is how much of the figures a format for people shows, and how.
type form struct {
	name     string
	themes   []theme
	compared []column // of the grid of ratios; JSON and CSV have those of the other metrics
	short    bool     // an interval is a share of its median
	charts   bool
	width    int // columns of a terminal that all must fit into; 0: tables are as wide as their figures, and sentences as textWidth
}

// wideForm has every figure that is compared or that a capacity plan needs, with the ends of its interval.
var wideForm = form{name: wideName, themes: []theme{
	paceTheme,
	{title: "Latency of the calls that succeeded", steps: true, columns: []column{
		{head: "p50", metric: "latency_p50", shared: "time"}, {head: "p90", metric: "latency_p90", shared: "time"},
		{head: "p99", metric: "latency_p99", shared: "time"}, {head: "p99.9", metric: "latency_p999", shared: "time"},
		{head: "max", metric: "latency_max", shared: "time"},
	}},
	{title: "Service time of the calls that succeeded, from when they were sent", steps: true, columns: []column{
		{head: "p50", metric: "service_p50", shared: "time"}, {head: "p90", metric: "service_p90", shared: "time"},
		{head: "p99", metric: "service_p99", shared: "time"}, {head: "p99.9", metric: "service_p999", shared: "time"},
		{head: "max", metric: "service_max", shared: "time"},
	}},
	{title: "CPU per request, and cores for 10,000 req/s", columns: []column{
		{head: "server", metric: serverCPU, scale: &microseconds}, {head: "backend", metric: backendCPU, scale: &microseconds, hop: true},
		{head: "client", metric: clientCPU, scale: &microseconds},
		{head: "store", metric: storeCPU, scale: &microseconds},
		{head: "cores/10k", metric: "cores_per_10k", scale: &plain}, {head: "server's", metric: "server_cores_per_10k", scale: &plain},
	}},
	{title: "CPU in use as % of a core, memory, bytes per request", columns: []column{
		{head: "server", metric: "server_cores", scale: &percentOf}, {head: "backend", metric: "backend_cores", scale: &percentOf, hop: true},
		{head: "client", metric: "client_cores", scale: &percentOf},
		{head: "store", metric: "store_cores", scale: &percentOf},
		{head: "server RSS", metric: "server_rss"}, {head: "sent", metric: "bytes_sent_per_req"}, {head: "received", metric: "bytes_received_per_req"},
	}},
}, compared: []column{
	{head: "req/s", metric: "throughput"}, {head: "p50", metric: "latency_p50"}, {head: "p99", metric: "latency_p99"},
	{head: "server CPU/req", metric: serverCPU}, {head: "server RSS", metric: "server_rss"},
}, charts: true}

// narrowForm is what a first look needs, in 80 columns.
var narrowForm = form{name: textName, themes: []theme{
	{title: paceTheme.title, columns: []column{
		{head: "target", metric: "target_rate", scale: &perSecond}, {head: "achieved", metric: "achieved_rate", scale: &perSecond},
		{head: "late p99", metric: "lateness_p99"}, {head: "in flight", metric: "in_flight", scale: &plain},
	}},
	{title: "Throughput, latency of the calls that succeeded, memory", steps: true, columns: []column{
		{metric: "throughput"}, {head: "p50", metric: "latency_p50", shared: "time"}, {head: "p99", metric: "latency_p99", shared: "time"},
		{head: "server RSS", metric: "server_rss"},
	}},
	{title: "CPU per request, and cores for 10,000 req/s", columns: []column{
		{head: "server", metric: serverCPU, scale: &microseconds}, {head: "backend", metric: backendCPU, scale: &microseconds, hop: true},
		{head: "client", metric: clientCPU, scale: &microseconds},
		{head: "store", metric: storeCPU, scale: &microseconds}, {head: "cores/10k", metric: "cores_per_10k", scale: &plain},
	}},
}, compared: []column{
	{head: "req/s", metric: "throughput"}, {head: "p99", metric: "latency_p99"}, {head: "server CPU/req", metric: serverCPU},
}, short: true, charts: true, width: 80}

// documentForm is that of documents: wide, and without what only a terminal shows well.
var documentForm = form{name: "markdown", themes: wideForm.themes, compared: wideForm.compared}

func (f form) shown(metric string) bool {
	return slices.ContainsFunc(f.compared, func(c column) bool { return c.metric == metric })
}

// cell prints a figure with its doubt.
func (f form) cell(s scale, v Value) string {
	if !f.short || !(v.Median > 0) {
		return s.cell(v)
	}
	m, low, high := digits(v.Median/s.factor), digits(v.Low/s.factor), digits(v.High/s.factor)
	share := math.Ceil(100*(v.High-v.Low)/2/v.Median - 1e-9) // rounded up: no figure is better known than it says
	switch {
	case low == high:
		return m
	case !(share < 1000):
		return s.cell(v) // the ends say more
	case v.TooFew:
		return fmt.Sprintf("%s (%.0f%%)", m, share)
	}
	return fmt.Sprintf("%s +-%.0f%%", m, share)
}

// legend says how to read a figure.
func (f form) legend(t Tables) string {
	bars := ""
	if f.charts {
		bars = " " + barLegend(t.Rows)
	}
	if f.short {
		return "Figures are medians of the rounds: +-3% is that half the width of the " + t.confidence() + " interval is up to 3% of it, (3%) that half of the whole range is, where " +
			"rounds are too few for an interval. '-' is unknown or not to be had. --wide, or -o " + wideName + ", has all columns and the ends of the intervals." + bars
	}
	return "Figures are medians of the rounds: [ ] is the " + t.confidence() + " interval, ( ) the whole range where rounds are too few for one, no brackets where all rounds agree. " +
		"'-' is unknown or not to be had; 'too few' calls in a round for a p99.9 (10,000 are needed)." + bars
}
