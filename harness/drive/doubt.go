package drive

import (
	"fmt"
	"math"
	"strings"
	"time"

	"bakeoff/harness/load"
	"bakeoff/harness/record"
	"bakeoff/harness/result"
	"bakeoff/internal/share"
)

// The limits beyond which a trial doubts its own figures.
const (
	missedLimit  = 0.01  // of the iterations that were due: not started
	droppedLimit = 0.001 // of the iterations that were due: never started
	littleLimit  = 0.05  // between calls in flight and rate x latency
	leastCalls   = 20    // of a worker in the closed loop, one after another
)

// throughput is the rate of ok calls. In the open loop it is those that ended within the window, a second of it. In the
// closed loop that would be too little: the window begins with nothing in flight, and the first calls take their time to
// end, which at 2,000 in flight can be longer than the window. But each worker calls again as soon as it is answered, until
// the call that is under way at the end of the window has ended: what it did in that time is its rate, and the rate of all
// is their number times the ok calls for each second of a worker's time (Wald's identity: the end of the call under way
// is a stopping time, so the ratio has no bias from the window's edges). A loop of so many iterations is another thing: it has no
// edges, and in the end workers find nothing left to do; its rate is that of the window, too. ok is false when nothing has ended.
func throughput(s load.Stats, workers int, ofWindow bool) (rate float64, ok bool) {
	switch {
	case ofWindow:
		return float64(s.OKInWindow) / s.Window.Seconds(), s.Window > 0
	case s.Busy <= 0:
		return 0, false
	}
	return float64(workers) * float64(s.OK) / s.Busy.Seconds(), true
}

// shortWindow says in words that a closed loop's window is too short for the latency of its calls, or for its iterations; 0 of
// those is no bound.
func shortWindow(s load.Stats, workers int, iterations uint64) string {
	if s.Iterations < iterations {
		return fmt.Sprintf("only %d of %d iterations were begun within %v: a longer --duration lets it make all", s.Iterations, iterations, s.Window)
	}
	if s.OK == 0 {
		return ""
	}
	each := float64(s.OK) / float64(workers)
	if each >= leastCalls {
		return ""
	}
	more := "a longer --duration shows"
	if iterations > 0 {
		more = "more --iterations show"
	}
	return fmt.Sprintf("%d workers made %.1f calls each in a window of %v: the common start of all colours the figures below %d; %s more",
		workers, each, s.Window.Round(time.Microsecond), leastCalls, more)
}

// addPace adds what came of the rate that was asked for, and how many calls were in flight.
func (t *trial) addPace(out *result.Trial, sum record.Summary) error {
	window := t.stats.Window.Seconds()
	if window <= 0 { // the report was asked for before there was one
		return nil
	}
	out.Values[result.InFlight] = t.stats.Busy.Seconds() / window
	for _, s := range sum.Slices {
		mean := 0.0
		if s.OK > 0 {
			mean = float64(s.Time) / float64(s.OK)
		}
		out.Slices = append(out.Slices, result.Slice{OK: s.OK, Mean: mean})
	}
	if !t.open() {
		return nil
	}
	out.Values[result.TargetRate] = float64(t.stats.Iterations+t.stats.Dropped) / window
	out.Values[result.AchievedRate] = float64(t.stats.Iterations) / window
	late := sum.Late
	if late.Hist == nil {
		return nil // nothing ended: how late it was sent is unknown
	}
	h, err := result.EncodeHistogram("", "", "", late.Hist, late.Min, late.Mean, late.Max)
	if err != nil {
		return err
	}
	m, err := result.Merge(h)
	if err != nil {
		return err
	}
	for name, q := range map[string]float64{result.LatenessP50: 0.5, result.LatenessP99: 0.99, result.LatenessMax: 1} {
		if ns, ok := m.Quantile(q); ok {
			out.Values[name] = float64(ns) / 1e9
		}
	}
	return nil
}

// doubt adds the warnings that the driver itself can raise, each with its evidence.
func (t *trial) doubt(out *result.Trial, sum record.Summary) {
	warn := func(kind, format string, args ...any) {
		out.Warnings = append(out.Warnings, result.Warning{Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	if due := t.stats.Iterations + t.stats.Dropped; t.open() && due > 0 {
		missed := float64(t.stats.Dropped) / float64(due)
		if missed > droppedLimit {
			warn(result.WarnDropped, "%d of %d calls that were due (%s) were not started within the window: its %d workers were busy or woke late; more of them (--concurrency), or a lower rate",
				t.stats.Dropped, due, share.Of(t.stats.Dropped, due), t.job.Concurrency)
		}
		if missed > missedLimit {
			warn(result.WarnRateMissed, "%.0f of %.0f calls a second were started, %s less than were due",
				out.Values[result.AchievedRate], out.Values[result.TargetRate], share.Of(t.stats.Dropped, due))
		}
	}
	if text := record.Drift(sum.Slices, !t.open()); text != "" {
		warn(result.WarnDrift, "%s", text)
	}
	if !t.open() {
		if text := shortWindow(t.stats, t.job.Concurrency, t.job.Iterations); text != "" {
			warn(result.WarnShortWindow, "%s", text)
		}
	}
	if text := little(out.Values[result.InFlight], t.stats.Window.Seconds(), sum); text != "" {
		warn(result.WarnLittle, "%s", text)
	}
	// Where the subject's options have calls dial, that is what was to be measured.
	if n := out.Values[result.Dials]; n > 0 && (t.protocol.Kept == nil || t.protocol.Kept(t.job.Options) < 0) {
		warn(result.WarnRedialled, "%.0f connections were dialled while the load ran: dialling is part of the figures", n)
	}
}

// little holds the figures to Little's law: what is in flight is the rate times the latency. How many calls were in flight
// comes from the workers' own time, rate and latency from what was recorded; they part when calls are missing from
// the latencies, as those are that never ended.
func little(inFlight, window float64, sum record.Summary) string {
	var ended, ns float64
	for _, k := range record.ServiceTimes(sum.Times) {
		ended += float64(k.Hist.TotalCount())
		ns += k.Sum()
	}
	if ended == 0 || inFlight == 0 {
		return ""
	}
	rate, latency := ended/window, ns/ended/1e9
	off := rate*latency/inFlight - 1
	if math.Abs(off) <= littleLimit {
		return ""
	}
	return fmt.Sprintf("%.3g calls were in flight, but %.4g ended a second x %.3g ms each is %.3g (%+.0f %%): the latencies are not those of all calls",
		inFlight, rate, 1000*latency, rate*latency, 100*off)
}

// failures are the classes of a trial with too many, most frequent message of each first.
func failures(sum record.Summary) string {
	var parts []string
	seen := map[string]bool{}
	for _, e := range sum.Examples {
		if !seen[e.Class] {
			parts = append(parts, fmt.Sprintf("%d %s (%s)", sum.Failed[e.Class], e.Class, e.Message))
		}
		seen[e.Class] = true
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
