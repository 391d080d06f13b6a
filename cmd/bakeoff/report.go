package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"bakeoff/harness/report"
	"bakeoff/harness/result"
)

func reportCommand(s *streams) *cobra.Command {
	var (
		outputs outputFlags
		load    loadFlags
		options report.Options
	)
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "report result files again: other formats, another baseline, several side by side",
		Long: `report reads the JSON lines that a run wrote (also those of a run that was interrupted) and writes them in any of the
formats. FILE - is stdin.

Of several files those that are shards of one plan (the same plan and seed, each with other trials of it) are put together; a trial
that stands in several of them, as in a copy, is counted once, and a warning says so. Runs that are no shards stand side by side, a
column for each, with what differs in machine, versions and settings; 'bakeoff compare' tests what changed between two.`,
		Example: `  bakeoff report results/datatype.jsonl --wide
  bakeoff report results/datatype.jsonl -o table -o json=report.json -o junit=report.xml
  bakeoff report results/datatype.jsonl -o adr=decision.md --load 50000/s --core-price 0.04/h
  bakeoff report monday.jsonl tuesday.jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(fmt.Errorf("%s needs a result file, or several: for example: bakeoff report results/datatype.jsonl -o markdown", cmd.CommandPath()))
			}
			return nil
		},
		RunE: work(func(cmd *cobra.Command, args []string) error {
			if err := load.parse(&options); err != nil {
				return usage(err)
			}
			var inputs []kept
			for _, path := range args {
				inputs = append(inputs, keepInput(path, s)...)
			}
			if len(args) == 1 { // before the file is read: what is wrong with the command line is found at once
				if _, err := outputs.parse(inputs...); err != nil {
					return usage(err)
				}
			}
			runs, err := readRuns(cmd.Context(), args, s)
			if err != nil {
				return err
			}
			if len(runs) > 1 {
				return reportBeside(cmd.Context(), runs, outputs, options, inputs, s)
			}
			to, err := outputs.parse(inputs...)
			if err != nil {
				return usage(err)
			}
			tables, err := runs[0].Build(options)
			if err != nil {
				return choice(err)
			}
			return writeAll(cmd.Context(), to, tables, s)
		}),
	}
	outputs.register(cmd.Flags())
	load.register(cmd.Flags())
	cmd.Flags().StringVar(&options.Baseline, "baseline", "", "`subject` that the others are compared with (default: the run's)")
	registerRankFlagged(cmd.Flags(), &options.RankFlagged)
	return cmd
}

// readRuns reads the files and puts shards together.
func readRuns(ctx context.Context, paths []string, s *streams) ([]report.Merged, error) {
	var files []result.File
	for _, path := range paths {
		file, err := readResults(ctx, path, s)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return report.Merge(files)
}

// reportBeside writes runs that do not belong together. What is worked out of one run alone can't be asked for.
func reportBeside(ctx context.Context, runs []report.Merged, outputs outputFlags, o report.Options, inputs []kept, s *streams) error {
	for flag, given := range map[string]bool{"--baseline": o.Baseline != "", "--load": o.Load > 0} {
		if given {
			return usage(fmt.Errorf("%s is for one run, and these files are %d that are not shards of one plan: report each by itself", flag, len(runs)))
		}
	}
	to, err := outputsOf(outputs.widened(), report.FindBeside, inputs...)
	if err != nil {
		return usage(err)
	}
	beside, err := report.LayBeside(runs, o)
	if err != nil {
		return choice(err)
	}
	return writeAll(ctx, to, beside, s)
}

// choice marks an error of what the command line chose of a file as one of usage; what is wrong with the file itself is none.
func choice(err error) error {
	var wrong *report.ChoiceError
	if errors.As(err, &wrong) {
		return usage(err)
	}
	return err
}

// readResults reads a result file, - being stdin. A signal ends it, for of a pipe or a terminal there may be no end.
func readResults(ctx context.Context, path string, s *streams) (result.File, error) {
	done := make(chan struct{})
	var read result.File
	var failed error
	go func() {
		defer close(done)
		read, failed = readNow(path, s)
	}()
	select {
	case <-done:
		return read, failed
	case <-ctx.Done():
		return result.File{}, &exitError{exitInterrupted, fmt.Errorf("interrupted before all of %s was read", path)}
	}
}

func readNow(path string, s *streams) (result.File, error) {
	if path == "-" {
		return result.Read(s.in, "stdin")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return result.File{}, fmt.Errorf("%s is a folder: name a result file in it", path)
	}
	return result.ReadFile(path)
}
