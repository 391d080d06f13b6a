package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"bakeoff/harness/report"
	"bakeoff/harness/result"
)

func reportCommand(s *streams) *cobra.Command {
	var (
		specs   []string
		options report.Options
	)
	cmd := &cobra.Command{
		Use:   "report FILE",
		Short: "report a result file again: other formats, another baseline",
		Long: `report reads the JSON lines that a run wrote (also those of a run that was interrupted) and writes them in any of the
formats. FILE - is stdin.`,
		Args: exactly(1, "a result file", "bakeoff report results/datatype.jsonl -o markdown"),
		RunE: work(func(_ *cobra.Command, args []string) error {
			outputs, err := parseOutputs(specs, keepInput(args[0], s)...)
			if err != nil {
				return usage(err)
			}
			file, err := readResults(args[0], s)
			if err != nil {
				return err
			}
			tables, err := report.Build(file, options)
			if err != nil {
				return choice(err)
			}
			return writeAll(outputs, tables, s.out)
		}),
	}
	cmd.Flags().StringArrayVarP(&specs, "output", "o", nil, outputUsage)
	cmd.Flags().StringVar(&options.Baseline, "baseline", "", "`subject` that the others are compared with (default: the run's)")
	registerRankFlagged(cmd.Flags(), &options.RankFlagged)
	return cmd
}

// choice marks an error of what the command line chose of a file as one of usage; what is wrong with the file itself is none.
func choice(err error) error {
	var wrong *report.ChoiceError
	if errors.As(err, &wrong) {
		return usage(err)
	}
	return err
}

func readResults(path string, s *streams) (result.File, error) {
	if path == "-" {
		return result.Read(s.in, "stdin")
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return result.File{}, fmt.Errorf("%s is a folder: name a result file in it", path)
	}
	return result.ReadFile(path)
}
