package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// exactly asks for n arguments, and says what they are where they are missing.
func exactly(n int, what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(fmt.Errorf("%s needs %s, not %d arguments: for example: %s", cmd.CommandPath(), what, len(args), example))
		}
		return nil
	}
}
