package main

import (
	"errors"
	"runtime/debug"

	"github.com/spf13/cobra"

	"bakeoff/harness/control"
	"bakeoff/harness/drive"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
)

func driveCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "drive",
		Short: "drive the load of one trial, told by a job on stdin (used by run)",
		Args:  cobra.NoArgs,
		Long: `drive is the client's process of one trial. It reads one line of JSON, the job, from stdin; dials, warms up, and
says {"event":"ready"}; after {"event":"go"} it drives the load, and says {"event":"done"}; after {"event":"report"} it
writes the trial's result and ends. 'bakeoff run' speaks to it; other harnesses can.`,
		RunE: work(func(cmd *cobra.Command, _ []string) error {
			err := drive.Run(cmd.Context(), s.in, s.out, func(j drive.Job) (protocol.Protocol, error) {
				if j.Options.GCPercent != 0 {
					debug.SetGCPercent(j.Options.GCPercent)
				}
				return suite.Find(j.Subject)
			})
			if errors.Is(err, control.ErrGone) {
				return nil // told to stop in the middle, as the end of stdin does: nobody is left to hear an error
			}
			return err
		}),
	}
}
