package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bakeoff/harness/load"
	"bakeoff/harness/plan"
	"bakeoff/harness/planted"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/harness/stats"
	"bakeoff/internal/plural"
	"bakeoff/protocol"
)

// calibrateFlags are what `bakeoff calibrate` is told. Its runs are those of `bakeoff run`.
type calibrateFlags struct {
	run      runFlags
	subject  string
	level    int
	runs     int
	plant    string
	delay    time.Duration
	from     string
	workload string
}

// calibrateExperiment is the name in the header of a calibration's result file.
const calibrateExperiment = "calibrate"

// What is planted stands in the values of the trials that it was planted in.
const (
	plantedCPU   = "planted_cpu_per_req" // s
	plantedDelay = "planted_delay"       // s
)

func calibrateCommand(s *streams) *cobra.Command {
	f := calibrateFlags{run: runFlags{timeout: protocol.DefaultTimeout,
		rate: rateFlags{arrivals: load.Even.Name, maxFailures: defaultMaxFailures}}}
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "measure what this machine lets a run see: one subject against itself, and against a known difference",
		Long: `calibrate runs one subject under two names, which differ in nothing, as often as asked for. What they differ in all the
same is the noise of this machine: for each figure it prints how far apart they are, the smallest difference that a
run shows in four of five cases, and how often a run claimed a difference where there is none. With --plant a third
subject joins in, whose server burns that share more CPU for each call: was it found? The results are kept, and
--from judges them again.`,
		Example: `  bakeoff calibrate
  bakeoff calibrate --plant 5% --runs 10
  bakeoff calibrate --from results/calibrate-20260102-150405.jsonl`,
		Args: cobra.NoArgs,
		RunE: work(func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("from") {
				if err := alone("from", cmd.Flags()); err != nil {
					return usage(err)
				}
				return f.again(cmd.Context(), s)
			}
			j, share, err := f.job(cmd.Flags().Changed)
			if err != nil {
				return usage(err)
			}
			if err := j.flags.tls.certificates(); err != nil {
				return err
			}
			defer j.flags.tls.forget()
			return f.measure(cmd.Context(), s, j, share)
		}),
	}
	d := plan.All()[0].Defaults
	flags := cmd.Flags()
	flags.StringVar(&f.subject, "subject", d.Subjects[0], "`name` of the subject ('bakeoff list')")
	flags.IntVar(&f.runs, "runs", 5, "how many runs, each of all its rounds")
	flags.StringVar(&f.plant, "plant", "", "`share` of its CPU, as in 5%, that the server of a third subject burns in addition")
	flags.DurationVar(&f.delay, "plant-delay", 0, "time that each call to the third subject's server waits in addition")
	flags.StringVar(&f.from, "from", "", "judge the `file` of an earlier calibration, and measure nothing")
	flags.IntVar(&f.level, "concurrency", d.Concurrency[0], "`calls` in flight")
	flags.DurationVar(&f.run.settings.Duration, "duration", d.Duration, "measured window of a trial")
	flags.DurationVar(&f.run.settings.Warmup, "warmup", d.Warmup, "traffic before the window, outside every figure")
	flags.IntVar(&f.run.settings.Rounds, "rounds", d.Rounds, "rounds of one run, each with fresh processes")
	flags.StringVar(&f.workload, "workload", d.Workloads[0], "`name` of the workload ('bakeoff list')")
	flags.Uint64Var(&f.run.settings.Seed, "seed", 0, "seed of the order and of the requests (default: a random one, recorded)")
	flags.StringVar(&f.run.store, "store", storeEmbedded, runStoreUsage)
	flags.StringVar(&f.run.results, "results", "", "`file` for the raw results, JSON lines (default: a new one under results/)")
	return cmd
}

// alone refuses all other flags beside one: they would say nothing.
func alone(name string, flags *pflag.FlagSet) error {
	var others []string
	flags.Visit(func(fl *pflag.Flag) {
		if fl.Name != name {
			others = append(others, "--"+fl.Name)
		}
	})
	if len(others) > 0 {
		return fmt.Errorf("%s with --%s: it measures nothing, and judges what the file has: leave one of the two away", strings.Join(others, ", "), name)
	}
	return nil
}

// job is the first run's; share is what --plant says, 0 for nothing.
func (f calibrateFlags) job(given func(flag string) bool) (j *job, share float64, err error) {
	if given("plant") {
		if share, err = parseShare(f.plant); err != nil {
			return nil, 0, fmt.Errorf("--plant %q: %w", f.plant, err)
		}
	}
	switch {
	case f.runs < 1:
		return nil, 0, fmt.Errorf("--runs %d: must be at least 1", f.runs)
	case f.delay < 0:
		return nil, 0, fmt.Errorf("--plant-delay %v: must not be negative", f.delay)
	case f.delay > 0 && share > 0:
		return nil, 0, errors.New("--plant and --plant-delay: one at a time, so that what is found is known to be it")
	}
	r := f.run
	twin := f.subject + "-twin"
	r.settings.Subjects, r.settings.Concurrency, r.settings.Workloads = []string{f.subject, twin}, []int{f.level}, []string{f.workload}
	r.aliases = map[string]string{twin: f.subject}
	if share > 0 || f.delay > 0 {
		other := f.subject + "-planted"
		r.settings.Subjects = append(r.settings.Subjects, other)
		r.aliases[other] = f.subject
	}
	e := plan.All()[0]
	e.Name = calibrateExperiment
	j, err = r.job(e, func(flag string) bool { return flag == "subjects" || flag == "concurrency" || given(flag) })
	if err != nil {
		return nil, 0, err
	}
	p := j.subjects[f.subject]
	if (share > 0 || f.delay > 0) && asksNothing(p) {
		return nil, 0, fmt.Errorf("--plant, --plant-delay: %s answers by itself, and nothing can be planted there: choose another subject", f.subject)
	}
	if share > 0 && p.Apart {
		return nil, 0, fmt.Errorf("--plant: the CPU of %s is that of PHP, in which nothing can be planted: choose another subject, or --plant-delay, which has its backend wait",
			f.subject)
	}
	j.planned = f.runs * len(j.trials)
	all := j.settings
	all.Rounds *= f.runs
	if all.Rounds/f.runs != j.settings.Rounds {
		return nil, 0, fmt.Errorf("--runs %d: too many", f.runs)
	}
	if _, err := e.Plan(all); err != nil {
		return nil, 0, fmt.Errorf("--runs %d: %w", f.runs, err)
	}
	return j, share, nil
}

// baselineRounds are how many trials of the subject are measured before the first run, to know what a share of its CPU is.
const baselineRounds = 3

func (f calibrateFlags) measure(ctx context.Context, s *streams, j *job, share float64) error {
	took := time.Duration(f.runs) * plan.Estimate(j.trials, plan.Overhead)
	fmt.Fprintf(s.err, "calibrate: %s of %s, %s each: about %v\n", plural.Of(f.runs, "run"), plural.Of(j.settings.Rounds, "round"), plural.Of(len(j.trials), "trial"), took.Round(time.Second))
	if least := stats.LeastRounds(len(j.settings.Subjects)-1, 0); j.settings.Rounds < least {
		fmt.Fprintf(s.err, "calibrate: warning: a run of %s can't find anything, however large: after Holm's correction %d are the least that can: --rounds %d\n",
			plural.Of(j.settings.Rounds, "round"), least, least)
	}
	defer outliveReaders()()
	o, err := j.open(ctx, s)
	if err != nil {
		return err
	}
	trials, runErr := f.all(ctx, o, share)
	o.flags.tls.forget()
	o.say.close()
	runErr = errors.Join(interrupted(ctx, runErr, len(trials)), o.file.Close())
	c, err := calibrationOf(result.File{Header: o.header, Trials: trials})
	if err == nil {
		err = c.write(s.out)
	}
	o.tellFile(s)
	if err := errors.Join(runErr, err); err != nil {
		return err
	}
	return incomplete(trials, o.judged, nil, "")
}

// all makes the runs, one after another, and says of each what it found.
func (f calibrateFlags) all(ctx context.Context, o *session, share float64) (trials []result.Trial, err error) {
	if f.delay > 0 {
		o.extra = map[string]planted.Extra{o.settings.Subjects[2]: {Delay: f.delay}}
	}
	plain := o.config
	plain.Sink, plain.Progress = nil, nil // for what is measured to know what to plant
	o.config.Sink = func(t result.Trial) error {
		o.note(t)
		return o.file.Append(t)
	}
	var last []result.Trial
	settings := o.settings
	for run := 1; run <= f.runs; run++ {
		if share > 0 {
			if err := o.plant(ctx, plain, share, last); err != nil {
				return trials, err
			}
		}
		settings.Rounds = run * o.settings.Rounds
		next, err := o.experiment.Extend(settings, settings.Rounds-o.settings.Rounds)
		if err != nil {
			return trials, err
		}
		o.say.more(settings.Rounds, len(next))
		last, err = harness.Run(ctx, o.config, next)
		trials = append(trials, last...)
		if err != nil {
			return trials, err
		}
		c, err := calibrationOf(result.File{Header: o.header, Trials: trials})
		if err != nil {
			return trials, err
		}
		o.say.say("%s", c.line(run))
	}
	return trials, nil
}

// plant makes the extra that share of the subject's CPU, by what a call has cost of late: in these trials, or in some that are made
// for it. The machine changes, and a share of an hour ago is another one now.
func (o *session) plant(ctx context.Context, plain harness.Config, share float64, trials []result.Trial) error {
	base, other := o.settings.Subjects[0], o.settings.Subjects[2]
	if trials == nil {
		few := slices.DeleteFunc(slices.Clone(o.trials), func(t plan.Trial) bool { return t.Subject != base || t.Round > baselineRounds })
		o.say.say("measuring what %s costs: %s", base, plural.Of(len(few), "trial"))
		var err error
		if trials, err = harness.Run(ctx, plain, few); err != nil {
			return err
		}
	}
	var costs []float64
	var failed string
	for _, t := range trials {
		if v, ok := t.Values[result.ServerCPUPerReq]; ok && t.Subject == base {
			costs = append(costs, v)
		}
		if t.Error != "" {
			failed = ": " + t.Error
		}
	}
	cost, ok := stats.Median(costs)
	if !ok {
		return fmt.Errorf("what the server of %s costs is not known%s", base, failed)
	}
	extra := planted.Extra{CPU: time.Duration(cost.Median * share * float64(time.Second))}
	if extra.CPU <= 0 {
		return fmt.Errorf("%.3g%% of %v are less than a nanosecond", 100*share, time.Duration(cost.Median*float64(time.Second)))
	}
	o.extra = map[string]planted.Extra{other: extra}
	o.say.say("a call costs the server of %s %.3g us: %s burns %v more", base, 1e6*cost.Median, other, extra.CPU)
	return nil
}

// note writes into a trial what was planted in it.
func (o *session) note(t result.Trial) {
	e, ok := o.extra[t.Subject]
	if !ok || t.Values == nil {
		return
	}
	if e.CPU > 0 {
		t.Values[plantedCPU] = e.CPU.Seconds()
	}
	if e.Delay > 0 {
		t.Values[plantedDelay] = e.Delay.Seconds()
	}
}

// again judges an earlier calibration.
func (f calibrateFlags) again(ctx context.Context, s *streams) error {
	file, err := readResults(ctx, f.from, s)
	if err != nil {
		return err
	}
	c, err := calibrationOf(file)
	if err != nil {
		return fmt.Errorf("--from %s: %w", f.from, err)
	}
	return c.write(s.out)
}

// roundsOf reads from a header of how many rounds one run of the calibration was.
func roundsOf(h result.Header) (int, error) {
	var settings struct {
		Rounds int `json:"rounds"`
	}
	if h.Experiment != calibrateExperiment || len(h.Subjects) < 2 {
		return 0, errors.New("this is not the file of a calibration")
	}
	if err := json.Unmarshal(h.Settings, &settings); err != nil || settings.Rounds < 1 {
		return 0, errors.New("the header does not say how many rounds a run was")
	}
	return settings.Rounds, nil
}
