package plan

import "time"

// gzipped are the subjects that compress, each beside the one that it is a variant of. Thrift compresses over HTTP alone: its own sockets can't.
var gzipped = []Variant{
	{Name: "grpc-gzip", Of: "grpc", Options: map[string]string{"compression": "gzip"}},
	{Name: "thrift-http-gzip", Of: "thrift-http", Options: map[string]string{"compression": "gzip"}},
	{Name: "http-gzip", Of: "http", Options: map[string]string{"compression": "gzip"}},
}

// compression asks what fewer bytes cost. On loopback bytes are nearly free, so that this shows the processors' part of the answer; the
// network's follows from the bytes for each request. Text shows what is gained, random bytes what is lost where nothing can be. Fifteen
// pairs of subjects with four bodies need twelve rounds, and with two bodies eleven, for a difference between two to be seen beside all
// the others.
var compression = Experiment{
	Name:     "compression",
	Doc:      "gzip on and off, for text and for random bytes: what do fewer bytes on the wire cost?",
	Variants: gzipped,
	Defaults: Settings{
		Subjects:    []string{"grpc", "grpc-gzip", "thrift-http", "thrift-http-gzip", "http", "http-gzip"},
		Workloads:   []string{"payload-1k", "payload-100k", "payload-1k-bytes", "payload-100k-bytes"},
		Concurrency: []int{16},
		Rounds:      12,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Quick: Settings{
		Subjects:    []string{"grpc", "grpc-gzip", "thrift-http", "thrift-http-gzip", "http", "http-gzip"},
		Workloads:   []string{"payload-100k", "payload-100k-bytes"},
		Concurrency: []int{16},
		Rounds:      11,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Trials: Blocks,
}
