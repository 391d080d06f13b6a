package plan

import "time"

// connections asks what the number of connections costs each protocol, because most published bake-offs compare one shared
// connection of gRPC with a pool of another protocol, and differ in little else. Protocols that carry one call at a time over a
// connection have the other calls wait for one.
var connections = Experiment{
	Name: "connections",
	Doc:  "each protocol over 1 connection, over 4, and over one for each call in flight: what part of a difference do connections make?",
	Defaults: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"datatype"},
		Concurrency: []int{50},
		Conns:       []int{1, 4, 0},
		Rounds:      10,
		Duration:    time.Second,
		Warmup:      500 * time.Millisecond,
	},
	Quick: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"datatype"},
		Concurrency: []int{50},
		Conns:       []int{1, 0},
		Rounds:      8,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Trials: Blocks,
}
