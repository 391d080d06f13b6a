package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bakeoff/harness/doctor"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
	"bakeoff/store/aerospike"
)

func doctorCommand(s *streams) *cobra.Command {
	var (
		outputs outputFlags
		store   string
		plan    = doctor.DefaultPlan
	)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "examine this machine: what would spoil figures, and what to do about it",
		Long: `doctor looks at what makes figures noisy, wrong or impossible: who gets which core, governor, turbo, steal, load, CPU quota, memory,
clock, descriptors, ports, container, proxies; and with --store at which address an Aerospike says that it is, against what can be
reached. It changes nothing. It ends with 0 if nothing is bad, else with 1. A run looks at the same, refuses what can't work, and has the
rest in its report as warnings.`,
		Example: `  bakeoff doctor
  bakeoff doctor --store aerospike://127.0.0.1:3000/test --concurrency 2000
  bakeoff doctor -o table -o markdown=machine.md`,
		Args: cobra.NoArgs,
		RunE: work(func(cmd *cobra.Command, _ []string) error {
			to, err := outputsOf(outputs.widened(), func(name string) (report.FormatOf[[]doctor.Finding], error) {
				return report.FindFormat("format of doctor", name, findingFormats)
			})
			if err != nil {
				return usage(err)
			}
			if plan.InFlight < 1 {
				return usage(fmt.Errorf("--concurrency %d: must be 1 or more", plan.InFlight))
			}
			if err := checkStore(store); err != nil {
				return usage(err)
			}
			plan.Conns = plan.InFlight // the most that any protocol opens
			if store == storeMemory || strings.HasPrefix(store, aerospike.Scheme+"://") {
				plan.Roles = plan.Roles[:2] // no process of ours for the store
			}
			all := doctor.Examine(doctor.This(os.Getenv), plan)
			if strings.HasPrefix(store, aerospike.Scheme+"://") {
				all = append(all, examineStore(cmd.Context(), store))
			}
			if err := writeAll(cmd.Context(), to, all, s); err != nil {
				return err
			}
			if !doctor.Healthy(all) {
				var bad []string
				for _, f := range all {
					if f.Level == doctor.Bad {
						bad = append(bad, f.Name)
					}
				}
				return fmt.Errorf("bad: %s", strings.Join(bad, ", "))
			}
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&store, "store", storeEmbedded, runStoreUsage)
	flags.IntVar(&plan.InFlight, "concurrency", plan.InFlight, "`calls` in flight that descriptors and ports must do for")
	outputs.registerAs(flags, usageOf(findingFormats), "the table 130 columns wide: as -o wide")
	return cmd
}

// storeTimeout is how long the addresses of a store are tried in all.
const storeTimeout = 5 * time.Second

// examineStore holds the addresses that an Aerospike advertises against those that can be reached from here.
func examineStore(ctx context.Context, store string) doctor.Finding {
	f := doctor.Finding{Name: "store", Level: doctor.Bad}
	r, err := aerospike.Examine(ctx, store, storeTimeout)
	if err != nil {
		f.Found, f.Advice = err.Error(), "start it, or name the address at which it listens for this machine"
		if errors.Is(err, aerospike.ErrNamespace) {
			f.Advice = "name a namespace that it has, or add this one to its configuration"
		}
		return f
	}
	f.Found = fmt.Sprintf("%s answers and advertises %s", r.Asked, cmp.Or(strings.Join(r.Advertised, ", "), "no address"))
	if len(r.Peers) > 0 {
		f.Found += fmt.Sprintf("; its peers %s", strings.Join(r.Peers, ", "))
	}
	const advice = "set access-address (or alternate-access-address) in the network.service section of aerospike.conf to an address that clients reach; " +
		"with docker put client and server on one compose network, or use --network host"
	var lost []string
	for _, addr := range slices.Concat(r.Advertised, r.Peers) {
		if why, ok := r.Unreachable[addr]; ok {
			lost = append(lost, why)
		}
	}
	switch {
	case len(lost) > 0:
		f.Found, f.Advice = f.Found+", of which can't be reached from here: "+strings.Join(lost, "; "), advice
	case len(r.Advertised) == 0:
		f.Level, f.Advice = doctor.Warn, advice
	default:
		f.Level = doctor.OK
	}
	return f
}

// machineWarnings are the findings that could spoil a run's figures, for its header.
func machineWarnings() []result.Warning {
	var all []result.Warning
	for _, f := range doctor.Examine(doctor.This(os.Getenv), doctor.DefaultPlan) {
		if f.Spoils && (f.Level == doctor.Warn || f.Level == doctor.Bad) && f.Name != "cpus" { // every trial says itself which CPUs were shared
			all = append(all, result.Warning{Kind: "machine_" + f.Name, Text: f.Name + ": " + f.String()})
		}
	}
	return all
}
