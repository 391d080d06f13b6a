package report

import "slices"

// Claims are the published conclusions that experiments reproduce. A figure that was published without an interval holds from half to
// one and a half times the difference; a range that was published is its own bound; "no difference" and "hardly changed" have a bound
// that is written here, because the authors named none.
var Claims = append([]Claim{
	{
		Experiment: "datatype",
		Words:      "gRPC used 30% more server CPU than Thrift at 50 calls in flight",
		Figure:     "theirs: +30% of the server's CPU; ours is for each request, as rates differ",
		Ratios:     []Ratio{{serverCPU, serverCPUName, "datatype", RowAt{"grpc", 50}, RowAt{"thrift", 50}}},
		Low:        1.15, High: 1.45,
	},
	{
		Experiment: "datatype",
		Words:      "gRPC was ahead of Thrift in throughput by 3% at worst and 17% at best",
		Figure:     "theirs: +3% to +17%, of an early gRPC",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"grpc", 0}, RowAt{"thrift", 0}}},
		Low:        1.03, High: 1.17,
	},
	{
		Experiment: "datatype",
		Words:      "resource use hardly changed from 50 to 800 calls in flight",
		Figure:     "theirs: no figures; ours is CPU for each request, and a tenth counts as a change",
		Ratios: []Ratio{
			{serverCPU, serverCPUName, "datatype", RowAt{"grpc", 800}, RowAt{"grpc", 50}},
			{serverCPU, serverCPUName, "datatype", RowAt{"thrift", 800}, RowAt{"thrift", 50}},
		},
		Low: 0.9, High: 1.1,
	},
	{
		Experiment: "reflection",
		Words:      "server reflection makes no significant difference to a gRPC server's throughput",
		Figure: "theirs: 27,403 req/s with 2 points; with 100 points 39,432 req/s without reflection and 41,317 with it, each call with one of the " +
			"points; ours stream all points in each call",
		Ratios: []Ratio{
			{"throughput", "throughput", "recordroute", RowAt{"grpc-reflection", 50}, RowAt{"grpc", 50}},
			{"throughput", "throughput", "recordroute-100", RowAt{"grpc-reflection", 50}, RowAt{"grpc", 50}},
		},
		Low: 0.95, High: 1.05,
	},
	{
		Experiment: "levels",
		Words:      "verification took 2 s alone and 36 s with 20 sessions at a time",
		Figure:     "theirs: 18 times as long, over HTTP, of a service with that fault; " + bothLevels,
		Ratios:     []Ratio{{"latency_p50", "the median time of verification", "scenario", RowAt{"http", 20}, RowAt{"http", 1}}},
		Step:       "verification",
		Low:        9.5, High: 26.5,
	},
	{
		Experiment: "levels",
		Words:      "execution took 0.17 s alone and 14 to 26 s with 20 sessions at a time",
		Figure:     "theirs: 82 to 153 times as long, over HTTP, of a service with that fault; " + bothLevels,
		Ratios:     []Ratio{{"latency_p50", "the median time of execution", "scenario", RowAt{"http", 20}, RowAt{"http", 1}}},
		Step:       "execution",
		Low:        14 / 0.17, High: 26 / 0.17,
	},
}, slices.Concat(gatewayClaims, phpClaims)...)

// bothLevels is what the two published levels of a session are measured by.
const bothLevels = "'bakeoff run levels --concurrency 1,20 --iterations 20,100' measures both levels"

const serverCPUName = "server CPU per request"
