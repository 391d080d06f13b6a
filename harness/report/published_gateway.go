package report

// gatewayClaims are those about a Go front before a Go backend. Its client of HTTP kept two idle connections, as ours of front-http-idle2.
var gatewayClaims = []Claim{
	{
		Experiment: "gateway",
		Words:      "behind a Go front gRPC is far better than HTTP, clients keeping their connections",
		Figure:     "theirs: 28k req/s over gRPC and 11k over HTTP, +155%, with 2 idle connections kept to the HTTP backend",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"front-grpc", 50}, RowAt{"front-http-idle2", 50}}},
		Low:        1.77, High: 3.32,
	},
	{
		Experiment: "gateway",
		Words:      "behind a Go front gRPC is far better than HTTP, clients dialling for each call",
		Figure:     "theirs: 17k req/s over gRPC and 8k over HTTP, +112%, with 2 idle connections kept to the HTTP backend",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"front-grpc-close", 50}, RowAt{"front-http-idle2-close", 50}}},
		Low:        1.56, High: 2.69,
	},
	{
		Experiment: "gateway",
		Words:      "behind a Go front gRPC is far better than HTTP, asked here over a kept connection to the HTTP backend for each call in flight",
		Figure:     "theirs: not measured; the bounds are those of their +155%",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"front-grpc", 50}, RowAt{"front-http", 50}}},
		Low:        1.77, High: 3.32,
	},
	{
		Experiment: "gateway",
		Words:      "the hop takes 62% of a front's throughput over gRPC, clients keeping their connections",
		Figure:     "theirs: 28k req/s of 74k",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"front-grpc", 50}, RowAt{"http", 50}}},
		Low:        0.07, High: 0.69,
	},
	{
		Experiment: "gateway",
		Words:      "the hop takes 85% of a front's throughput over HTTP, clients keeping their connections",
		Figure:     "theirs: 11k req/s of 74k",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"front-http-idle2", 50}, RowAt{"http", 50}}},
		Low:        0.01, High: 0.57,
	},
	{
		Experiment: "gateway",
		Words:      "the hop takes 15% of a front's throughput over gRPC, clients dialling for each call",
		Figure:     "theirs: 17k req/s of 20k",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"front-grpc-close", 50}, RowAt{"http-close", 50}}},
		Low:        0.775, High: 0.925,
	},
	{
		Experiment: "gateway",
		Words:      "the hop takes 60% of a front's throughput over HTTP, clients dialling for each call",
		Figure:     "theirs: 8k req/s of 20k",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"front-http-idle2-close", 50}, RowAt{"http-close", 50}}},
		Low:        0.10, High: 0.70,
	},
}
