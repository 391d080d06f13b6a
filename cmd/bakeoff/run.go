package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bakeoff/harness/drive"
	"bakeoff/harness/plan"
	"bakeoff/harness/planted"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/harness/workload"
	"bakeoff/internal/nearest"
	"bakeoff/internal/plural"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
	"bakeoff/service"
)

// runFlags are what `bakeoff run` is told.
type runFlags struct {
	settings plan.Settings
	conns    int
	auth     bool
	store    string
	baseline string
	results  string
	outputs  []string
	timeout  time.Duration
	rate     rateFlags

	precision precisionFlags
	resume    resumeFlags
	recorded  map[string]any // the flags that were given, for the header
	// aliases are further names of subjects, so that one can stand in a run twice; only calibrate has them.
	aliases map[string]string
}

// subject finds a subject by its name, or by a further one.
func (f runFlags) subject(name string) (protocol.Protocol, error) {
	if of, ok := f.aliases[name]; ok {
		name = of
	}
	return suite.Find(name)
}

func runCommand(s *streams) *cobra.Command {
	f := runFlags{}
	cmd := &cobra.Command{
		Use:   "run [EXPERIMENT]",
		Short: "run an experiment: serve, drive and measure every subject, and print the table",
		Long: `run measures every subject in fresh processes, round by round in an order shuffled by the seed, and reports the
medians with their intervals. Without arguments it compares gRPC, Thrift and HTTP at 50 calls in flight, in about
ninety seconds. Before it measures it proves that all subjects give the same answers. Ctrl-C stops it: what was measured
is saved and reported.`,
		Example: `  bakeoff run
  bakeoff run --subjects grpc,grpc-tuned --concurrency 50,800 --baseline grpc
  bakeoff run --precision 2% --precision-of server_cpu_per_req --budget 10m
  bakeoff run --workload recordroute -o table -o json=report.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: work(func(cmd *cobra.Command, args []string) error {
			past, err := f.resume.take(cmd.Flags(), args)
			if err != nil {
				return err
			}
			defer past.close()
			if past != nil {
				args = []string{past.Header.Experiment}
			}
			f.recorded = recordFlags(cmd.Flags())
			experiment := plan.All()[0]
			if len(args) == 1 {
				var err error
				if experiment, err = plan.Find(args[0]); err != nil {
					return usage(err)
				}
			}
			j, err := f.job(experiment, cmd.Flags().Changed)
			if err != nil {
				return usage(err)
			}
			if past != nil {
				if err := past.continued(j, f.resume.failed); err != nil {
					return err
				}
				if len(j.trials) == 0 {
					return j.nothingMissing(s)
				}
			}
			return j.run(cmd.Context(), s)
		}),
	}
	d := plan.All()[0].Defaults
	flags := cmd.Flags()
	flags.StringSliceVar(&f.settings.Subjects, "subjects", d.Subjects, "`names` of the subjects, comma-separated ('bakeoff list')")
	flags.IntSliceVar(&f.settings.Concurrency, "concurrency", d.Concurrency, "`calls` in flight; several levels comma-separated")
	flags.DurationVar(&f.settings.Duration, "duration", d.Duration, "measured window of a trial")
	flags.DurationVar(&f.settings.Warmup, "warmup", d.Warmup, "traffic before the window, outside every figure")
	flags.IntVar(&f.settings.Rounds, "rounds", d.Rounds, "rounds, each with fresh processes; six or more give a 95 % interval")
	flags.StringVar(&f.settings.Workload, "workload", d.Workload, "`name` of the workload ('bakeoff list')")
	flags.Uint64Var(&f.settings.Seed, "seed", 0, "seed of the order and of the requests (default: a random one, recorded)")
	flags.IntVar(&f.conns, "conns", -1, "client connections; 0 is as many as the concurrency (default: what the protocol's users do:\n"+
		"one shared by all calls for gRPC, one for each call in flight for Thrift and HTTP)")
	f.rate.register(flags)
	f.precision.register(flags)
	f.resume.register(flags)
	flags.DurationVar(&f.timeout, "timeout", protocol.DefaultTimeout, "deadline of a call")
	flags.BoolVar(&f.auth, "auth", false, "log in, and send and check a token with each request")
	flags.StringVar(&f.store, "store", storeEmbedded, runStoreUsage)
	flags.StringVar(&f.baseline, "baseline", "", "`subject` that the others are compared with (default: the first)")
	flags.StringVar(&f.results, "results", "", "`file` for the raw results, JSON lines (default: a new one under results/)")
	flags.StringArrayVarP(&f.outputs, "output", "o", nil, outputUsage)
	return cmd
}

// job is a run whose flags have all been checked.
type job struct {
	experiment plan.Experiment
	settings   plan.Settings
	trials     []plan.Trial
	subjects   map[string]protocol.Protocol
	workload   workload.Workload
	outputs    []output
	flags      runFlags
	planned    int                      // trials in the end, where they are more than trials
	past       *past                    // nil: the run begins anew
	precision  *result.Precision        // nil: the rounds are fixed
	extra      map[string]planted.Extra // what a subject's server costs more than it does, by the name; only calibrate plants something
}

// job checks everything that can be checked before a process is started or a file written.
func (f runFlags) job(e plan.Experiment, given func(flag string) bool) (*job, error) {
	j := &job{experiment: e, settings: e.Defaults, subjects: map[string]protocol.Protocol{}, flags: f}
	for flag, take := range map[string]func(){
		"subjects":    func() { j.settings.Subjects = f.settings.Subjects },
		"concurrency": func() { j.settings.Concurrency = f.settings.Concurrency },
		"duration":    func() { j.settings.Duration = f.settings.Duration },
		"warmup":      func() { j.settings.Warmup = f.settings.Warmup },
		"rounds":      func() { j.settings.Rounds = f.settings.Rounds },
		"workload":    func() { j.settings.Workload = f.settings.Workload },
	} {
		if given(flag) {
			take()
		}
	}
	if j.settings.Seed = f.settings.Seed; !given("seed") {
		j.settings.Seed = rand.Uint64()
	}
	var err error
	if err := f.rate.apply(&j.settings, given); err != nil {
		return nil, err
	}
	if j.trials, err = e.Plan(j.settings); err != nil {
		return nil, err
	}
	if j.precision, err = f.precision.check(j.settings, given); err != nil {
		return nil, err
	}
	for _, name := range j.settings.Subjects {
		if j.subjects[name], err = f.subject(name); err != nil {
			return nil, err
		}
	}
	if j.workload, err = workload.Find(j.settings.Workload); err != nil {
		return nil, err
	}
	if j.flags.baseline == "" {
		j.flags.baseline = j.settings.Subjects[0]
	} else if !slices.Contains(j.settings.Subjects, j.flags.baseline) {
		return nil, fmt.Errorf("--baseline: %w", nearest.Unknown("subject of this run", j.flags.baseline, j.settings.Subjects))
	}
	if given("conns") && f.conns < 0 {
		return nil, fmt.Errorf("--conns %d: must be 0 (as many as the concurrency) or more", f.conns)
	}
	if f.conns > 2*plan.MaxConcurrency {
		return nil, fmt.Errorf("--conns %d: at most %d", f.conns, 2*plan.MaxConcurrency)
	}
	if f.timeout <= 0 {
		return nil, fmt.Errorf("--timeout %v: must be above 0", f.timeout)
	}
	if err := checkStore(f.store); err != nil {
		return nil, err
	}
	if j.outputs, err = parseOutputs(f.outputs, slices.Concat(keep("the result file", f.results), keep("the result file", f.resume.file))...); err != nil {
		return nil, err
	}
	if err := j.checkLimits(); err != nil {
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

// checkLimits finds out before the run, not in its middle, whether the machine lets it open what it needs.
func (j *job) checkLimits() error {
	most, inFlight := 0, 0
	for _, t := range j.trials {
		most = max(most, j.options(t).Conns)
		inFlight = max(inFlight, t.Concurrency)
	}
	return errors.Join(harness.CheckDescriptors(harness.Descriptors(most, inFlight)), harness.CheckPorts(most))
}

// options are those of both ends of a trial. The deadline of a call is not among them: the driver's watchdog keeps it, by
// the same rule for every protocol, and a second one in the client would race with it.
func (j *job) options(t plan.Trial) protocol.Options {
	conns := j.flags.conns
	switch {
	case conns < 0:
		conns = 0 // what the protocol's users do
	case conns == 0:
		conns = t.Concurrency
	}
	return j.subjects[t.Subject].Options(t.Concurrency, conns)
}

// session is a job under way: its subjects have been examined, and its result file is open.
type session struct {
	*job
	config harness.Config
	header result.Header
	file   *result.Writer
	say    *progress
	differ int // subjects that are not ranked: they give other answers, or could not be checked
}

func (j *job) run(ctx context.Context, s *streams) error {
	o, err := j.open(ctx, s)
	if err != nil {
		return err
	}
	trials, missed, runErr := o.measure(ctx)
	added := len(trials)
	trials = j.past.with(trials)
	o.say.close()
	runErr = errors.Join(interrupted(ctx, runErr, added), o.file.Close())

	// The report is made of what is in memory, so that a full disk takes nothing from it.
	tables, err := report.Build(result.File{Header: o.header, Trials: trials}, j.reportOptions())
	if err != nil {
		return errors.Join(runErr, err)
	}
	err = writeAll(j.outputs, tables, s.out)
	o.tellFile(s)
	if err := errors.Join(runErr, err); err != nil {
		return err
	}
	return incomplete(trials, o.differ, alsoInvalid(missed, tables))
}

// tellFile says where the raw results are.
func (o *session) tellFile(s *streams) {
	path := o.file.Path()
	fmt.Fprintf(s.err, "raw results: %s ('bakeoff report %s' shows them again)\n", path, path)
}

// open examines the subjects and opens the result file. Its caller closes say and file.
func (j *job) open(ctx context.Context, s *streams) (*session, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's file, to start it again as server and driver: %w", err)
	}
	if err := reachable(ctx, j.flags.store); err != nil {
		return nil, interrupted(ctx, err, 0)
	}
	say := newProgress(s.err, j)
	subjects, differ, err := j.gate(ctx, executable, say)
	if err != nil {
		say.close()
		return nil, interrupted(ctx, err, 0)
	}
	header, err := j.header(ctx, subjects)
	if err != nil {
		say.close()
		return nil, err
	}
	w, err := j.create(&header, say)
	if err != nil {
		say.close()
		return nil, err
	}
	config := harness.Config{
		Executable: executable,
		Server:     func(t plan.Trial, store string) harness.Command { return j.server(t, store, false) },
		Driver:     j.driver,
		Prepare:    j.prepare,
		CountCalls: true,
		Asks:       func(plan.Trial) map[string]float64 { return j.workload.Asks },
		Sink:       w.Append,
		Progress:   say.trial,
	}
	if j.past != nil {
		config.Sink = j.past.sink
	}
	if store := storeCommand(j.flags.store); store != nil {
		config.Store = func(plan.Trial) harness.Command { return *store }
	}
	return &session{job: j, config: config, header: header, file: w, say: say, differ: differ}, nil
}

// interrupted gives the end by a signal its exit code, and says what became of the trials that had ended by then.
func interrupted(ctx context.Context, err error, ended int) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	text := "interrupted before the first trial had ended: nothing was measured"
	if ended > 0 {
		text = "interrupted; what was measured until then is kept"
	}
	return &exitError{exitInterrupted, errors.New(text)}
}

// incomplete says which exit code a run to the end deserves.
func incomplete(trials []result.Trial, differ int, missed string) error {
	var failed int
	for _, t := range trials {
		if t.Error != "" {
			failed++
		}
	}
	var parts []string
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s failed", failed, plural.Of(len(trials), "trial")))
	}
	if differ > 0 {
		parts = append(parts, fmt.Sprintf("subjects without the proof that they give the agreed answers, which are not ranked: %d", differ))
	}
	if missed != "" {
		parts = append(parts, missed)
	}
	if len(parts) == 0 {
		return nil
	}
	return &exitError{exitIncomplete, errors.New(strings.Join(parts, "; ") + ": see the report")}
}

// server is the command line of a trial's server; probe adds what the conformance kit needs.
func (j *job) server(t plan.Trial, store string, probe bool) harness.Command {
	o, err := json.Marshal(j.options(t))
	if err != nil {
		panic(err) // numbers and strings always marshal
	}
	args := []string{"serve", j.subjects[t.Subject].Name, "--control", "--store", storeFor(j.flags.store, store), "--options", string(o)}
	if j.flags.auth || probe {
		args = append(args, "--auth")
	}
	if probe {
		args = append(args, "--probe")
	}
	args = append(args, plantedArgs(j.extra[t.Subject])...)
	return harness.Command{Args: args}
}

// driver is the command line and the job of a trial's client side.
func (j *job) driver(t plan.Trial, addr string) harness.Command {
	d := drive.Job{
		Subject: j.subjects[t.Subject].Name, Addr: addr, Options: j.options(t), Workload: t.Workload, Concurrency: t.Concurrency, Seed: t.Seed,
		Warmup: t.Warmup, Duration: t.Duration, Grace: drive.DefaultGrace, CallTimeout: j.flags.timeout, Auth: j.flags.auth, ClientID: service.DemoClientID, Secret: service.DemoSecret,
	}
	j.flags.rate.tell(&d, t)
	return harness.Command{Args: []string{"drive"}, Job: d}
}

// prepare is what a trial's line says even when the trial fails.
func (j *job) prepare(t plan.Trial, out *result.Trial) {
	o := j.options(t)
	j.flags.rate.mode(t, out)
	out.Conns, out.Store, out.Messages = o.Conns, j.flags.store, j.workload.Messages
	o.Timeout = j.flags.timeout      // kept by the driver's watchdog, and in force
	out.Options, _ = json.Marshal(o) // numbers and strings always marshal
}

func (j *job) header(ctx context.Context, subjects []result.Subject) (result.Header, error) {
	settings, err := json.Marshal(j.allSettings())
	if err != nil {
		return result.Header{}, err
	}
	return result.Header{
		Schema: result.Schema, Kind: "bakeoff-header", Version: version(), Experiment: j.experiment.Name, Started: time.Now().UTC(),
		Command: slices.Concat([]string{"bakeoff"}, os.Args[1:]), Seed: j.settings.Seed, Baseline: j.flags.baseline, Planned: max(j.planned, len(j.trials)), Precision: j.precision,
		Settings: settings, Subjects: subjects, Env: harness.Environment(ctx), Warnings: machineWarnings(),
	}, nil
}

// allSettings are what the header says of the plan and of how it is carried out, in base words.
func (j *job) allSettings() map[string]any {
	all := map[string]any{
		"subjects": j.settings.Subjects, "workload": j.settings.Workload, "concurrency": j.settings.Concurrency,
		"rounds": j.settings.Rounds, "duration": j.settings.Duration.String(), "warmup": j.settings.Warmup.String(),
		"rates": j.settings.Rates, "arrivals": j.flags.rate.arrivals, "max_failures": j.flags.rate.maxFailures,
		"timeout": j.flags.timeout.String(), "auth": j.flags.auth, "store": j.flags.store,
		"store_policy": storePolicy(j.flags.store, slices.Max(j.settings.Concurrency)),
	}
	if j.flags.recorded != nil {
		all["flags"] = j.flags.recorded
	}
	return all
}

// create opens the result file; without a name it is a new one under results/. That of a run that is resumed is open, and has a header.
func (j *job) create(header *result.Header, say *progress) (*result.Writer, error) {
	if j.past != nil {
		err := j.past.examined(*header, say)
		*header = j.past.Header
		return j.past.writer, err
	}
	h := *header
	if j.flags.results != "" {
		return result.Create(j.flags.results, h, false)
	}
	stem := filepath.Join(defaultResults, j.experiment.Name+"-"+h.Started.Format("20060102-150405"))
	for n := 1; ; n++ {
		path := stem + ".jsonl"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.jsonl", stem, n)
		}
		w, err := result.Create(path, h, false)
		if n < 100 && errors.Is(err, fs.ErrExist) {
			continue
		}
		return w, err
	}
}
