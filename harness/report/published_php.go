package report

// phpClaims are those about a front in PHP. Its clients dialled for each call, as ours of the subjects named ...-close, which a run has by
// --subjects alone; the same is asked of those that keep their connections, which it has anyway. Whether the authors' PHP kept its
// connection to an HTTP backend is not known, so that both are asked.
var phpClaims = []Claim{
	{
		Experiment: "gateway",
		Words:      "from PHP, HTTP is better than gRPC, clients dialling for each call",
		Figure:     "theirs: 3.5k req/s over gRPC and 6.8k over HTTP, -49%; here each PHP process keeps its connection to either backend",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"php-grpc-close", 50}, RowAt{"php-http-close", 50}}},
		Low:        0.27, High: 0.76,
	},
	{
		Experiment: "gateway",
		Words:      "from PHP, HTTP is better than gRPC, clients dialling for each call, asked here of a PHP that dials the HTTP backend for each call, too",
		Figure:     "theirs: 3.5k req/s over gRPC and 6.8k over HTTP, -49%; whether their PHP kept its connection is not known",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"php-grpc-close", 50}, RowAt{"php-http-dial-close", 50}}},
		Low:        0.27, High: 0.76,
	},
	{
		Experiment: "gateway",
		Words:      "from PHP, HTTP is better than gRPC, asked here of clients that keep their connections",
		Figure:     "theirs: 3.4k req/s over gRPC with such clients, HTTP only without, 6.8k; the bounds are those of 3.5k to 6.8k, -49%, both without",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"php-grpc", 50}, RowAt{"php-http", 50}}},
		Low:        0.27, High: 0.76,
	},
	{
		Experiment: "gateway",
		Words:      "from PHP, HTTP is better than gRPC, asked here of clients that keep their connections and a PHP that dials the HTTP backend for each call",
		Figure:     "theirs: as before, -49%; whether their PHP kept its connection is not known",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"php-grpc", 50}, RowAt{"php-http-dial", 50}}},
		Low:        0.27, High: 0.76,
	},
	{
		Experiment: "gateway",
		Words:      "the hop takes 78% of a PHP front's throughput over gRPC, clients dialling for each call",
		Figure:     "theirs: 3.5k req/s of 16k",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"php-grpc-close", 50}, RowAt{"php-close", 50}}},
		Low:        0.01, High: 0.61,
	},
	{
		Experiment: "gateway",
		Words:      "the hop takes 57% of a PHP front's throughput over HTTP, clients dialling for each call",
		Figure:     "theirs: 6.8k req/s of 16k",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"php-http-close", 50}, RowAt{"php-close", 50}}},
		Low:        0.14, High: 0.71,
	},
	{
		Experiment: "gateway",
		Words:      "the hop takes 78% of a PHP front's throughput over gRPC, asked here of clients that keep their connections",
		Figure:     "theirs: 3.5k req/s of 16k, clients dialling; the front alone is not known with others",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"php-grpc", 50}, RowAt{"php", 50}}},
		Low:        0.01, High: 0.61,
	},
	{
		Experiment: "gateway",
		Words:      "the hop takes 57% of a PHP front's throughput over HTTP, asked here of clients that keep their connections",
		Figure:     "theirs: 6.8k req/s of 16k, clients dialling; the front alone is not known with others",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"php-http", 50}, RowAt{"php", 50}}},
		Low:        0.14, High: 0.71,
	},
	{
		Experiment: "gateway",
		Words:      "a front in PHP alone answers 20% fewer calls than one in Go, clients dialling for each call",
		Figure:     "theirs: 16k req/s of 20k; both answered by themselves, and here the one in Go asks a store, which the one in PHP does not",
		Ratios:     []Ratio{{"throughput", "throughput", "datatype", RowAt{"php-close", 50}, RowAt{"http-close", 50}}},
		Low:        0.7, High: 0.9,
	},
}
