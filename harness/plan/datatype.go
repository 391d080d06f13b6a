package plan

import "time"

// dataType is the question that the house was built for: which RPC costs least for key-value look-ups. Its rounds
// are many and short rather than few and long, because a machine drifts by more between minutes than most
// differences are large: two seconds hold tens of thousands of calls, and ten rounds are what the median's 95 %
// interval and the test between two subjects need. It has the published levels, and its short form the two that the conclusions are about.
var dataType = Experiment{
	Name: "datatype",
	Doc:  "look data types up by key, 50 to 800 calls in flight: what does each protocol cost?",
	Defaults: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"datatype"},
		Concurrency: []int{50, 100, 200, 400, 800},
		Rounds:      10,
		Duration:    2 * time.Second,
		Warmup:      500 * time.Millisecond,
	},
	Quick: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"datatype"},
		Concurrency: []int{50, 800},
		Rounds:      8,
		Duration:    time.Second,
		Warmup:      500 * time.Millisecond,
	},
	Variants: thriftStacks,
	Trials:   Blocks,
}
