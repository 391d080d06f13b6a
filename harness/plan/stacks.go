package plan

import "time"

// thriftStacks are the stacks of the Thrift bake-off beside the default one, which is binary over buffered sockets.
var thriftStacks = []Variant{
	{Name: "thrift-framed", Of: "thrift", Options: map[string]string{"transport": "framed"}},
	{Name: "thrift-compact", Of: "thrift", Options: map[string]string{"protocol": "compact"}},
	{Name: "thrift-compact-framed", Of: "thrift", Options: map[string]string{"protocol": "compact", "transport": "framed"}},
}

// stacks asks which of Thrift's own encodings and transports costs least.
var stacks = Experiment{
	Name:     "stacks",
	Doc:      "the four Thrift stacks: binary and compact, each buffered and framed",
	Variants: thriftStacks,
	Defaults: Settings{
		Subjects:    []string{"thrift", "thrift-framed", "thrift-compact", "thrift-compact-framed"},
		Workloads:   []string{"datatype"},
		Concurrency: []int{50},
		Rounds:      10,
		Duration:    2 * time.Second,
		Warmup:      500 * time.Millisecond,
	},
	Trials: Blocks,
}
