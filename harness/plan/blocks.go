package plan

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Blocks is the plan of every experiment that compares subjects: in each round every subject once for each workload, number of
// connections, level and rate, in an order that is shuffled anew. What the machine does over time (turbo, neighbours, heat) so falls on all subjects
// alike, and no subject always follows the same other one. The trials of a round that differ in their subject alone follow one another where they
// are measured in turns (see Group).
//
// The order of all rounds is a function of the seed and of how many trials a round has: one PCG (math/rand/v2) with
// the seed and stream 0 shuffles the rounds one after another, so that more rounds leave the first ones as they were.
// A trial's own seed is the first number of the PCG with the seed and the stream round<<32 + concurrency.
func Blocks(s Settings) []Trial {
	order := rand.New(rand.NewPCG(s.Seed, 0))
	rates := s.Rates
	if len(rates) == 0 {
		rates = []string{""}
	}
	trials := make([]Trial, 0, s.Rounds*s.block())
	for round := 1; round <= s.Rounds; round++ {
		first := len(trials)
		for _, workload := range s.Workloads {
			for i, level := range s.Concurrency {
				iterations := 0
				if len(s.Iterations) > 0 {
					iterations = s.Iterations[i]
				}
				seed := rand.NewPCG(s.Seed, uint64(round)<<32+uint64(level)).Uint64()
				for _, conns := range s.connections(level) {
					for _, rate := range rates {
						for _, subject := range s.Subjects {
							trials = append(trials, Trial{Subject: subject, Workload: workload, Concurrency: level, Conns: conns, Rate: rate, Iterations: iterations, Round: round,
								Seed: seed, Duration: s.Duration, Warmup: s.Warmup, Turns: s.turns(level)})
						}
					}
				}
			}
		}
		shuffle(trials[first:], order, s.inTurns())
	}
	for i := range trials {
		trials[i].Order = i + 1
	}
	return trials
}

// connections are the numbers of connections at a level, each once: as many as the calls in flight may be one of the others.
func (s Settings) connections(level int) []int {
	if len(s.Conns) == 0 {
		return []int{0}
	}
	var all []int
	for _, n := range s.Conns {
		if n == 0 {
			n = level
		}
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	return all
}

// block is how many trials a round has.
func (s Settings) block() int {
	sum := 0
	for _, level := range s.Concurrency {
		sum += len(s.connections(level))
	}
	return sum * len(s.Subjects) * len(s.Workloads) * max(1, len(s.Rates))
}

// Planned is how long the trial's traffic takes by the plan: that of a number of iterations takes what it takes.
func (t Trial) Planned() time.Duration {
	if t.Iterations > 0 {
		return t.Warmup
	}
	return t.Warmup + t.Duration
}

// Overhead is what a trial takes beside its warm-up and its window, before anything is known of this machine: the
// start of the processes, dialling, the drain and their end.
const Overhead = 500 * time.Millisecond

// Estimate is how long these trials will take, each with the overhead given (see Overhead; better is what the trials
// so far took). A trial of so many iterations is overhead alone: how long they take is known once there was one. It is for a
// progress display.
func Estimate(trials []Trial, overhead time.Duration) time.Duration {
	var sum time.Duration
	for _, t := range trials {
		sum += t.Planned() + overhead
	}
	return sum
}
