package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"bakeoff/harness/planted"
	"bakeoff/harness/result"
)

// slowFlags have a server be slow under load on purpose: to see what a run shows of it, and what of a fix.
type slowFlags struct {
	specs []string
	pools []planted.Slow
}

func (f *slowFlags) register(flags *pflag.FlagSet, who string) {
	flags.StringArrayVar(&f.specs, "slow", nil, who+" a step slower the more calls are active: by `STEP=pool(WORKERS,TIME)` it goes through so many workers, each of\n"+
		"which takes so long for it, as in execution=pool(4,2ms); the steps are those of the workload scenario; may be repeated")
}

// check reads the flags.
func (f *slowFlags) check() error {
	f.pools = nil
	seen := map[string]bool{}
	for _, spec := range f.specs {
		s, err := planted.ParseSlow(spec)
		if err != nil {
			return fmt.Errorf("--slow %w", err)
		}
		if seen[s.Step] {
			return fmt.Errorf("--slow %s: %s has a pool already: give each step one", spec, s.Step)
		}
		seen[s.Step] = true
		f.pools = append(f.pools, s)
	}
	return nil
}

// apply reads the flags of a run, which slows the servers that it starts.
func (f *slowFlags) apply(j *job) error {
	if len(f.specs) > 0 && len(j.targets) > 0 {
		return errors.New("--slow: the targets run already: give it to their 'bakeoff serve'")
	}
	return f.check()
}

// args are the flags of a server that is as slow.
func (f *slowFlags) args() []string {
	var args []string
	for _, s := range f.pools {
		args = append(args, "--slow", s.String())
	}
	return args
}

// warnings say in the header that the figures are of servers that were slowed.
func (f *slowFlags) warnings() []result.Warning {
	var all []result.Warning
	for _, s := range f.pools {
		all = append(all, result.Warning{Kind: "slowed", Text: fmt.Sprintf("the servers were slow on purpose (--slow %v): the figures are not those of the protocols", s)})
	}
	return all
}
