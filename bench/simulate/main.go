// Command simulate shows what the statistics of a run promise and keep: runs by the thousand with the real plan and the real
// comparisons, on machines that are made up, so that the truth is known. It needs no network and no quiet machine.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"bakeoff/harness/stats"
)

// designs are what is shown: the default, --precision at two targets, and the rule that it is not.
var designs = []design{
	{name: "10 rounds", first: 10, most: 10},
	{name: "precision 2%", precise: 0.02, first: 10, most: 160},
	{name: "precision 5%", precise: 0.05, first: 10, most: 160},
	{name: "what --precision does not do: look at the 95% interval after every round from the 6th on, stop at 3%", precise: 0.03, first: 6, most: 40, plain: true},
}

// planted is the true difference of the third subject in the runs in which there is one.
const planted = 1.05

func main() {
	runs := flag.Int("runs", 2000, "runs of each kind")
	seed := flag.Uint64("seed", 1, "seed of the first run")
	flag.Parse()
	if *runs < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := show(os.Stdout, *runs, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

// show prints a table for each design.
func show(w io.Writer, runs int, seed uint64) error {
	fmt.Fprintf(w, "%d runs of each kind, three subjects; promised: false alarms at most %.0f%%, intervals that hold the ratio at least %.0f%%\n",
		runs, 100*stats.Alpha, 100*stats.Confidence)
	for _, d := range designs {
		fmt.Fprintf(w, "\n%s\n", d.name)
		tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tab, "machine\tfalse alarms\tintervals hold\t+5% found\tstopped by precision\trounds")
		for _, m := range machines {
			nothing := many(d, m, 1, runs, seed)
			effect := many(d, m, planted, runs, seed+uint64(runs))
			reached := "-"
			if d.precise > 0 {
				reached = fmt.Sprintf("%.0f%%", 100*float64(effect.reached)/float64(runs))
			}
			fmt.Fprintf(tab, "%s\t%.2f%%\t%.2f%%\t%.1f%%\t%s\t%.1f\n", m.name, 100*nothing.alarmShare(), 100*min(nothing.coverage(), effect.coverage()),
				100*effect.power(), reached, effect.meanRounds())
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	for _, m := range machines {
		if _, err := fmt.Fprintf(w, "%s: %s\n", m.name, m.doc); err != nil {
			return err
		}
	}
	return nil
}
