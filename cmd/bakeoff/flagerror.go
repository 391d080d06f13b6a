package main

import (
	"cmp"
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

// namedWants says it of flags that take less than their type does.
var namedWants = map[string]string{
	"turns": "0 (as many as make sense), 1, 2, 5 or 10",
}

// flagError says what a flag's value must be. The errors of pflag name a function of Go instead.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		want := cmp.Or(namedWants[f.Name], flagWants[f.Value.Type()])
		if want != "" {
			err = fmt.Errorf("--%s %q: must be %s", f.Name, invalid.GetValue(), want)
		}
	}
	return usage(err)
}

// noneEmpty refuses a flag that was given without a value: it would be taken as one that was not given, and a variable of a script that is
// empty by mistake would go unnoticed.
func noneEmpty(cmd *cobra.Command, _ []string) error {
	var empty error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		none := f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			none = len(list.GetSlice()) == 0
		}
		if none && empty == nil {
			empty = usage(fmt.Errorf("--%s: its value is empty: leave the flag away, or give it one", f.Name))
		}
	})
	return empty
}
