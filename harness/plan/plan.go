// Package plan turns an experiment into an ordered list of trials. It is pure: the same settings and seed give
// the same list. It knows nothing of processes, protocols or transports; a subject is a name to it.
package plan

import "time"

// Settings are what a user may choose of an experiment. They start as a copy of its Defaults, in which whatever the
// user gave is overwritten: a zero that the user gave is then refused and not taken for "not given".
type Settings struct {
	Subjects    []string
	Workloads   []string
	Concurrency []int
	// Conns are numbers of client connections, 0 for as many as there are calls in flight; none is what each protocol's users
	// open.
	Conns []int
	// Rates are the total calls a second of open loops, as load.ParseProfile reads them; none is the closed loop.
	Rates []string
	// Iterations are how many the closed loop makes, one number for each of Concurrency; none has it last for Duration. With them
	// Duration is the longest that a trial may take.
	Iterations []int
	Rounds     int
	Seed       uint64
	Duration   time.Duration
	Warmup     time.Duration
	// Turns is in how many parts at most a closed loop's window is measured, in turns with the other subjects: 1, 2, 5 or 10 (MostTurns). 0 is
	// as many as make sense, 1 one trial after another.
	Turns int
}

// Trial is one measurement: one subject at one level in one round.
type Trial struct {
	Subject     string
	Workload    string
	Concurrency int
	// Conns is the number of client connections; 0 is what the protocol's users open.
	Conns int
	// Rate is the total calls a second of the open loop, as in Settings.Rates; "" is the closed loop.
	Rate string
	// Iterations ends the closed loop, or Duration does if it is over before; 0 is no bound.
	Iterations int
	// Round counts the blocks from 1; every subject and level stands once in each block.
	Round int
	// Order counts the trials from 1, in the order in which they run.
	Order int
	// Seed is the same for every subject of a block at one level, so that they meet the same requests.
	Seed     uint64
	Duration time.Duration
	Warmup   time.Duration
	// Turns is in how many equal parts the window is measured, 1 or more; see Group.
	Turns int
}

// Variant is a subject that an experiment has beside those that all have: another one with other options.
type Variant struct {
	Name string
	// Of is the subject that it is a variant of.
	Of string
	// Options are those of the protocol alone, by name: they are set over the ones that Of sets.
	Options map[string]string
}

// Experiment is a documented plan.
type Experiment struct {
	Name string
	Doc  string
	// Variants may be named among the subjects.
	Variants []Variant
	// Defaults are the settings where the user gives none. They are shared: clone the slices before changing them.
	Defaults Settings
	// Quick are the settings of a short form: the least by which the experiment's questions can be answered. Without subjects
	// there is none.
	Quick Settings
	// Subjects makes of the subjects that were chosen those that are measured; nil measures the chosen ones.
	Subjects func(chosen []string) []string
	// Trials is called with settings that are Valid. It goes round by round, and more rounds leave those before them as they
	// were, so that a run can be extended.
	Trials func(s Settings) []Trial
}
