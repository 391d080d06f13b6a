package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bakeoff/harness/report"
	"bakeoff/internal/plural"
)

const failIfUsage = "`limit` on the change of a figure: METRIC>+N% or METRIC<-N%, for example 'server_cpu_per_req>+5%'; exit code 4 when the\n" +
	"whole interval of a row's change lies beyond it; may be repeated"

func compareCommand(s *streams) *cobra.Command {
	var (
		outputs outputFlags
		limits  []string
		o       report.ChangeOptions
	)
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "compare two result files: what changed, what did not, and what else differs",
		Long: `compare sets the rows of two result files side by side that have subject, workload, step, mode, concurrency, connections and kind
of store in common, and says what differs beside them (machine, versions, settings): suspect that first. Rounds of two runs can't be
paired, so the test is Mann and Whitney's, and what the machine itself changed in between is in every change. --control SUBJECT
divides all figures by those of a subject that did not change, round by round, which takes that out.

With --fail-if it is a gate for CI: exit code 4 when a limit is broken, 3 when that can't be told of a row (a figure is unknown, a
row is missing in NEW, rounds are too few, the same trials stand in both files). The confidence of 95 % holds for all rows and limits
together. A check that passes though the change may lie beyond the limit says so, and how large one would have been seen. Files with
nothing to compare, such as a file and its copy, are exit code 3 in any case.`,
		Example: `  bakeoff compare main.jsonl branch.jsonl
  bakeoff compare main.jsonl branch.jsonl --control http --fail-if 'server_cpu_per_req>+5%' --fail-if 'throughput<-5%'
  bakeoff compare main.jsonl branch.jsonl -o table -o markdown=comment.md
  bakeoff compare main.jsonl branch.jsonl -o junit=compare.xml --fail-if 'latency_p99>+10%'
  bakeoff compare main.jsonl branch.jsonl -o benchfmt=rounds.txt && benchstat -col side rounds.txt`,
		Args: exactly(2, "an old and a new result file", "bakeoff compare old.jsonl new.jsonl"),
		RunE: work(func(cmd *cobra.Command, args []string) error {
			to, err := outputsOf(outputs.widened(), report.FindChange, slices.Concat(keepInput(args[0], s), keepInput(args[1], s))...)
			if err != nil {
				return usage(err)
			}
			for _, text := range limits {
				l, err := report.ParseLimit(text)
				if err != nil {
					return usage(fmt.Errorf("--fail-if: %w", err))
				}
				o.Limits = append(o.Limits, l)
			}
			older, err := readResults(cmd.Context(), args[0], s)
			if err != nil {
				return err
			}
			newer, err := readResults(cmd.Context(), args[1], s)
			if err != nil {
				return err
			}
			changes, err := report.Compare(older, newer, o)
			if err != nil {
				return choice(err)
			}
			if err := writeAll(cmd.Context(), to, changes, s); err != nil {
				return err
			}
			if unshown := changes.Unshown(); unshown != "" {
				fmt.Fprintf(s.err, "warning: %s\n", unshown)
			}
			return judge(changes)
		}),
	}
	flags := cmd.Flags()
	outputs.registerAs(flags, usageOf(report.ChangeFormats), "the table with the ends of all intervals, the rounds, and the p-values before their correction: as -o wide")
	flags.StringSliceVar(&o.Metrics, "metrics", report.DefaultChanges, "`names` of the figures to compare, as in -o json; each one more makes the correction stricter for all")
	flags.StringVar(&o.Control, "control", "", "`subject` that did not change: all figures are divided by its, round by round")
	registerRankFlagged(flags, &o.RankFlagged)
	flags.StringArrayVar(&limits, "fail-if", nil, failIfUsage)
	return cmd
}

// nothingCompared says why there is no change to look at.
func nothingCompared(c report.Changes) string {
	for _, w := range c.Warnings {
		if w.Kind == report.FlagSameTrials {
			return w.Text
		}
	}
	return fmt.Sprintf("%s and %s have nothing in common that could be compared", c.Old.File, c.New.File)
}

// judge turns the checks into an exit code. What could not be told is not taken for passed, and neither is a comparison of nothing.
func judge(c report.Changes) error {
	var failed, unknown []string
	for _, k := range c.Checks {
		what := fmt.Sprintf("%s: %s", k.Limit, k.Text)
		if name := k.Name(); name != "" {
			what = name + ": " + what
		}
		switch k.Result {
		case report.CheckFailed:
			failed = append(failed, what)
		case report.CheckUnknown:
			unknown = append(unknown, what)
		}
	}
	var parts []string
	if len(failed) > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s failed: %s", len(failed), plural.Of(len(c.Checks), "check"), strings.Join(failed, "; ")))
	}
	if len(unknown) > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s can't be told: %s", len(unknown), plural.Of(len(c.Checks), "check"), strings.Join(unknown, "; ")))
	}
	if len(c.Changes) == 0 && len(unknown) == 0 {
		parts = append(parts, nothingCompared(c))
	}
	if len(parts) == 0 {
		return nil
	}
	code := exitIncomplete
	if len(failed) > 0 {
		code = exitLimit
	}
	return &exitError{code, errors.New(strings.Join(parts, "; "))}
}
