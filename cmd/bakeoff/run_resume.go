package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"bakeoff/harness/plan"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
)

// resumeFlags continue a run that was interrupted. Its plan, which the seed makes the same again, comes from the header of its file; so do
// the flags that shaped it. A trial that has no line in the file is missing; one that failed has one, and is done again only if asked.
type resumeFlags struct {
	file   string
	failed bool
}

func (f *resumeFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "resume", "", "go on with the run of this result `file`: the trials that are missing, by its plan and seed, appended to it")
	flags.BoolVar(&f.failed, "resume-failed", false, "with --resume: do the trials that failed or were skipped again, too")
}

// notOfThePlan are the flags of run that say where things go, and how they are shown.
var notOfThePlan = []string{"resume", "resume-failed", "results", "output", "wide", "rank-flagged", "help", "live", "live-host", "lines"}

// recordFlags are the flags that were given and shape the plan, by name, for the header: whatever flags there are.
func recordFlags(flags *pflag.FlagSet) map[string]any {
	given := map[string]any{}
	flags.Visit(func(fl *pflag.Flag) {
		if !slices.Contains(notOfThePlan, fl.Name) {
			given[fl.Name] = flagValue(fl)
		}
	})
	return given
}

// flagValue is a list where the flag is one: the value of a list as text does not survive being set again.
func flagValue(fl *pflag.Flag) any {
	if list, ok := fl.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return fl.Value.String()
}

// past is what was done of a run that is resumed.
type past struct {
	result.File
	writer *result.Writer
	done   map[int]bool // trials that are not done again, by their order
	marks  []result.Warning
}

// close lets go of the file; after a run it is closed already, and whether that went well was told.
func (p *past) close() {
	if p != nil {
		_ = p.writer.Close()
	}
}

// take opens the file and gives the flags their values of then. nil is a run that is not resumed. Its errors are those of the
// command line, unless the file can't be read.
func (f resumeFlags) take(flags *pflag.FlagSet, experiment []string) (*past, error) {
	if f.file == "" {
		if f.failed {
			return nil, usage(errors.New("--resume-failed: is about --resume, which is not given"))
		}
		return nil, nil
	}
	if flags.Changed("results") {
		return nil, usage(errors.New("--results: the trials of --resume are appended to its own file: leave it away"))
	}
	w, file, err := result.Append(f.file)
	if err != nil {
		return nil, err
	}
	p := &past{File: file, writer: w}
	if err := p.setFlags(flags, experiment); err != nil {
		p.close()
		return nil, usage(fmt.Errorf("--resume %s: %w", f.file, err))
	}
	return p, nil
}

// setFlags restores what was given then, and refuses what is given now and differs.
func (p *past) setFlags(flags *pflag.FlagSet, experiment []string) error {
	if len(experiment) == 1 && experiment[0] != p.Header.Experiment {
		return fmt.Errorf("experiment: the file has %q, and %q is asked for", p.Header.Experiment, experiment[0])
	}
	var settings struct{ Flags map[string]json.RawMessage }
	if err := json.Unmarshal(p.Header.Settings, &settings); err != nil || settings.Flags == nil {
		return errors.New("its header does not say which flags the run was given: it was written by something else than 'bakeoff run', or by an older one")
	}
	seed, err := json.Marshal(fmt.Sprint(p.Header.Seed)) // a random one was not given, and counts all the same
	if err != nil {
		return err
	}
	settings.Flags["seed"] = seed
	for _, name := range slices.Sorted(maps.Keys(settings.Flags)) {
		fl := flags.Lookup(name)
		if fl == nil {
			return fmt.Errorf("its run was given --%s, which this bakeoff does not have", name)
		}
		if err := restore(flags, fl, settings.Flags[name]); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	var other error
	flags.Visit(func(fl *pflag.Flag) {
		if _, ok := settings.Flags[fl.Name]; !ok && !slices.Contains(notOfThePlan, fl.Name) && fl.Value.String() != fl.DefValue {
			other = fmt.Errorf("--%s: the run was not given it, and %s is asked for: leave the flag away", fl.Name, fl.Value)
		}
	})
	return other
}

// restore sets a flag that was not given to its value of then.
func restore(flags *pflag.FlagSet, fl *pflag.Flag, raw json.RawMessage) error {
	var text string
	list, isList := fl.Value.(pflag.SliceValue)
	var items []string
	if isList {
		if err := json.Unmarshal(raw, &items); err != nil {
			return fmt.Errorf("the header has %s, which is no list of strings", raw)
		}
		text = strings.Join(items, ",")
	} else if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("the header has %s, which is no string", raw)
	}
	if fl.Changed {
		now := fl.Value.String()
		if isList {
			now = strings.Join(list.GetSlice(), ",")
		}
		if now != text {
			return fmt.Errorf("the file has %s, and %s is asked for: leave the flag away", text, now)
		}
		return nil
	}
	if isList {
		fl.Changed = true // as Set would
		return list.Replace(items)
	}
	return flags.Set(fl.Name, text)
}

// continued makes of a checked job one that does only what is missing.
func (p *past) continued(j *job, again bool) error {
	wrong := func(format string, args ...any) error {
		return usage(fmt.Errorf("--resume %s: %w", p.Name, fmt.Errorf(format, args...)))
	}
	if p.Header.FindRate != nil {
		return wrong("%w", errSearched)
	}
	if p.Header.Precision != nil {
		return wrong("a run with --precision can't be resumed: how many rounds it has comes of what it measured: 'bakeoff report' shows what it has; run it again")
	}
	if p.Header.Planned != len(j.trials) {
		return wrong("%d trials were planned, and the plan that the flags of then make now has %d, so that it can't be resumed: other versions plan otherwise", p.Header.Planned, len(j.trials))
	}
	now, err := json.Marshal(j.allSettings())
	if err != nil {
		return err
	}
	if what := contradiction(p.Header.Settings, now); what != "" {
		return wrong("%s", what)
	}
	byOrder := map[int]plan.Trial{}
	for _, t := range j.trials {
		byOrder[t.Order] = t
	}
	p.done = map[int]bool{}
	for _, t := range p.Trials {
		planned, ok := byOrder[t.Order]
		if !ok || planned.Subject != t.Subject || planned.Workload != t.Workload || planned.Concurrency != t.Concurrency || planned.Rate != t.Rate || planned.Round != t.Round || planned.Seed != t.Seed {
			return wrong("line %d: trial %d (%s at %d, round %d) is not the one of the plan: other versions plan otherwise", t.Line, t.Order, t.Subject, t.Concurrency, t.Round)
		}
		if t.Error == "" || !again {
			p.done[t.Order] = true
		}
	}
	j.past = p
	j.trials = slices.DeleteFunc(j.trials, func(t plan.Trial) bool { return p.done[t.Order] })
	return nil
}

// contradiction names the first setting that differs; the flags were compared one by one.
func contradiction(then, now json.RawMessage) string {
	var a, b map[string]any
	if json.Unmarshal(then, &a) != nil || json.Unmarshal(now, &b) != nil {
		return "the settings can't be compared"
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if name != "flags" && !reflect.DeepEqual(a[name], b[name]) {
			return fmt.Sprintf("%s: the file has %v, and now it is %v", name, a[name], b[name])
		}
	}
	return ""
}

// examined holds what the gate says now, and the environment, against the header. What differs in the answers ends the run; what differs
// in the environment is told, and marks every trial that is added.
func (p *past) examined(now result.Header, say *progress) error {
	for _, s := range now.Subjects {
		for _, then := range p.Header.Subjects {
			if then.Name == s.Name && then.Conformant != s.Conformant {
				return fmt.Errorf("--resume %s: the answers of %s were shown to agree with what was asked of all: then %t, now %t; its trials of then and now can't stand in one row",
					p.Name, s.Name, then.Conformant, s.Conformant)
			}
		}
	}
	for _, s := range report.Suspects(p.Header, now) {
		say.say("warning: since the run began, this has changed: %s", s)
		p.marks = append(p.marks, result.Warning{Kind: "environment_changed", Text: "measured after the run was resumed, when this had changed: " + s.String()})
	}
	return nil
}

// sink marks and keeps a trial that is added.
func (p *past) sink(t result.Trial) error { return p.writer.Append(p.mark(t)) }

func (p *past) mark(t result.Trial) result.Trial {
	t.Warnings = slices.Concat(t.Warnings, p.marks)
	return t
}

// nothingMissing reports what is there.
func (j *job) nothingMissing(s *streams) error {
	fmt.Fprintf(s.err, "nothing is missing in %s\n", j.past.Name)
	tables, err := report.Build(result.File{Name: j.past.Name, Header: j.past.Header, Trials: j.past.Trials}, j.reportOptions())
	if err != nil {
		return err
	}
	if err := writeAll(j.outputs, tables, s.out); err != nil {
		return err
	}
	differ := 0
	for _, sub := range j.past.Header.Subjects {
		if !sub.Conformant {
			differ++
		}
	}
	return incomplete(j.past.Trials, differ, alsoInvalid("", tables))
}

// with is the whole run: what is kept of then, and what was added. On a nil past it is what was measured.
func (p *past) with(added []result.Trial) []result.Trial {
	if p == nil {
		return added
	}
	again := map[int]bool{}
	for i, t := range added {
		added[i] = p.mark(t)
		again[t.Order] = true
	}
	kept := slices.DeleteFunc(slices.Clone(p.Trials), func(t result.Trial) bool { return again[t.Order] })
	return slices.Concat(kept, added)
}
