package main

import (
	"fmt"
	"io"

	"bakeoff/bench/bound"
	"bakeoff/harness/stats"
)

// part is one kind of measurement: which processes it takes, and what its figures are held to.
type part struct {
	name    string
	bare    string // what ours is compared with
	servers []role // in the order in which the client is told of them
	client  role
	judged  string // names what the limit is about
	judge   func(finding) bound.Verdict
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
		judge: func(f finding) bound.Verdict {
			return bound.AtLeast(f.Rate.Low, f.Rate.High, f.Rate.Coverage, leastThroughput)
		},
	},
	{
		name: "server", bare: "bare server", servers: []role{bareServer, ourServer}, client: serverClient,
		judged: fmt.Sprintf("our server/bare server in the server's CPU, at most %.2f", mostCPU),
		judge:  func(f finding) bound.Verdict { return bound.AtMost(f.CPU.Low, f.CPU.High, f.CPU.Coverage, mostCPU) },
	},
}

// head and row print the table of a part.
func (p part) head(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s\n%-14s %11s %11s %28s %28s\n", p.name, p.judged,
		"subject", "bare req/s", "bare us/req", "ours/bare throughput", "ours/bare CPU a call")
}

func (p part) row(w io.Writer, subject string, f finding) bound.Verdict {
	v := p.judge(f)
	fmt.Fprintf(w, "%-14s %11.0f %11.2f %28s %28s  %s\n", subject, f.Bare.Rate, f.Bare.CPU*1e6, ratio(f.Rate), ratio(f.CPU), v)
	return v
}

func ratio(c stats.Comparison) string {
	return fmt.Sprintf("%.3f [%.3f, %.3f]", c.Ratio, c.Low, c.High)
}
