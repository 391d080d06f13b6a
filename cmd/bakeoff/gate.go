package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/protocol/conformance"
)

// gate holds every subject to the conformance vectors, in a server process of its own with the options of the plan's
// first trial, and says who differs. An error is one of the machinery: the run can't go on.
func (j *job) gate(ctx context.Context, executable string, say *progress) (subjects []result.Subject, differ int, err error) {
	for _, name := range j.settings.Subjects {
		p := j.subjects[name]
		if of := slices.IndexFunc(subjects, func(s result.Subject) bool { return s.Name == j.flags.aliases[name] }); of >= 0 {
			s := subjects[of] // the same under another name
			s.Name = name
			subjects = append(subjects, s)
			continue
		}
		s := result.Subject{Name: name, Doc: p.Doc, Multiplexed: p.Multiplexed}
		trial := plan.Trial{Subject: name, Workload: j.settings.Workload, Concurrency: conformanceCalls}
		began := time.Now()
		err := harness.Serving(ctx, executable, "server "+name, storeCommand(j.flags.store),
			func(store string) harness.Command { return j.server(trial, store, true) }, func(ctx context.Context, addr string) error {
				for _, d := range conformance.Run(ctx, p, addr) {
					s.Differences = append(s.Differences, d.String())
				}
				return ctx.Err()
			})
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		if err != nil {
			s.Differences = append(s.Differences, fmt.Sprintf("the vectors could not be run: %v", err))
		}
		s.Conformant = len(s.Differences) == 0
		if s.Conformant {
			say.say("conformance: %s gives the agreed answers (%d vectors, %v)", name, len(conformance.Vectors), time.Since(began).Round(100*time.Millisecond))
		} else {
			differ++
			for _, d := range s.Differences {
				say.say("conformance: %s", d)
			}
		}
		subjects = append(subjects, s)
	}
	return subjects, differ, nil
}

// conformanceCalls is what the probe's server is told to expect in flight: the kit's own 64 and some.
const conformanceCalls = 80
