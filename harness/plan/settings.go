package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"bakeoff/internal/plural"
)

// The limits of settings: beyond them is a slip of the pen and not a plan.
const (
	MaxConcurrency = 10_000
	MaxConns       = 2 * MaxConcurrency
	MaxTrials      = 10_000
	MaxIterations  = 1_000_000_000
	MaxDuration    = 24 * time.Hour
)

// SettingError is one thing that is wrong with settings.
type SettingError struct {
	Setting string // "subjects", "rounds"
	Index   int    // within a list; -1 is the whole setting
	text    string
}

func (e *SettingError) Error() string { return e.text }

// Valid says what is wrong with the settings, all of it, each with what would be right. Whether the subjects and the
// workload exist is not known here. What it joins are errors of *SettingError.
func (s Settings) Valid() error {
	var errs []error
	wrong := func(setting string, index int, format string, args ...any) {
		errs = append(errs, &SettingError{setting, index, fmt.Sprintf(format, args...)})
	}

	if len(s.Subjects) == 0 {
		wrong("subjects", -1, "subjects: there are none; give at least one")
	}
	for i, name := range s.Subjects {
		switch {
		case name == "":
			wrong("subjects", i, "subjects: number %d has no name", i+1)
		case slices.Index(s.Subjects, name) < i:
			wrong("subjects", i, "subjects: %q stands there twice; name each once", name)
		}
	}
	if len(s.Workloads) == 0 {
		wrong("workloads", -1, "workload: there is none; give at least one")
	}
	for i, name := range s.Workloads {
		switch {
		case name == "":
			wrong("workloads", i, "workloads: number %d has no name", i+1)
		case slices.Index(s.Workloads, name) < i:
			wrong("workloads", i, "workloads: %q stands there twice; name each once", name)
		}
	}
	if len(s.Concurrency) == 0 {
		wrong("concurrency", -1, "concurrency: there is none; give at least one")
	}
	for i, level := range s.Concurrency {
		switch {
		case level < 1 || level > MaxConcurrency:
			wrong("concurrency", i, "concurrency %d: it must be from 1 to %d", level, MaxConcurrency)
		case slices.Index(s.Concurrency, level) < i:
			wrong("concurrency", i, "concurrency %d: it stands there twice; name each once", level)
		}
	}
	for i, n := range s.Conns {
		switch {
		case n < 0 || n > MaxConns:
			wrong("conns", i, "conns %d: it must be 0 (as many as the concurrency) or more, and at most %d", n, MaxConns)
		case slices.Index(s.Conns, n) < i:
			wrong("conns", i, "conns %d: it stands there twice; name each once", n)
		}
	}
	for i, rate := range s.Rates {
		switch {
		case rate == "":
			wrong("rates", i, "rates: number %d is empty", i+1)
		case slices.Index(s.Rates, rate) < i:
			wrong("rates", i, "rate %s: it stands there twice; name each once", rate)
		}
	}
	for i, n := range s.Iterations {
		if n < 1 || n > MaxIterations {
			wrong("iterations", i, "iterations %d: it must be from 1 to %d, or 0 alone for none", n, MaxIterations)
		}
	}
	switch n := len(s.Iterations); {
	case n > 0 && len(s.Rates) > 0:
		wrong("iterations", -1, "iterations: they end a closed loop, and there are rates: leave one of them away (--iterations 0 for none)")
	case n > 0 && n != len(s.Concurrency):
		wrong("iterations", -1, "iterations: %s for %s of concurrency: give one for each, such as --iterations 100,1000 beside --concurrency 20,100",
			plural.Of(n, "number"), plural.Of(len(s.Concurrency), "level"))
	}
	block := s.block()
	levels := block / max(1, len(s.Subjects))
	switch {
	case s.Rounds < 1:
		wrong("rounds", -1, "rounds %d: at least 1 is needed, 10 for intervals that mean something", s.Rounds)
	case block > 0 && s.Rounds > MaxTrials/block:
		wrong("rounds", -1, "rounds %d: with %s at %s that is over %d trials; at most %s fit",
			s.Rounds, plural.Of(len(s.Subjects), "subject"), plural.Of(levels, "level"), MaxTrials, plural.Of(MaxTrials/block, "round"))
	}
	if s.Duration <= 0 || s.Duration > MaxDuration {
		wrong("duration", -1, "duration %v: it must be above 0 and at most %v", s.Duration, MaxDuration)
	}
	if s.Turns != 0 && !slices.Contains(turnCounts, s.Turns) {
		wrong("turns", -1, "turns %d: it must be 1 (one trial after another), 2, 5 or %d", s.Turns, MostTurns)
	}
	if s.Warmup < 0 || s.Warmup > MaxDuration {
		wrong("warmup", -1, "warmup %v: it must be from 0 to %v", s.Warmup, MaxDuration)
	}
	return errors.Join(errs...)
}

// Expand gives the subjects that are measured where these were chosen.
func (e Experiment) Expand(chosen []string) []string {
	if e.Subjects == nil {
		return chosen
	}
	return e.Subjects(chosen)
}

// Plan checks the settings and gives the trials in their order.
func (e Experiment) Plan(s Settings) ([]Trial, error) {
	if err := s.Valid(); err != nil {
		return nil, err
	}
	return e.Trials(s), nil
}

// Extend gives the trials of the rounds after the first so many, up to those of the settings: what a run that has done the first
// rounds with the same settings goes on with. Their rounds and orders count on.
func (e Experiment) Extend(s Settings, done int) ([]Trial, error) {
	all, err := e.Plan(s)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(t Trial) bool { return t.Round > done })
	if i < 0 {
		return nil, nil
	}
	return all[i:], nil
}
