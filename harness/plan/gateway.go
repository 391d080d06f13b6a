package plan

import "time"

// hops are the fronts under the options that the published gateways differed in, by their names' ends: -2 has two connections to the backend,
// for all calls in flight; -idle2 opens what it needs and keeps two, as the default client of Go's net/http does, which the published front had;
// -close is called by clients that dial for each call, as ab does without -k; -dial has workers in PHP dial the backend for each call.
var hops = []Variant{
	{Name: "http-close", Of: "http", Options: map[string]string{"keep-alive": "off"}},
	{Name: "front-grpc-close", Of: "front-grpc", Options: map[string]string{"keep-alive": "off"}},
	{Name: "front-thrift-close", Of: "front-thrift", Options: map[string]string{"keep-alive": "off"}},
	{Name: "front-http-close", Of: "front-http", Options: map[string]string{"keep-alive": "off"}},
	{Name: "front-http-idle2-close", Of: "front-http", Options: map[string]string{"keep-alive": "off", "backend-keep-alive": "2"}},
	{Name: "front-grpc-2", Of: "front-grpc", Options: map[string]string{"backend-conns": "2"}},
	{Name: "front-thrift-2", Of: "front-thrift", Options: map[string]string{"backend-conns": "2"}},
	{Name: "front-http-2", Of: "front-http", Options: map[string]string{"backend-conns": "2"}},
	{Name: "front-http-idle2", Of: "front-http", Options: map[string]string{"backend-keep-alive": "2"}},
	{Name: "php-http-dial", Of: "php-http", Options: map[string]string{"backend-reuse": "off"}},
	{Name: "php-grpc-dial", Of: "php-grpc", Options: map[string]string{"backend-reuse": "off"}},
	{Name: "php-close", Of: "php", Options: map[string]string{"keep-alive": "off"}},
	{Name: "php-http-close", Of: "php-http", Options: map[string]string{"keep-alive": "off"}},
	{Name: "php-http-dial-close", Of: "php-http", Options: map[string]string{"keep-alive": "off", "backend-reuse": "off"}},
	{Name: "php-grpc-close", Of: "php-grpc", Options: map[string]string{"keep-alive": "off"}},
}

// gateway asks what one hop more costs, by what is spoken over it. The front alone is http, and http-close under clients that dial for each
// call; that of the fronts in PHP is php. What a front and its backend need is metered apart.
var gateway = Experiment{
	Name: "gateway",
	Doc: "an HTTP front, in Go and in PHP, that asks a backend over gRPC, Thrift or HTTP, beside one that answers by itself: what does the hop cost, and what " +
		"do connections make of it?",
	Variants: hops,
	Defaults: Settings{
		Subjects: []string{"http", "front-grpc", "front-thrift", "front-http", "front-grpc-2", "front-thrift-2", "front-http-2", "front-http-idle2",
			"http-close", "front-grpc-close", "front-thrift-close", "front-http-close", "front-http-idle2-close",
			"php", "php-http", "php-http-dial", "php-grpc"},
		Workloads:   []string{"datatype"},
		Concurrency: []int{50},
		Rounds:      10,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Quick: Settings{
		Subjects: []string{"http", "front-grpc", "front-thrift", "front-http", "front-http-idle2", "http-close", "front-grpc-close", "front-http-idle2-close",
			"php", "php-http", "php-http-dial", "php-grpc"},
		Workloads:   []string{"datatype"},
		Concurrency: []int{50},
		Rounds:      9, // the fewest that can tell twelve rows apart: 11 ratios to the baseline, of p = 1/256 each at the least
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Trials: Blocks,
}
