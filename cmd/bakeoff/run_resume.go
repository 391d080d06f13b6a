package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

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
var notOfThePlan = []string{"resume", "resume-failed", "results", "output", "wide", "rank-flagged", "help", "live", "live-host", "lines", "load", "core-price"}

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
	var settings struct {
		Flags map[string]json.RawMessage
		Turns *int
	}
	if err := json.Unmarshal(p.Header.Settings, &settings); err != nil || settings.Flags == nil {
		return errors.New("its header does not say which flags the run was given: it was written by something else than 'bakeoff run', or by an older one")
	}
	seed, err := json.Marshal(fmt.Sprint(p.Header.Seed)) // a random one was not given, and counts all the same
	if err != nil {
		return err
	}
	settings.Flags["seed"] = seed
	if settings.Turns == nil { // there were none yet when it began, and its order is another one
		settings.Flags["turns"] = json.RawMessage(`"1"`)
	}
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

// subjects are those that the run measures.
func (p *past) subjects() ([]string, error) {
	var settings struct{ Subjects []string }
	err := json.Unmarshal(p.Header.Settings, &settings)
	return settings.Subjects, err
}

// continued makes of a checked job one that does only what is missing.
func (p *past) continued(j *job, again bool) error {
	wrong := func(format string, args ...any) error {
		return usage(fmt.Errorf("--resume %s: %w", p.Name, fmt.Errorf(format, args...)))
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
	if !reflect.DeepEqual(p.Header.Precision, j.precision) {
		return wrong("precision: the file has %s, and now it is %s: the file was changed, or written by another version, which plans otherwise", asJSON(p.Header.Precision), asJSON(j.precision))
	}
	if j.precision != nil { // its rounds are those that were begun
		for _, t := range p.Trials {
			j.settings.Rounds = max(j.settings.Rounds, t.Round)
		}
		if j.trials, err = j.experiment.Plan(j.settings); err != nil {
			return wrong("%w", err)
		}
	}
	if p.Header.FindRate != nil && j.objective == nil || p.Header.FindRate != nil && !reflect.DeepEqual(p.Header.FindRate, j.findRate()) {
		return wrong("find_rate: the file has %s, and now it is %s: the file was changed, or written by another version, which searches otherwise", asJSON(p.Header.FindRate), asJSON(j.findRate()))
	}
	if j.objective != nil {
		cells, err := j.searches(p.Searches)
		if err != nil {
			return wrong("%w", err)
		}
		j.past = p
		if slices.ContainsFunc(cells, func(c *search) bool { return !c.over() }) {
			if len(p.Trials) > 0 {
				return wrong("line %d: a trial at a rate, and the search for the rates is not over: other versions search otherwise", p.Trials[0].Line)
			}
			return nil
		}
		j.trials, j.searched = j.atFound(cells), true
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
			return fmt.Sprintf("%s: the file has %s, and now it is %s", name, asJSON(a[name]), asJSON(b[name]))
		}
	}
	return ""
}

// asJSON shows a setting as the file has it.
func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
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
	if p.halved(t) {
		t.Warnings = append(t.Warnings, result.Warning{Kind: "apart", Text: "after the run was resumed, and not together with the others of its round: what the machine did in between falls on one side of their ratios"})
	}
	t.Resumed = p.resumed() + 1
	return t
}

// halved says that some of those that a trial was to be measured beside were measured before the run was resumed.
func (p *past) halved(t result.Trial) bool {
	return slices.ContainsFunc(p.Trials, func(then result.Trial) bool {
		return then.Round == t.Round && then.Workload == t.Workload && then.Concurrency == t.Concurrency && then.Rate == t.Rate &&
			then.Subject != t.Subject && then.Error == ""
	})
}

// resumed is how often the run has been resumed before, and has measured something then.
func (p *past) resumed() int {
	most := 0
	for _, t := range p.Trials {
		most = max(most, t.Resumed)
	}
	return most
}

// spent is how long the run has measured until now, about: from the first trial to the last each time. Nothing on a nil past.
func (p *past) spent() (sum time.Duration) {
	if p == nil {
		return 0
	}
	type stretch struct{ from, to time.Time }
	stretches := map[int]stretch{}
	for _, t := range p.Trials {
		s, end := stretches[t.Resumed], t.Started.Add(time.Duration(t.Elapsed*float64(time.Second)))
		if s.from.IsZero() || t.Started.Before(s.from) {
			s.from = t.Started
		}
		if end.After(s.to) {
			s.to = end
		}
		stretches[t.Resumed] = s
	}
	for _, s := range stretches {
		sum += s.to.Sub(s.from)
	}
	return sum
}

// over says whether a run without missing trials needs none beyond them; missed is then what it has not reached.
func (j *job) over() (over bool, missed string, err error) {
	if j.precision == nil {
		return true, "", nil
	}
	s, err := j.step(j.past.Header, j.past.Trials, j.settings.Rounds, j.past.spent(), true, false)
	return s.more == 0, s.missed, err
}

// searched are all trials of searches: those of then, and those that were made now. On a nil past it is what was made now.
func (p *past) searched(now []result.Trial) []result.Trial {
	if p == nil {
		return now
	}
	return slices.Concat(p.Searches, now)
}

// nothingMissing reports what is there.
func (j *job) nothingMissing(ctx context.Context, s *streams, missed string) error {
	tables, err := report.Build(result.File{Name: j.past.Name, Header: j.past.Header, Trials: j.past.Trials, Searches: j.past.Searches}, j.reportOptions())
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "nothing is missing in %s\n", j.past.Name)
	if err := writeAll(ctx, j.outputs, tables, s); err != nil {
		return err
	}
	return incomplete(j.past.Trials, j.past.Header.Subjects, nil, noRate(alsoInvalid(missed, tables), tables))
}

// with is the whole run: what there is of then, and what was added. On a nil past it is what was measured.
func (p *past) with(added []result.Trial) []result.Trial {
	if p == nil {
		return added
	}
	all := slices.Clone(p.Trials)
	for _, t := range added {
		all = append(all, p.mark(t))
	}
	return all
}
