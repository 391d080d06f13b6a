package main

import (
	"fmt"
	"io"

	"bakeoff/harness/stats"
)

// part is one kind of measurement: which processes it takes, and what its figures are held to.
type part struct {
	name    string
	bare    string // what ours is compared with
	servers []role // in the order in which the client is told of them
	client  role
	judged  string // names what the limit is about
	judge   func(finding) verdict
}

// The limits that we hold ourselves to.
const (
	leastThroughput = 0.98 // of the bare loop's
	mostCPU         = 1.10 // of the bare server's
)

var parts = []part{
	{
		name: "driver", bare: "bare loop", servers: []role{ourServer}, client: driverClient,
		judged: fmt.Sprintf("driver/bare loop in throughput, at least %.2f", leastThroughput),
		judge:  func(f finding) verdict { return atLeast(f.Rate, leastThroughput) },
	},
	{
		name: "server", bare: "bare server", servers: []role{bareServer, ourServer}, client: serverClient,
		judged: fmt.Sprintf("our server/bare server in the server's CPU, at most %.2f", mostCPU),
		judge:  func(f finding) verdict { return atMost(f.CPU, mostCPU) },
	},
}

// verdict is what an interval says about a limit.
type verdict string

const (
	holds     verdict = "holds"
	missed    verdict = "MISSED"
	undecided verdict = "not decided"
)

// atMost judges a ratio that is not to be above limit. An interval of too few pairs decides nothing.
func atMost(c stats.Comparison, limit float64) verdict {
	switch {
	case c.Coverage < stats.Confidence:
		return undecided
	case c.High <= limit:
		return holds
	case c.Low > limit:
		return missed
	}
	return undecided
}

// atLeast judges a ratio that is not to be below limit.
func atLeast(c stats.Comparison, limit float64) verdict {
	switch {
	case c.Coverage < stats.Confidence:
		return undecided
	case c.Low >= limit:
		return holds
	case c.High < limit:
		return missed
	}
	return undecided
}

// head and row print the table of a part.
func (p part) head(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s\n%-14s %11s %11s %28s %28s\n", p.name, p.judged,
		"subject", "bare req/s", "bare us/req", "ours/bare throughput", "ours/bare CPU a call")
}

func (p part) row(w io.Writer, subject string, f finding) verdict {
	v := p.judge(f)
	fmt.Fprintf(w, "%-14s %11.0f %11.2f %28s %28s  %s\n", subject, f.Bare.Rate, f.Bare.CPU*1e6, ratio(f.Rate), ratio(f.CPU), v)
	return v
}

func ratio(c stats.Comparison) string {
	return fmt.Sprintf("%.3f [%.3f, %.3f]", c.Ratio, c.Low, c.High)
}
