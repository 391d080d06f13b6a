package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"bakeoff/harness/drive"
	"bakeoff/harness/load"
	"bakeoff/harness/plan"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
	"bakeoff/internal/nearest"
)

// defaultMaxFailures is the share of failed calls above which a trial is stopped. A subject that fails more often than one
// call in ten is broken or not there, and what it still answers says nothing about the protocol.
const defaultMaxFailures = "10%"

// rateFlags are how calls come, and when their failures are too many.
type rateFlags struct {
	rates       []string
	arrivals    string
	maxFailures string
	rankFlagged bool
}

func (f *rateFlags) register(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.rates, "rate", nil, "open loop: `calls` a second in all, however many connections there are; 500 is constant, 500..2000 a ramp over\n"+
		"the window, 500/1000/2000 equal steps; several comma-separated. --concurrency then bounds the calls in flight\n"+
		"(default: the closed loop, in which each of --concurrency workers calls again as soon as it is answered)")
	flags.StringVar(&f.arrivals, "arrivals", load.Even.Name, "how the calls of an open loop follow one another: "+arrivalsDoc())
	flags.StringVar(&f.maxFailures, "max-failures", defaultMaxFailures, "`share` of the calls that may fail; a trial with more is stopped and has no figures; 100% is no limit")
	registerRankFlagged(flags, &f.rankFlagged)
}

// registerRankFlagged is the flag of run and report alike.
func registerRankFlagged(flags *pflag.FlagSet, value *bool) {
	flags.BoolVar(value, "rank-flagged", false, "rank and compare what doubts take out, too: rate missed, calls dropped, counts that differ, drift, a quota that ran out, a driver at its limit")
}

func arrivalsDoc() string {
	var docs []string
	for _, a := range load.AllArrivals {
		docs = append(docs, a.Name+" ("+a.Doc+")")
	}
	return strings.Join(docs, ", ")
}

// apply checks the flags and puts them into the settings.
func (f *rateFlags) apply(s *plan.Settings, given func(flag string) bool) error {
	if _, err := f.share(); err != nil {
		return err
	}
	if _, err := load.FindArrivals(f.arrivals); err != nil {
		var names []string
		for _, a := range load.AllArrivals {
			names = append(names, a.Name)
		}
		return fmt.Errorf("--arrivals: %w", nearest.Unknown("arrivals", f.arrivals, names))
	}
	if given("rate") {
		s.Rates = nil
		for _, text := range f.rates {
			p, err := load.ParseProfile(text)
			if err != nil {
				return fmt.Errorf("--rate: %w", err)
			}
			s.Rates = append(s.Rates, p.String())
		}
	}
	if given("arrivals") && len(s.Rates) == 0 {
		return fmt.Errorf("--arrivals %s: only an open loop has arrivals; give a --rate", f.arrivals)
	}
	return nil
}

// fewCalls is how many calls a window must have due for its rate to mean anything.
const fewCalls = 10

// warnings say in the header which rates have next to no calls in a window.
func (f *rateFlags) warnings(s plan.Settings) []result.Warning {
	var all []result.Warning
	for _, rate := range s.Rates {
		p, err := load.ParseProfile(rate)
		if err != nil {
			continue // a share of a rate that is still to be found, which has calls enough
		}
		if due := p.Mean() * s.Duration.Seconds(); due < fewCalls {
			all = append(all, result.Warning{Kind: result.WarnShortWindow,
				Text: fmt.Sprintf("at %s/s about %.2g calls are due in a window of %v: too few for a rate; a longer --duration has more", rate, due, s.Duration)})
		}
	}
	return all
}

// share reads --max-failures: "10%" or "0.1".
func (f *rateFlags) share() (float64, error) {
	text, percent := strings.CutSuffix(f.maxFailures, "%")
	x, err := strconv.ParseFloat(text, 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x > 0 && x <= 1) {
		return 0, fmt.Errorf("--max-failures %q: must be a share above 0%% and up to 100%%, such as %s", f.maxFailures, defaultMaxFailures)
	}
	return x, nil
}

// tell puts the flags into a driver's job.
func (f *rateFlags) tell(j *drive.Job, t plan.Trial) {
	j.MaxFailures, _ = f.share() // apply has checked it
	if t.Rate != "" {
		j.Rate, j.Arrivals = t.Rate, f.arrivals
	}
}

// mode is what a trial's line says of them even when the trial fails.
func (f *rateFlags) mode(t plan.Trial, out *result.Trial) {
	out.Mode = result.ModeClosed
	if t.Rate != "" {
		out.Mode, out.Rate, out.Arrivals = result.ModeOpen, t.Rate, f.arrivals
	}
}

// reportOptions are those of the reports that a run makes.
func (j *job) reportOptions() report.Options {
	o := j.asked
	o.Baseline = j.flags.baseline
	return o
}

// alsoInvalid adds to what a run has missed the rows whose figures are not what was to be measured.
func alsoInvalid(missed string, tables report.Tables) string {
	names := tables.Invalid()
	if len(names) == 0 {
		return missed
	}
	text := "not what was to be measured: " + strings.Join(names, ", ")
	if missed != "" {
		text = missed + "; " + text
	}
	return text
}
