package plan

import "time"

// payload asks from which size of a message on another protocol is the better one, of text and of bytes. Sixteen calls in flight
// keep the processors busy and, at a mebibyte each way, the memory small. Three pairs of subjects with eleven bodies need eleven
// rounds, and with five bodies ten, for a difference between two to be seen beside all the others.
var payload = Experiment{
	Name: "payload",
	Doc:  "one unary call that brings its body back, of 0 bytes to 1 MiB, text and bytes: where does the order of the protocols change?",
	Defaults: Settings{
		Subjects: []string{"grpc", "thrift", "http"},
		Workloads: []string{"payload-0", "payload-100", "payload-1k", "payload-10k", "payload-100k", "payload-1m",
			"payload-100-bytes", "payload-1k-bytes", "payload-10k-bytes", "payload-100k-bytes", "payload-1m-bytes"},
		Concurrency: []int{16},
		Rounds:      11,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Quick: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"payload-0", "payload-10k", "payload-1m", "payload-10k-bytes", "payload-1m-bytes"},
		Concurrency: []int{16},
		Rounds:      10,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Trials: Blocks,
}
