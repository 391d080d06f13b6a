package drive

import (
	"encoding/json"
	"fmt"
	"runtime/metrics"

	"bakeoff/harness/record"
	"bakeoff/harness/result"
)

// Values of the driver's own Go runtime, beside those that package result names.
const (
	ClientGCs          = "client_gc_cycles"      // collections that ended between the readings
	ClientAllocsPerReq = "client_allocs_per_req" // objects
	ClientHeapPerReq   = "client_heap_per_req"   // bytes allocated
)

// goSamples are read by runtime/metrics, which unlike runtime.ReadMemStats does not stop the world.
var goSamples = map[string]string{
	ClientGCs:          "/gc/cycles/total:gc-cycles",
	ClientAllocsPerReq: "/gc/heap/allocs:objects",
	ClientHeapPerReq:   "/gc/heap/allocs:bytes",
}

// edge is what is read at an edge of the window.
type edge struct {
	flow flow
	goes map[string]uint64
}

func (t *trial) edge() edge {
	e := edge{flow: t.traffic.read(), goes: make(map[string]uint64, len(goSamples))}
	for name, metric := range goSamples {
		s := []metrics.Sample{{Name: metric}}
		if metrics.Read(s); s[0].Value.Kind() == metrics.KindUint64 {
			e.goes[name] = s[0].Value.Uint64()
		}
	}
	return e
}

// condense makes the driver's part of the trial.
func (t *trial) condense() (result.Trial, error) {
	effective := t.job.Options
	if effective.Timeout == 0 {
		effective.Timeout = t.job.CallTimeout // the deadline that was in force, whoever kept it
	}
	effective.TLS = t.traffic.handshakes.In(effective.TLS)
	options, err := json.Marshal(effective)
	if err != nil {
		return result.Trial{}, fmt.Errorf("options: %w", err)
	}
	sum := t.measured.Summary()
	out := result.Trial{
		Kind: "bakeoff-trial", Mode: result.ModeClosed, Options: options,
		Subject: t.job.Subject, Workload: t.workload.Name, Seed: t.job.Seed,
		Concurrency: t.job.Concurrency, Conns: t.job.Options.Conns, Messages: t.workload.Messages,
		Window: t.stats.Window.Seconds(), TurnsMade: new(t.made),
		Outcomes: result.Outcomes{
			Started: t.stats.Started, OK: sum.OK, Failed: sum.Failed, CutOff: t.stats.CutOff, Dropped: t.stats.Dropped,
		},
		Values: map[string]float64{}, Firsts: t.steps.iterations(),
	}
	if rate, ok := throughput(t.stats, t.job.Concurrency, t.open() || t.job.Iterations > 0); ok {
		out.Values[result.Throughput] = rate
	}
	if o := out.Outcomes; o.OK != t.stats.OK || o.Started != o.OK+o.FailedTotal()+o.CutOff {
		return result.Trial{}, fmt.Errorf("the counts do not add up: %+v recorded, %+v made", o, t.stats)
	}
	for _, e := range sum.Examples {
		out.Examples = append(out.Examples, result.Example(e))
	}
	if err := addTimes(&out, sum); err != nil {
		return result.Trial{}, err
	}
	if t.open() {
		out.Mode, out.Rate, out.Arrivals = result.ModeOpen, t.profile.String(), t.arrivals.Name
	}
	t.addPerCall(&out)
	if err := t.addPace(&out, sum); err != nil {
		return result.Trial{}, err
	}
	t.doubt(&out, sum)
	if t.failed != nil {
		out.Error = t.failed.Error() + failures(sum)
	}
	if t.stuck != nil {
		out.Warnings = append(out.Warnings, result.Warning{Kind: "stuck_calls", Text: t.stuck.Error()})
	}
	return out, nil
}

func addTimes(out *result.Trial, sum record.Summary) error {
	for _, k := range sum.Times {
		h, err := result.EncodeHistogram(k.Step, k.Outcome, k.Time, k.Hist, k.Min, k.Mean, k.Max)
		if err != nil {
			return err
		}
		out.Histograms = append(out.Histograms, h)
		if k.Clamped > 0 {
			out.Warnings = append(out.Warnings, result.Warning{Kind: "clamped", Text: fmt.Sprintf(
				"%d calls of step %s (%s) took longer than the histogram's 120 s and are counted there", k.Clamped, k.Step, k.Outcome)})
		}
	}
	return nil
}

// addPerCall adds what was read at the edges. What is unknown is left out.
func (t *trial) addPerCall(out *result.Trial) {
	ended := float64(out.Outcomes.OK + out.Outcomes.FailedTotal())
	flow, known := t.after.flow.since(t.before.flow)
	out.Values[result.Dials] = float64(flow.dials)
	switch {
	case !known:
		out.Warnings = append(out.Warnings, result.Warning{Kind: "bytes_unknown", Text: fmt.Sprintf(
			"%d connections were closed while the load ran, so that what went over them is not known", flow.lost)})
	case ended > 0:
		out.Values[result.SentPerReq] = float64(flow.sent) / ended
		out.Values[result.ReceivedPerReq] = float64(flow.received) / ended
	}
	for name, after := range t.after.goes {
		switch before, ok := t.before.goes[name]; {
		case !ok:
		case name == ClientGCs:
			out.Values[name] = float64(after - before)
		case ended > 0:
			out.Values[name] = float64(after-before) / ended
		}
	}
}
