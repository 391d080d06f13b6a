package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagWants says by the type of a flag what its value must be.
var flagWants = map[string]string{
	"int":      "a whole number, such as 50",
	"int64":    "a whole number, such as 50",
	"uint64":   "a whole number from 0 to " + strconv.FormatUint(math.MaxUint64, 10),
	"intSlice": "whole numbers, comma-separated, such as 50,800",
	"duration": "a time with its unit, such as 2s, 500ms or 1m30s",
	"bool":     "true or false",
}

// flagError says what a flag's value must be. The errors of pflag name a function of Go instead.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		if want, ok := flagWants[f.Value.Type()]; ok {
			err = fmt.Errorf("--%s %q: must be %s", f.Name, invalid.GetValue(), want)
		}
	}
	return usage(err)
}
