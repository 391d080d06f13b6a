package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"bakeoff/harness/admin"
	"bakeoff/harness/drive"
	"bakeoff/harness/plan"
	"bakeoff/harness/planted"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/harness/workload"
	"bakeoff/internal/nearest"
	"bakeoff/protocol"
	"bakeoff/service"
)

// job is a run whose flags have all been checked.
type job struct {
	experiment plan.Experiment
	settings   plan.Settings
	trials     []plan.Trial
	subjects   map[string]protocol.Protocol
	workloads  map[string]workload.Workload
	outputs    []output
	asked      report.Options // what the reports are asked for beside the baseline
	flags      runFlags
	planned    int                      // trials in the end, where they are more than trials
	past       *past                    // nil: the run begins anew
	objective  *report.Objective        // nil: the rates are given, and not searched for
	searched   bool                     // a run that is resumed has found its rates
	precision  *result.Precision        // nil: the rounds are fixed
	left       []remark                 // subjects of the experiment's own that are not measured
	targets    map[string]*target       // by label; nil where the run starts its servers
	store      *admin.Client            // reads a store that runs already; nil for none
	extra      map[string]planted.Extra // what a subject's server costs more than it does, by the name; only calibrate plants something
}

// minDuration is the shortest window of a trial.
const minDuration = 10 * time.Millisecond

// job checks everything that can be checked before a process is started or a file written.
func (f runFlags) job(e plan.Experiment, given func(flag string) bool) (*job, error) {
	j := &job{experiment: e, settings: e.Defaults, subjects: map[string]protocol.Protocol{}, workloads: map[string]workload.Workload{}, flags: f}
	j.flags.variants = e.Variants
	if f.quick {
		if j.settings = e.Quick; len(e.Quick.Subjects) == 0 {
			return nil, fmt.Errorf("--quick: the experiment %s has no short form: leave it away, and choose --rounds and --duration", e.Name)
		}
	}
	for flag, take := range map[string]func(){
		"subjects":    func() { j.settings.Subjects = f.settings.Subjects },
		"concurrency": func() { j.settings.Concurrency = f.settings.Concurrency },
		"duration":    func() { j.settings.Duration = f.settings.Duration },
		"warmup":      func() { j.settings.Warmup = f.settings.Warmup },
		"rounds":      func() { j.settings.Rounds = f.settings.Rounds },
		"workload":    func() { j.settings.Workloads = f.settings.Workloads },
		"iterations": func() {
			if j.settings.Iterations = f.settings.Iterations; slices.Equal(f.settings.Iterations, []int{0}) {
				j.settings.Iterations = nil
			}
		},
		"conns": func() { j.settings.Conns = f.settings.Conns },
		"turns": func() { j.settings.Turns = f.settings.Turns },
	} {
		if given(flag) {
			take()
		}
	}
	if j.settings.Seed = f.settings.Seed; !given("seed") {
		j.settings.Seed = rand.Uint64()
	}
	if d := j.settings.Duration; d > 0 && d < minDuration {
		return nil, fmt.Errorf("--duration %v: at least %v: in less a call may not even end, and the clocks are too coarse for what it costs", d, minDuration)
	}
	if err := checkStore(f.store); err != nil {
		return nil, err
	}
	if err := f.target.apply(j, given); err != nil {
		return nil, err
	}
	if err := j.flags.slow.apply(j); err != nil {
		return nil, err
	}
	var err error
	if j.objective, err = f.findRate.apply(&j.settings, given); err != nil {
		return nil, err
	}
	if err := f.rate.apply(&j.settings, given); err != nil {
		return nil, err
	}
	if err := j.flags.tls.apply(e, j); err != nil {
		return nil, err
	}
	if err := j.narrow(f.file != "" || given("subjects") || j.targets != nil, !given("print")); err != nil {
		return nil, err
	}
	if j.trials, err = e.Plan(j.settings); err != nil {
		return nil, err
	}
	if j.precision, err = f.precision.check(j.settings, given); err != nil {
		return nil, err
	}
	if err := j.checkFigure(); err != nil {
		return nil, err
	}
	for _, name := range j.settings.Subjects {
		if j.subjects[name], err = j.subject(name); err != nil {
			return nil, err
		}
	}
	for _, name := range j.settings.Workloads {
		w, err := workload.Find(name)
		if err != nil {
			return nil, err
		}
		j.workloads[name] = w
	}
	if err := j.tokens(); err != nil {
		return nil, err
	}
	if j.flags.baseline == "" {
		j.flags.baseline = j.settings.Subjects[0]
	} else if !slices.Contains(j.settings.Subjects, j.flags.baseline) {
		return nil, fmt.Errorf("--baseline: %w", nearest.Unknown("subject of this run", j.flags.baseline, j.settings.Subjects))
	}
	if f.timeout <= 0 {
		return nil, fmt.Errorf("--timeout %v: must be above 0", f.timeout)
	}
	if j.outputs, err = f.outputs.parse(slices.Concat(keep("the result file", f.results), keep("the result file", f.resume.file), keep("that of --lines", f.lines.file))...); err != nil {
		return nil, err
	}
	j.asked.RankFlagged = f.rate.rankFlagged
	if err := f.load.parse(&j.asked); err != nil {
		return nil, err
	}
	if err := j.checkLimits(); err != nil {
		return nil, err
	}
	if err := f.lines.check(slices.Concat(keep("the result file", f.results), keep("the result file", f.resume.file))...); err != nil {
		return nil, err
	}
	if f.resume.file != "" {
		return j, nil // it has its file
	}
	if err := newFile(f.results); err != nil {
		return nil, fmt.Errorf("--results: %w", err)
	}
	return j, nil
}

// tokens has the servers check tokens where a workload sends them by itself, and refuses workloads that can't.
func (j *job) tokens() error {
	why := "--auth"
	for _, name := range j.settings.Workloads {
		if j.workloads[name].Token && !j.flags.auth {
			j.flags.auth, why = true, "--workload "+name+" has the servers check tokens"
		}
	}
	for _, name := range j.settings.Workloads {
		if w := j.workloads[name]; j.flags.auth && w.NoAuth != "" {
			return fmt.Errorf("%s: the workload %s can't have it: %s", why, name, w.NoAuth)
		}
	}
	return nil
}

// checkLimits finds out before the run, not in its middle, whether the machine lets it open what it needs.
func (j *job) checkLimits() error {
	most, inFlight := 0, 0
	for _, t := range j.trials {
		conns, behind := j.options(t).Conns, 0
		if b := j.behind(t); b != nil {
			behind = b.Conns
		}
		most = max(most, conns+behind)
		inFlight = max(inFlight, t.Concurrency)
	}
	return errors.Join(harness.CheckDescriptors(harness.Descriptors(most, inFlight)), harness.CheckPorts(most))
}

// options are those of both ends of a trial. The deadline of a call is not among them: the driver's watchdog keeps it, by
// the same rule for every protocol, and a second one in the client would race with it.
func (j *job) options(t plan.Trial) protocol.Options {
	return j.subjects[t.Subject].Options(t.Concurrency, t.Conns)
}

// server is the command line of a trial's server over a store; probe adds what the conformance kit needs.
func (j *job) server(t plan.Trial, store string, probe bool) harness.Command {
	c := j.answering(j.subjects[t.Subject].Name, j.options(t), store, probe)
	c.Args = append(c.Args, plantedArgs(j.extra[t.Subject])...)
	return c
}

// answering is the command line of a process that answers calls by the rules.
func (j *job) answering(name string, o protocol.Options, store string, probe bool) harness.Command {
	args := []string{"serve", name, "--control", "--store", storeFor(j.flags.store, store), "--options", marshalled(o)}
	if j.flags.auth || probe {
		args = append(args, "--auth")
	}
	if probe {
		args = append(args, "--probe")
	} else { // what a server answers is examined at its own pace
		args = append(args, j.flags.slow.args()...)
	}
	return harness.Command{Args: args}
}

// driver is the command line and the job of a trial's client side.
func (j *job) driver(t plan.Trial, addr string) harness.Command {
	d := drive.Job{
		Subject: j.subjects[t.Subject].Name, Addr: addr, Options: j.options(t), Workload: t.Workload, Concurrency: t.Concurrency, Seed: t.Seed,
		Warmup: t.Warmup, Duration: t.Duration, Turns: t.Turns, Tell: time.Second, Iterations: uint64(t.Iterations), Grace: drive.DefaultGrace, CallTimeout: j.flags.timeout, Auth: j.flags.auth, ClientID: service.DemoClientID, Secret: service.DemoSecret,
	}
	j.flags.rate.tell(&d, t)
	j.flags.lines.tell(&d, t)
	return harness.Command{Args: []string{"drive"}, Job: d}
}

// prepare is what a trial's line says even when the trial fails.
func (j *job) prepare(t plan.Trial, out *result.Trial) {
	o := j.options(t)
	j.flags.rate.mode(t, out)
	out.Conns, out.Store, out.Messages = o.Conns, j.storeOf(t.Subject), j.workloads[t.Workload].Messages
	o.Timeout = j.flags.timeout      // kept by the driver's watchdog, and in force
	out.Options, _ = json.Marshal(o) // numbers and strings always marshal
}
