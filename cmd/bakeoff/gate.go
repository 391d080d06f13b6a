package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/protocol/conformance"
)

// gate holds every subject to the conformance vectors, in a server process of its own with the options of the plan's
// first trial, and says who differs, and who could not be checked. An error is one of the machinery: the run can't go on.
func (j *job) gate(ctx context.Context, executable string, say *progress) (subjects []result.Subject, err error) {
	for _, name := range j.settings.Subjects {
		p := j.subjects[name]
		if of := slices.IndexFunc(subjects, func(s result.Subject) bool { return s.Name == j.flags.aliases[name] }); of >= 0 {
			s := subjects[of] // the same under another name
			s.Name = name
			subjects = append(subjects, s)
			continue
		}
		s := result.Subject{Name: name, Doc: p.Doc, Multiplexed: p.Multiplexed, Alone: j.alone(name), Uncompressed: j.uncompressed(name)}
		if plan.IsOverTLS(name) {
			s.Plain = plan.Plain(name)
		}
		trial := plan.Trial{Subject: name, Concurrency: conformanceCalls}
		began := time.Now()
		s.Differences, err = j.differences(ctx, executable, trial)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		switch {
		case err != nil: // a verdict on the machinery, not on the subject, which is left out of the ranking all the same
			s.Differences, s.Unchecked = nil, strings.ReplaceAll(err.Error(), "\n", "; ")
			say.say("conformance: %s is not ranked, for its answers could not be checked: %s", name, s.Unchecked)
		case len(s.Differences) == 0:
			s.Conformant = true
			say.say("conformance: %s gives the agreed answers (%s, %v)", name, j.vectorsOf(name), time.Since(began).Round(100*time.Millisecond))
		default:
			for _, d := range s.Differences {
				say.say("conformance: %s", d)
			}
		}
		subjects = append(subjects, s)
	}
	return subjects, nil
}

// differences runs the vectors through the subject of a trial. An error says that they could not be run to the end, as when
// the server or the store died: what calls failed with until then says nothing of the subject's answers.
func (j *job) differences(ctx context.Context, executable string, trial plan.Trial) ([]string, error) {
	if t := j.targets[trial.Subject]; t != nil {
		return t.differences(ctx, j.subjects[trial.Subject])
	}
	var all []string
	err := harness.Serving(ctx, executable, "server "+trial.Subject, storeCommand(j.flags.store),
		func(store string) harness.Command { return j.server(trial, store, true) }, func(ctx context.Context, addr string) error {
			p := j.subjects[trial.Subject]
			p.Name = trial.Subject // a variant's own, in what differs
			found, err := conformance.Run(ctx, p, addr)
			for _, d := range found {
				all = append(all, d.String())
			}
			return err
		})
	return all, err
}

// conformanceCalls is what the probe's server is told to expect in flight: the kit's own 64 and some.
const conformanceCalls = 80
