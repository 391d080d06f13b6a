package plan

import "time"

// levels asks how much slower a user's session becomes from a light load to a heavy one. Unlike the others it is over after so many
// iterations, as the published script was: a hundred by 20 at a time, then a thousand by 100. There is no warm-up but the one
// iteration that every trial begins with, and a trial that takes longer than a minute is ended.
var levels = Experiment{
	Name: "levels",
	Doc:  "log in, verify, execute: 100 sessions by 20 at a time and 1000 by 100: which step becomes slow under load?",
	Defaults: Settings{
		Subjects:    []string{"grpc", "thrift", "http"},
		Workloads:   []string{"scenario"},
		Concurrency: []int{20, 100},
		Iterations:  []int{100, 1000},
		Rounds:      10,
		Duration:    time.Minute,
	},
	Trials: Blocks,
}
