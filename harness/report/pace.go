package report

import (
	"strconv"
	"strings"

	"bakeoff/harness/result"
)

// open is the metrics of an open loop alone.
func open(mode string) bool { return mode == result.ModeOpen }

// paceMetrics say what came of the rate that was asked for, and how exactly the driver kept it.
var paceMetrics = []Metric{
	{Name: "target_rate", Unit: unitRate, Doc: "open loop: calls that were due in the window, a second", applies: open, of: target},
	{Name: "achieved_rate", Unit: unitRate, Doc: "open loop: calls that were started, a second", applies: open, of: value(result.AchievedRate)},
	{Name: "lateness_p50", Unit: unitSeconds, Doc: "open loop: from when a call was due to when it was sent, median", applies: open, of: value(result.LatenessP50)},
	{Name: "lateness_p99", Unit: unitSeconds, Doc: "the same, 99th percentile", applies: open, of: value(result.LatenessP99)},
	{Name: "lateness_max", Unit: unitSeconds, Doc: "the same, longest", applies: open, of: value(result.LatenessMax)},
}

// target is a constant rate as it was asked for: what a short window had due of it is whole calls, and may be far from it.
func target(r *round) (float64, string) {
	if rate, err := strconv.ParseUint(r.trial.Rate, 10, 64); err == nil && r.trial.Arrivals == "constant" {
		return known(float64(rate))
	}
	return value(result.TargetRate)(r)
}

// paceTheme is their grid.
var paceTheme = theme{title: "The open loop's rate, and how late its calls were sent", columns: []column{
	{head: "target", metric: "target_rate", scale: &perSecond}, {head: "achieved", metric: "achieved_rate", scale: &perSecond},
	{head: "late p50", metric: "lateness_p50", shared: "late"}, {head: "late p99", metric: "lateness_p99", shared: "late"},
	{head: "late max", metric: "lateness_max", shared: "late"}, {head: "in flight", metric: "in_flight", scale: &plain},
}}

var perSecond = scale{1, unitRate}

// at says at which level a row stands: "50" calls in flight, or "500/s".
func (r Row) at() string {
	if r.Rate == "" {
		return strconv.Itoa(r.Concurrency)
	}
	return r.Rate + "/s"
}

// firstRate is the number that a rate begins with: rates are sorted by it.
func firstRate(rate string) int {
	end := strings.IndexFunc(rate, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rate)
	}
	n, err := strconv.Atoi(rate[:end])
	if err != nil {
		return 0
	}
	return n
}
