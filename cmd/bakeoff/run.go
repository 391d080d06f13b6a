package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"bakeoff/harness/plan"
	"bakeoff/internal/nearest"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
)

// runFlags are what `bakeoff run` is told.
type runFlags struct {
	settings plan.Settings
	quick    bool
	auth     bool
	store    string
	baseline string
	results  string
	outputs  outputFlags
	timeout  time.Duration
	rate     rateFlags
	tls      runTLSFlags

	precision precisionFlags
	findRate  findRateFlags
	resume    resumeFlags
	target    targetFlags
	live      liveFlags
	lines     linesFlags
	load      loadFlags
	slow      slowFlags
	recorded  map[string]any // the flags that were given, for the header
	// aliases are further names of subjects, so that one can stand in a run twice; only calibrate has them.
	aliases map[string]string
	// variants are the experiment's.
	variants []plan.Variant
	file     string   // the text of the file that the experiment stands in; empty for one that is built in
	then     []string // the subjects of the run that is resumed; none for one that begins
}

// subject finds a subject by its name, or by a further one.
func (f runFlags) subject(name string) (protocol.Protocol, error) {
	if of, ok := f.aliases[name]; ok {
		name = of
	}
	if v := variantOf(f.variants, name); v != nil {
		return f.variant(*v, name)
	}
	p, err := f.tls.subject(name)
	if err != nil && !slices.Contains(suite.Names(), plan.Plain(name)) {
		err = nearest.Unknown("subject", plan.Plain(name), subjectNames(f.variants))
	}
	return p, err
}

// firstLevel is the level of a run that names no experiment: the first question, answered in a minute and a half.
const firstLevel = 50

func runCommand(s *streams) *cobra.Command {
	f := runFlags{}
	print := false
	cmd := &cobra.Command{
		Use:   "run [EXPERIMENT | FILE.yaml]",
		Short: "run an experiment: serve, drive and measure every subject, and print the table",
		Long: `run measures every subject in fresh processes, round by round in an order shuffled by the seed, and reports the
medians with their intervals. Without arguments it compares gRPC, Thrift and HTTP at 50 calls in flight, in about
ninety seconds. Before it measures it proves that all subjects give the same answers. Ctrl-C stops it: what was measured
is saved and reported.`,
		Example: `  bakeoff run
  bakeoff run --subjects grpc,grpc-tuned --concurrency 50,800 --baseline grpc
  bakeoff run --precision 2% --precision-of server_cpu_per_req --budget 10m
  bakeoff run --find-rate 'p99<5ms' --rounds 6
  bakeoff run --target grpc=10.0.0.2:20000,admin=10.0.0.2:20001 --target http=10.0.0.2:20002
  bakeoff run --workload recordroute -o table -o json=report.json
  bakeoff run -o table -o adr=decision.md --load 50000/s --core-price 0.04/h
  bakeoff run tls --subjects grpc,http
  bakeoff run payload --print > mine.yaml    # an experiment as a file: change it, then
  bakeoff run mine.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: work(func(cmd *cobra.Command, args []string) error {
			experiment, err := choose(args)
			if err != nil {
				return usage(err)
			}
			if flags := cmd.Flags(); len(args) == 0 && f.resume.file == "" && !f.quick && !flags.Changed("concurrency") {
				if err := flags.Set("concurrency", strconv.Itoa(firstLevel)); err != nil { // as if it was given: who resumes the run finds it
					return err
				}
			}
			past, err := f.resume.take(cmd.Flags(), experiment.named(args))
			if err != nil {
				return err
			}
			defer past.close()
			if past != nil {
				if experiment, err = past.again(experiment, len(args) == 1); err != nil {
					return usage(err)
				}
				if f.then, err = past.subjects(); err != nil {
					return err
				}
			}
			f.recorded, f.file = recordFlags(cmd.Flags()), experiment.text
			j, err := f.job(experiment.Experiment, cmd.Flags().Changed)
			if err != nil {
				return usage(err)
			}
			if print {
				return j.print(cmd.Flags(), s.out)
			}
			if past != nil {
				if err := past.continued(j, f.resume.failed); err != nil {
					return err
				}
				if len(j.trials) == 0 {
					over, missed, err := j.over()
					if err != nil {
						return err
					}
					if over {
						return j.nothingMissing(cmd.Context(), s, missed)
					}
				}
			}
			if err := j.flags.tls.certificates(); err != nil {
				return err
			}
			defer j.flags.tls.forget()
			return j.run(cmd.Context(), s)
		}),
	}
	d := plan.All()[0].Defaults
	flags := cmd.Flags()
	flags.StringSliceVar(&f.settings.Subjects, "subjects", d.Subjects, "`names` of the subjects, comma-separated ('bakeoff list')")
	flags.IntSliceVar(&f.settings.Concurrency, "concurrency", nil, fmt.Sprintf("`calls` in flight; several levels comma-separated (default: the experiment's; %d where none is named)", firstLevel))
	flags.IntSliceVar(&f.settings.Iterations, "iterations", nil, "end a trial after so many `iterations`, one number for each level of concurrency; --duration is then the\n"+
		"longest that it may take; 0 is none: a trial lasts for --duration (default: the experiment's)")
	flags.DurationVar(&f.settings.Duration, "duration", d.Duration, "measured window of a trial")
	flags.DurationVar(&f.settings.Warmup, "warmup", d.Warmup, "traffic before the window, outside every figure")
	flags.IntVar(&f.settings.Turns, "turns", d.Turns, "measure the windows of the subjects that are compared in `N` turns, 1, 2, 5 or 10 at most, so that what comes and goes on this machine falls on all\n"+
		"of them (0: as many as make sense; 1: one trial after another; an open loop and a number of iterations are always one piece)")
	flags.IntVar(&f.settings.Rounds, "rounds", d.Rounds, "rounds, each with fresh processes; six or more give a 95 % interval")
	flags.StringSliceVar(&f.settings.Workloads, "workload", d.Workloads, "`name` of the workload ('bakeoff list'); several comma-separated")
	flags.Uint64Var(&f.settings.Seed, "seed", 0, "seed of the order and of the requests (default: a random one, recorded)")
	flags.IntSliceVar(&f.settings.Conns, "conns", nil, "client `connections`, several numbers comma-separated; 0 is as many as the concurrency (default: what the\n"+
		"protocol's users do: one shared by all calls for gRPC, one for each call in flight for Thrift and HTTP)")
	flags.BoolVar(&f.quick, "quick", false, "the experiment's short form: the levels and rounds that its questions need, and no more")
	flags.BoolVar(&print, "print", false, "print the experiment, with the flags given, as a file that 'bakeoff run FILE.yaml' takes, and measure nothing")
	f.rate.register(flags)
	f.precision.register(flags)
	f.findRate.register(flags)
	f.resume.register(flags)
	f.target.register(flags)
	f.tls.register(flags)
	f.live.register(flags)
	f.lines.register(flags)
	f.slow.register(flags, "have the servers answer")
	flags.DurationVar(&f.timeout, "timeout", protocol.DefaultTimeout, "deadline of a call")
	flags.BoolVar(&f.auth, "auth", false, "log in, and send and check a token with each request")
	flags.StringVar(&f.store, "store", storeEmbedded, runStoreUsage)
	flags.StringVar(&f.baseline, "baseline", "", "`subject` that the others are compared with (default: the first)")
	flags.StringVar(&f.results, "results", "", "`file` for the raw results, JSON lines (default: a new one under results/)")
	f.outputs.register(flags)
	f.load.register(flags)
	return cmd
}
