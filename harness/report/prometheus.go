package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// Prometheus is the text that Prometheus reads: for the textfile collector of its node exporter, or a push gateway. Each figure is a gauge of medians, with the
// ends of its interval in two more, under names that end in _low and _high. All are in base units.
var Prometheus = Format{Name: "prometheus", Doc: "for Prometheus: every figure as a gauge, in its text format", Write: writePrometheus}

// gauges collects families in their order.
type gauges struct {
	names    []string
	families map[string]*dto.MetricFamily
}

// label is one of a gauge. Empty ones are left out: to Prometheus that is the same.
type label struct{ name, value string }

func (g *gauges) add(name, help string, value float64, labels ...label) {
	name = "bakeoff_" + name
	f := g.families[name]
	if f == nil {
		kind := dto.MetricType_GAUGE
		f = &dto.MetricFamily{Name: &name, Help: &help, Type: &kind}
		g.families[name], g.names = f, append(g.names, name)
	}
	m := &dto.Metric{Gauge: &dto.Gauge{Value: &value}}
	for _, l := range labels {
		if l.value != "" {
			m.Label = append(m.Label, &dto.LabelPair{Name: &l.name, Value: &l.value})
		}
	}
	f.Metric = append(f.Metric, m)
}

func writePrometheus(w io.Writer, t Tables) error {
	g := &gauges{families: map[string]*dto.MetricFamily{}}
	g.add("run_info", "The run: always 1.", 1, label{"experiment", clean(t.Experiment)}, label{"version", clean(t.Version)}, label{"seed", t.SeedText}, label{"baseline", clean(t.Baseline)})
	if !t.Started.IsZero() {
		g.add("run_started_timestamp_seconds", "When the run began.", float64(t.Started.Unix()))
	}
	g.add("run_trials", "Trials of the plan, those there are, and those with figures.", float64(t.Planned), label{"state", "planned"})
	g.add("run_trials", "", float64(t.Present), label{"state", "present"})
	g.add("run_trials", "", float64(t.Measured), label{"state", "measured"})
	for _, r := range t.Rows {
		g.row(t, r)
	}
	// A name at a time, as the format wants it: all gauges of a family in one place.
	var b bytes.Buffer
	for _, name := range g.names {
		if _, err := expfmt.MetricFamilyToText(&b, g.families[name]); err != nil {
			return fmt.Errorf("write prometheus: %w", err)
		}
	}
	return writeAll(w, "prometheus", b.String())
}

func (g *gauges) row(t Tables, r Row) {
	labels := []label{{"subject", clean(r.Subject)}, {"workload", clean(r.Workload)}, {"step", clean(r.Step)}, {"loop", clean(r.Mode)}, {"store", clean(r.Store)},
		{"concurrency", strconv.Itoa(r.Concurrency)}, {"conns", strconv.Itoa(r.Conns)}, {"rate", clean(r.Rate)}, {"arrivals", clean(r.Arrivals)}}
	with := func(more ...label) []label { return append(labels[:len(labels):len(labels)], more...) }
	ratio := t.ratioReach()
	for _, m := range Metrics {
		v, ok := r.Metrics[m.Name]
		if !ok {
			continue
		}
		name := gaugeName(m)
		g.add(name, m.Doc+", median of the rounds.", v.Median, labels...)
		g.add(name+"_low", "Lower end of the "+reach(t.Rows, []string{m.Name}, "interval", "whole range")+" of "+m.Name+".", v.Low, labels...)
		g.add(name+"_high", "Upper end of the "+reach(t.Rows, []string{m.Name}, "interval", "whole range")+" of "+m.Name+".", v.High, labels...)
		if c := t.Comparison(r, m.Name); c != nil {
			of := with(label{"figure", m.Name}, label{"baseline", clean(c.Baseline)})
			g.add("ratio", "Figure of the subject over the baseline's, paired within rounds.", c.Ratio, of...)
			g.add("ratio_low", "Lower end of the ratio's "+ratio+".", c.Low, of...)
			g.add("ratio_high", "Upper end of the ratio's "+ratio+".", c.High, of...)
			g.add("ratio_detected", "1 where a difference was detected.", truth(c.Detected), of...)
		}
	}
	if r.Step != "" {
		return
	}
	g.add("rounds", "Rounds with figures.", float64(r.Rounds), labels...)
	g.add("ranked", "1 where the row has a place among the others.", truth(r.Ranked), labels...)
	if o := r.Outcomes; o != nil {
		for _, c := range []struct {
			outcome string
			n       uint64
		}{{"ok", o.OK}, {"failed", o.Failed}, {"cut_off", o.CutOff}, {"dropped", o.Dropped}} {
			g.add("calls", "Calls of all rounds by outcome.", float64(c.n), with(label{"outcome", c.outcome})...)
		}
	}
	for _, f := range r.flagKinds() {
		g.add("flag", "Doubts about the row: always 1.", 1, with(label{"kind", clean(f)})...)
	}
}

// gaugeName ends in the unit, as names in Prometheus do.
func gaugeName(m Metric) string {
	unit := map[string]string{unitRate: "requests_per_second", unitSeconds: "seconds", unitBytes: "bytes"}[m.Unit]
	if unit == "" {
		return m.Name
	}
	return strings.TrimSuffix(m.Name, "_rate") + "_" + unit
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
