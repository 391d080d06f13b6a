package plan

import "time"

// payload asks from which size of a message on another protocol is the better one. Sixteen calls in flight keep the
// processors busy and, at a mebibyte each way, the memory small. Three pairs of subjects at six sizes need ten rounds, and at three
// sizes nine, for a difference between two to be seen beside all the others.
var payload = Experiment{
	Name: "payload",
	Doc:  "one unary call that brings its body back, of 0 bytes to 1 MiB: where does the order of the protocols change?",
	Defaults: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"payload-0", "payload-100", "payload-1k", "payload-10k", "payload-100k", "payload-1m"},
		Concurrency: []int{16},
		Rounds:      10,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Quick: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"payload-0", "payload-10k", "payload-1m"},
		Concurrency: []int{16},
		Rounds:      9,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Trials: Blocks,
}
