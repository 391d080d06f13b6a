package plan

import "time"

// reflection asks whether a gRPC server that answers questions about itself is slower for it. Nothing asks during the load, as
// in the published bake-off. A route of a hundred points shows what a message costs, one of two what a call does.
var reflection = Experiment{
	Name:     "reflection",
	Doc:      "gRPC with and without server reflection, streaming routes of 2 and of 100 points: does it cost anything?",
	Variants: []Variant{{Name: "grpc-reflection", Of: "grpc", Options: map[string]string{"reflection": "on"}}},
	Defaults: Settings{
		Subjects:    []string{"grpc", "grpc-reflection"},
		Workloads:   []string{"recordroute", "recordroute-100"},
		Concurrency: []int{50},
		Rounds:      10,
		Duration:    2 * time.Second,
		Warmup:      500 * time.Millisecond,
	},
	Quick: Settings{
		Subjects:    []string{"grpc", "grpc-reflection"},
		Workloads:   []string{"recordroute", "recordroute-100"},
		Concurrency: []int{50},
		Rounds:      8,
		Duration:    time.Second,
		Warmup:      300 * time.Millisecond,
	},
	Trials: Blocks,
}
