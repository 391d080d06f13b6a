package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"bakeoff/harness/report"
	"bakeoff/harness/result"
	"bakeoff/harness/stats"
	"bakeoff/internal/plural"
)

// calibrated are the figures that calibrate speaks of.
var calibrated = []string{result.Throughput, "latency_p50", "latency_p99", result.ServerCPUPerReq, result.ClientCPUPerReq, result.StoreCPUPerReq, result.ServerRSS}

// calibration is what the runs of a subject against itself say.
type calibration struct {
	base, twin, planted string // planted is "" where nothing was
	rounds              int    // of a run
	runs                []report.Tables
	partial             int // rounds beyond the last whole run
	cpu, delay          []float64
	seed                uint64
}

// calibrationOf cuts the rounds of a file into runs, and reports each as if it had been the only one.
func calibrationOf(file result.File) (calibration, error) {
	rounds, err := roundsOf(file.Header)
	if err != nil {
		return calibration{}, err
	}
	subjects := file.Header.Subjects
	c := calibration{base: subjects[0].Name, twin: subjects[1].Name, rounds: rounds, seed: file.Header.Seed}
	if len(subjects) > 2 {
		c.planted = subjects[2].Name
	}
	for first := 1; ; first += rounds {
		run := result.File{Header: file.Header, Name: file.Name}
		for _, t := range file.Trials {
			if t.Round >= first && t.Round < first+rounds {
				run.Trials = append(run.Trials, t)
			}
		}
		if len(run.Trials) < rounds*len(subjects) {
			c.partial = len(run.Trials) / len(subjects)
			return c, nil
		}
		tables, err := report.Build(run, report.Options{Baseline: c.base, RankFlagged: true})
		if err != nil {
			return c, err
		}
		c.runs = append(c.runs, tables)
		cpu, delay := math.NaN(), math.NaN()
		for _, t := range run.Trials {
			if v, ok := t.Values[plantedCPU]; ok {
				cpu = v
			}
			if v, ok := t.Values[plantedDelay]; ok {
				delay = v
			}
		}
		c.cpu, c.delay = append(c.cpu, cpu), append(c.delay, delay)
	}
}

// rowOf is the row of a subject, without figures where it has none.
func rowOf(t report.Tables, subject string) report.Row {
	i := slices.IndexFunc(t.Rows, func(r report.Row) bool { return r.Subject == subject && r.Step == "" })
	if i < 0 {
		return report.Row{}
	}
	return t.Rows[i]
}

// noise are the twins' differences in a figure, over all runs.
func (c calibration) noise(metric string) stats.Noise {
	var noise stats.Noise
	for _, t := range c.runs {
		twin := map[int]float64{}
		for _, o := range rowOf(t, c.twin).Metrics[metric].Observations {
			twin[o.Round] = o.Value
		}
		var as, bs []float64
		for _, o := range rowOf(t, c.base).Metrics[metric].Observations {
			if b, ok := twin[o.Round]; ok {
				as, bs = append(as, o.Value), append(bs, b)
			}
		}
		noise = append(noise, stats.NoiseOf(as, bs)...)
	}
	return noise
}

// detected says in how many runs a subject was told from the base in a figure, of those in which it could be compared.
func (c calibration) detected(subject, metric string) (found, of int) {
	for _, t := range c.runs {
		if cmp := t.Comparison(rowOf(t, subject), metric); cmp != nil {
			of++
			if cmp.Detected {
				found++
			}
		}
	}
	return found, of
}

// anyAlarm says in how many runs at least one figure told the twins apart, when the p-values are corrected over all figures, too.
func (c calibration) anyAlarm() int {
	n := 0
	for _, t := range c.runs {
		var ps []float64
		for _, m := range calibrated {
			if cmp := t.Comparison(rowOf(t, c.twin), m); cmp != nil {
				ps = append(ps, cmp.PHolm)
			}
		}
		if slices.ContainsFunc(stats.Holm(ps), func(p float64) bool { return p < stats.Alpha }) {
			n++
		}
	}
	return n
}

// target is the figure in which what was planted should show, and what it is called.
func (c calibration) target() (metric, name string) {
	if len(c.delay) > 0 && !math.IsNaN(c.delay[0]) {
		return "latency_p50", "p50 latency"
	}
	return result.ServerCPUPerReq, "server CPU per request"
}

// share is what was planted in a run (from 0), as a share of what the base had in it.
func (c calibration) share(run int) float64 {
	metric, _ := c.target()
	extra := c.cpu[run]
	if metric != result.ServerCPUPerReq {
		extra = c.delay[run]
	}
	return extra / rowOf(c.runs[run], c.base).Metrics[metric].Median
}

// line is about one run, from 1.
func (c calibration) line(run int) string {
	if run > len(c.runs) {
		return fmt.Sprintf("run %d has not all its trials", run)
	}
	t := c.runs[run-1]
	var alarms []string
	for _, m := range calibrated {
		if cmp := t.Comparison(rowOf(t, c.twin), m); cmp != nil && cmp.Detected {
			alarms = append(alarms, m+" "+cmp.Text)
		}
	}
	s := fmt.Sprintf("run %d: ", run)
	if len(alarms) == 0 {
		s += "no false alarm"
	} else {
		s += "FALSE ALARM in " + strings.Join(alarms, ", ")
	}
	if c.planted == "" {
		return s
	}
	metric, name := c.target()
	cmp := t.Comparison(rowOf(t, c.planted), metric)
	if cmp == nil {
		return s + "; the planted difference could not be looked for"
	}
	found := "NOT FOUND"
	if cmp.Detected && cmp.Ratio > 1 {
		found = "found"
	}
	return s + fmt.Sprintf("; planted %s in %s: %s, %s [%s, %s], p = %.2g", change(1+c.share(run-1)), name, found, change(cmp.Ratio), change(cmp.Low), change(cmp.High), cmp.PHolm)
}

// change prints a ratio as a change in percent.
func change(ratio float64) string { return fmt.Sprintf("%+.1f%%", 100*(ratio-1)) }

// share prints a share in percent, with about two digits.
func share(x float64) string {
	switch x *= 100; {
	case x >= 9.95:
		return fmt.Sprintf("%.0f%%", x)
	case x >= 0.995:
		return fmt.Sprintf("%.1f%%", x)
	}
	return fmt.Sprintf("%.2f%%", x)
}

// How the simulations over the recorded noise are made.
const (
	simulatedRuns = 4000 // a share near 5 % is right within 0.7 points
	powerWanted   = 0.8
	tableOfThree  = 2 // comparisons to the baseline, as by default
)

// write prints the tables.
func (c calibration) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s against itself in %s of %s\n", c.base, plural.Of(len(c.runs), "run"), plural.Of(c.rounds, "round"))
	if c.partial > 0 {
		fmt.Fprintf(&b, "(%d further rounds are no whole run, and do not count)\n", c.partial)
	}
	if len(c.runs) == 0 {
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintln(&b)
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "figure\ttwins differ by\tdetectable\tfalse alarms\tsimulated")
	for _, m := range calibrated {
		noise := c.noise(m)
		if len(noise) == 0 {
			fmt.Fprintf(tab, "%s\tunknown\t-\t-\t-\n", m)
			continue
		}
		detectable := "nothing: too few rounds"
		if e, ok := noise.Detectable(powerWanted, c.rounds, tableOfThree, simulatedRuns/4, c.seed); ok {
			detectable = share(e)
		}
		alarms, of := c.detected(c.twin, m)
		fmt.Fprintf(tab, "%s\t%s\t%s\t%d of %d\t%.1f%%\n", m, share(noise.Typical()), detectable, alarms, of, 100*noise.Power(0, c.rounds, 1, simulatedRuns, c.seed))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "any of them, corrected over all figures: %d of %d\n\n", c.anyAlarm(), len(c.runs))
	fmt.Fprintf(&b, "twins differ by: in half of the rounds the two differ by more than this, though nothing differs.\n"+
		"detectable: the smallest difference that four of five runs of %d rounds with this noise show, in a table of three subjects.\n"+
		"false alarms: runs that claimed a difference between the twins in this figure (the level is 5%%); simulated: the share of\n"+
		"%d runs whose rounds are drawn from the noise that was measured.\n", c.rounds, simulatedRuns)
	if c.planted != "" {
		c.writePlanted(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c calibration) writePlanted(b *strings.Builder) {
	metric, name := c.target()
	fmt.Fprintln(b)
	var shares []float64
	found := 0
	for run := range c.runs {
		fmt.Fprintln(b, c.line(run+1))
		if s := c.share(run); !math.IsNaN(s) {
			shares = append(shares, s)
		}
		if cmp := c.runs[run].Comparison(rowOf(c.runs[run], c.planted), metric); cmp != nil && cmp.Detected && cmp.Ratio > 1 {
			found++
		}
	}
	fmt.Fprintf(b, "planted in %s: found in %d of %s", name, found, plural.Of(len(c.runs), "run"))
	if s, ok := stats.Median(shares); ok {
		fmt.Fprintf(b, "; of %d simulated runs with this noise %.0f%% find %s", simulatedRuns,
			100*c.noise(metric).Power(s.Median, c.rounds, tableOfThree, simulatedRuns, c.seed), change(1+s.Median))
	}
	fmt.Fprintln(b)
}
