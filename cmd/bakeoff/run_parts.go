package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bakeoff/harness/result"
	"bakeoff/harness/workload"
	"bakeoff/protocol"
	"bakeoff/protocol/conformance"
	"bakeoff/service"
)

// warnLeftOut is the kind of the header's warning about subjects of the experiment's own list that are not measured here.
const warnLeftOut = "left_out"

// remark is what is said of some subjects alike.
type remark struct {
	names []string
	why   string
}

func (r remark) String() string { return strings.Join(r.names, ", ") + ": " + r.why }

// withRemark has name among those of which why is said.
func withRemark(all []remark, name, why string) []remark {
	at := slices.IndexFunc(all, func(r remark) bool { return r.why == why })
	if at < 0 {
		at, all = len(all), append(all, remark{why: why})
	}
	all[at].names = append(all[at].names, name)
	return all
}

// narrow leaves out those of the experiment's own subjects that can't be measured here, or not by these workloads. One that was asked for by its
// name is an error, and so is one of the run that is resumed. What is not to run here, but to be written down, may need what this machine lacks.
func (j *job) narrow(named, here bool) error {
	var kept []string
	then := len(j.flags.then) > 0
	for _, name := range j.settings.Subjects {
		if then && !named && !slices.Contains(j.flags.then, name) {
			continue // left out then
		}
		p, err := j.subject(name)
		if err != nil {
			return err
		}
		err = j.possible(p, here)
		switch {
		case err == nil:
			kept = append(kept, name)
		case named || then || name == j.flags.baseline:
			return fmt.Errorf("the subject %s can't be measured: %w", name, err)
		default:
			j.left = withRemark(j.left, name, err.Error())
		}
	}
	if len(kept) == 0 && len(j.left) > 0 {
		return fmt.Errorf("no subject of this experiment can be measured: %s", j.left[0])
	}
	j.settings.Subjects = kept
	return nil
}

// missingTime is how long it may take to find out what a machine lacks.
const missingTime = 20 * time.Second

// possible says why a subject can't be measured, with the mend.
func (j *job) possible(p protocol.Protocol, here bool) error {
	if j.targets == nil {
		if p.Missing != nil && here {
			ctx, cancel := context.WithTimeout(context.Background(), missingTime)
			defer cancel()
			if err := p.Missing(ctx); err != nil {
				return err
			}
		}
		if err := p.Check(p.Options(1, 0)); err != nil {
			return err
		}
	}
	auth := j.flags.auth
	for _, name := range j.settings.Workloads {
		w, err := workload.Find(name)
		if err != nil {
			continue // who is unknown is told later
		}
		auth = auth || w.Token
		if lacks := p.Lacks(w.Calls); len(lacks) > 0 {
			return fmt.Errorf("it has %s alone, and the workload %s calls %s: choose another workload (%s), or leave it out of the subjects",
				callNames(p.Calls), w.Name, callNames(lacks), strings.Join(fitting(p), ", "))
		}
	}
	if auth && !p.Has(service.CallLogin) {
		return fmt.Errorf("it has %s alone, and with tokens (--auth) Login is called: leave --auth away, or leave it out of the subjects", callNames(p.Calls))
	}
	return nil
}

// callNames are the names of calls as words.
func callNames(calls []service.Call) string {
	var all []string
	for _, c := range calls {
		all = append(all, string(c))
	}
	return strings.Join(all, ", ")
}

// fitting are the workloads that a subject has the calls for.
func fitting(p protocol.Protocol) []string {
	var names []string
	for _, w := range workload.All {
		if len(p.Lacks(w.Calls)) == 0 {
			names = append(names, w.Name)
		}
	}
	return names
}

// tellLeftOut says which subjects are not measured, and why.
func (j *job) tellLeftOut(say *progress) {
	for _, l := range j.left {
		say.say("left out: %s", l)
	}
}

// partsWarnings say in the header which subjects were left out, and which were held to some of the vectors only.
func (j *job) partsWarnings() []result.Warning {
	var all []result.Warning
	for _, l := range j.left {
		all = append(all, result.Warning{Kind: warnLeftOut, Text: "left out: " + l.String()})
	}
	var parts []remark // by what they were not asked
	for _, name := range j.settings.Subjects {
		p := j.subjects[name]
		if p.Calls == nil || j.targets != nil {
			continue
		}
		parts = withRemark(parts, name, "held to "+partOf(p))
	}
	for _, l := range parts {
		all = append(all, result.Warning{Kind: result.WarnPartlyChecked, Text: l.String()})
	}
	return all
}

// partOf says which vectors a subject that has some calls only is held to.
func partOf(p protocol.Protocol) string {
	return fmt.Sprintf("%d of %d vectors, those of what it has (%s); the others were not asked", len(conformance.Asked(p, conformance.Vectors)), len(conformance.Vectors), callNames(p.Calls))
}
