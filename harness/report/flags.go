package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bakeoff/harness/result"
	"bakeoff/harness/stats"
	"bakeoff/internal/plural"
)

// Kinds of the flags that the report itself raises. The others come from the trials' warnings.
const (
	FlagTooFewRounds   = "too_few_rounds"
	FlagTooFewSamples  = "too_few_samples"
	FlagMissingRounds  = "missing_rounds"
	FlagRepeatedRounds = "repeated_rounds"
	FlagFailures       = "failures"
	FlagDropped        = "dropped" // over 0.1 % of the due iterations were never started
	FlagCounts         = "counts_differ"
	FlagClamped        = "clamped"
	FlagIncomplete     = "incomplete"
	FlagOptions        = "options_differ"
	FlagNotConformant  = "not_conformant"
	FlagNotChecked     = "not_checked"
	FlagTurnsMissing   = "turns_missing" // fewer turns were made than were planned
	FlagFewerTurns     = "fewer_turns"   // the window was cut into fewer turns than was asked for
)

// FlagDriverLimited is a warning of trials that the report draws conclusions from.
const FlagDriverLimited = "driver_limited"

// DriverLimited says that the driver and not the subject set the throughput in most rounds.
func (r Row) DriverLimited() bool {
	return r.WholeLimited || slices.ContainsFunc(r.Flags, func(f Flag) bool { return f.Kind == FlagDriverLimited && 2*f.Rounds > r.Rounds })
}

// flagKinds are the kinds of the row's flags, each once.
func (r Row) flagKinds() []string {
	var kinds []string
	for _, f := range r.Flags {
		if !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// flags collects the doubts about the whole of a group.
func (g *group) flags(rs []*round, out *Outcomes) []Flag {
	var fs []Flag
	add := func(kind string, rounds int, format string, args ...any) {
		fs = append(fs, Flag{Kind: kind, Text: fmt.Sprintf(format, args...), Rounds: rounds})
	}
	if n := len(g.failed); n > 0 {
		t := g.failed[0]
		add(FlagMissingRounds, n, "no figures in %d of %s; round %d: %s%s", n, plural.Of(n+len(g.ok), "round"), t.Round, firstLine(t.Error), lostWords(g.failed))
	}
	if cut := cutShort(g.ok); len(cut) > 0 {
		made, planned := turnsMade(cut[:1])
		add(FlagTurnsMissing, len(cut), "not all turns were made in %d of %s; round %d: %d of %d", len(cut), plural.Of(len(g.ok), "round"), cut[0].Round, made, planned)
	}
	if n := len(rs); n > 0 {
		if s, _ := stats.Median(make([]float64, n)); s.TooFew() {
			if n == 1 {
				add(FlagTooFewRounds, 0, "one round: nothing is known about the spread, and nothing can be compared")
			} else {
				add(FlagTooFewRounds, 0, "%d rounds: an interval of 95%% needs 6; the whole range holds the median with %.3g%%", n, 100*s.Coverage)
			}
		}
	}
	if len(g.twice) > 0 {
		add(FlagRepeatedRounds, len(g.twice), "round %d was measured more than once; the first counts", g.twice[0])
	}
	if out.Failed > 0 {
		add(FlagFailures, 0, "%d of %s failed: %s%s", out.Failed, plural.Of(int(out.Started), "call"), classes(out.FailedByClass), out.example())
	}
	if out.Dropped > 0 {
		add(FlagDropped, 0, "due and never started: %s", plural.Of(int(out.Dropped), "call"))
	}
	if odd := matching(rs, func(r *round) bool {
		o := r.trial.Outcomes
		return o.Started != o.OK+o.FailedTotal()+o.CutOff
	}); odd > 0 {
		add(FlagCounts, odd, "the calls that were started are not those that succeeded, failed and were cut off")
	}
	if n := matching(rs, func(r *round) bool {
		return r.times[result.TimeResponse].Clamped || r.times[result.TimeService].Clamped
	}); n > 0 {
		add(FlagClamped, n, "calls took longer than the histogram's range: percentiles that reach there are too low, the maximum is exact")
	}
	if len(g.ok) > 0 && matching(rs, func(r *round) bool { return string(r.trial.Options) != string(g.ok[0].Options) }) > 0 {
		add(FlagOptions, 0, "the effective options are not the same in all rounds")
	}
	warnings := g.warnings()
	fs = slices.DeleteFunc(fs, func(f Flag) bool { // what the trials say themselves is said once
		return slices.ContainsFunc(warnings, func(w Flag) bool { return w.Kind == f.Kind })
	})
	return append(fs, warnings...)
}

// warnings condenses the trials' own: one flag for each kind, with the text of the first round that has it.
func (g *group) warnings() []Flag {
	var fs []Flag
	for _, t := range g.ok {
		seen := map[string]bool{} // a round counts once, however often it warns
		for _, w := range t.Warnings {
			i := slices.IndexFunc(fs, func(f Flag) bool { return f.Kind == w.Kind })
			if i < 0 {
				i = len(fs)
				fs = append(fs, Flag{Kind: w.Kind, Text: w.Text})
			}
			if !seen[w.Kind] {
				fs[i].Rounds++
			}
			seen[w.Kind] = true
		}
	}
	for i, f := range fs {
		fs[i].Text = fmt.Sprintf("%s in %d of %s: %s", strings.ReplaceAll(f.Kind, "_", " "), f.Rounds, plural.Of(len(g.ok), "round"), f.Text)
		if f.Kind == FlagDriverLimited && 2*f.Rounds > len(g.ok) {
			fs[i].Text += "; the throughput is a lower bound, and the latency of driver and subject together: compare CPU per request"
		}
	}
	return fs
}

func matching(rs []*round, is func(*round) bool) int {
	n := 0
	for _, r := range rs {
		if is(r) {
			n++
		}
	}
	return n
}

func classes(byClass map[string]uint64) string {
	var parts []string
	for _, c := range slices.Sorted(maps.Keys(byClass)) {
		parts = append(parts, fmt.Sprintf("%s %d", c, byClass[c]))
	}
	return strings.Join(parts, ", ")
}

// examples are the failures of trials by class: the first message of each, and how many there were.
func examples(trials []*result.Trial) []result.Example {
	var all []result.Example
	for _, t := range trials {
		for _, e := range t.Examples {
			i := slices.IndexFunc(all, func(o result.Example) bool { return o.Class == e.Class })
			if i < 0 {
				i = len(all)
				all = append(all, result.Example{Class: e.Class, Message: e.Message})
			}
			all[i].Count += e.Count
		}
	}
	slices.SortStableFunc(all, func(a, b result.Example) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	return all
}

// example is the message of the most frequent failure.
func (out *Outcomes) example() string {
	if len(out.Examples) == 0 {
		return ""
	}
	best := out.Examples[0]
	if best.Count == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s: %s)", best.Class, strings.TrimPrefix(firstLine(best.Message), best.Class+": ")) // many an error names its class itself
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// tooFewSamples doubts a row of which a percentile is unknown because its rounds have too few calls for it; once, of the first.
func (r *Row) tooFewSamples(metric, why string) {
	if r.Step != "" || !strings.HasPrefix(why, tooFewCalls) || slices.ContainsFunc(r.Flags, func(f Flag) bool { return f.Kind == FlagTooFewSamples }) {
		return
	}
	r.Flags = append(r.Flags, Flag{Kind: FlagTooFewSamples, Text: metric + " is unknown: " + why})
}
