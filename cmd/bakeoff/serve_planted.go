package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"bakeoff/harness/planted"
)

// plantedFlags are those by which calibrate has a server cost more than it does.
type plantedFlags struct{ planted.Extra }

func (f *plantedFlags) register(flags *pflag.FlagSet) {
	flags.DurationVar(&f.CPU, "burn", 0, "processor time that each call costs in addition")
	flags.DurationVar(&f.Delay, "delay", 0, "time that each call waits in addition")
	for _, hidden := range []string{"burn", "delay"} {
		flags.Lookup(hidden).Hidden = true
	}
}

func (f *plantedFlags) check() error {
	if f.CPU < 0 {
		return fmt.Errorf("--burn %v: must not be negative", f.CPU)
	}
	if f.Delay < 0 {
		return fmt.Errorf("--delay %v: must not be negative", f.Delay)
	}
	return nil
}

// plantedArgs are the flags of a server that costs so much more.
func plantedArgs(e planted.Extra) []string {
	var args []string
	if e.CPU > 0 {
		args = append(args, "--burn", e.CPU.String())
	}
	if e.Delay > 0 {
		args = append(args, "--delay", e.Delay.String())
	}
	return args
}
