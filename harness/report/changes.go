package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"bakeoff/harness/result"
	"bakeoff/harness/stats"
	"bakeoff/internal/nearest"
	"bakeoff/internal/plural"
)

// Changes is what differs between two result files: what to suspect first, then figure by figure. It is plain data as Tables is.
type Changes struct {
	Schema int  `json:"schema"`
	Old    Side `json:"old"`
	New    Side `json:"new"`
	// Control is the subject by whose figures of the same rounds all others are divided before they are compared; empty for none.
	Control string `json:"control,omitempty"`
	// Suspects are differences between the files that are none of the subjects: machine, versions, settings.
	Suspects []Suspect `json:"suspects"`
	Changes  []Change  `json:"changes"`
	// Incomparable is what stands in one file alone, or has figures in one alone.
	Incomparable []Incomparable   `json:"incomparable"`
	Checks       []Check          `json:"checks"`
	Warnings     []result.Warning `json:"warnings"`
	// Words are the findings in sentences.
	Words []string `json:"words"`

	same map[groupKey]int // trials that stand in both files
}

// Side is one of the two files.
type Side struct {
	File       string    `json:"file"`
	Experiment string    `json:"experiment"`
	Version    string    `json:"version,omitempty"`
	Started    time.Time `json:"started,omitzero"`
	Rounds     int       `json:"rounds"`
	Planned    int       `json:"planned_trials"`
	Measured   int       `json:"measured_trials"`
}

// RowKey is a Row's place. Where it is of two files, it has what the rows there have in common: of the store its kind.
type RowKey struct {
	Subject     string `json:"subject"`
	Workload    string `json:"workload"`
	Step        string `json:"step,omitempty"`
	Mode        string `json:"mode"`
	Store       string `json:"store,omitempty"` // of two files its kind: memory, miniaero, aerospike
	Concurrency int    `json:"concurrency"`
	Rate        string `json:"rate,omitempty"` // of the open loop
	Arrivals    string `json:"arrivals,omitempty"`
	Conns       int    `json:"conns"`
}

// Change is one figure of one row in both files.
type Change struct {
	RowKey
	Metric string `json:"metric"`
	Old    Value  `json:"old"`
	New    Value  `json:"new"`
	// Ratio is new/old, Low and High its interval with the confidence Coverage (stats.Shift). With a control it is the ratio of what both
	// are to the control.
	Ratio    float64 `json:"ratio"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Coverage float64 `json:"coverage"`
	// P is Mann and Whitney's test, PHolm the same after Holm's correction over all changes here.
	P        float64 `json:"p"`
	PHolm    float64 `json:"p_holm"`
	Detected bool    `json:"detected"`
	// Verdict is better or worse; empty where no difference was detected and where neither direction is the better one.
	Verdict string `json:"verdict,omitempty"`
	// SmallestEffect is as in Comparison.
	SmallestEffect *float64 `json:"smallest_effect,omitempty"`
	Text           string   `json:"text"`

	shift stats.Shift
	calls [2][]Observation // that succeeded in the rounds of old and new
}

// Incomparable is a row or, with a Metric, a figure of it that has no counterpart.
type Incomparable struct {
	RowKey
	Metric string `json:"metric,omitempty"`
	Reason string `json:"reason"`
}

// ChangeOptions are what a reader may choose of a comparison.
type ChangeOptions struct {
	// Metrics are the names of the figures to compare; none for DefaultChanges. Those that limits are about are compared in any case.
	Metrics []string
	// Control is a subject that did not change, by which the machine's own change is divided out; empty for none.
	Control string
	Limits  []Limit
	// RankFlagged compares rows in spite of flags that take them out, as in Options.
	RankFlagged bool
}

// DefaultChanges are the figures that are compared unless others are chosen. They are few, because each comparison that is
// added makes Holm's correction stricter for all: with these, six rounds in each file can show a difference among three subjects.
var DefaultChanges = []string{"throughput", "latency_p50", "latency_p99", serverCPU, clientCPU, "server_rss"}

// Compare says what changed from one file to another. Rows are matched by RowKey. An unknown metric or control, and a limit about a
// figure that a file does not have, are each a ChoiceError that names those there are.
func Compare(older, newer result.File, o ChangeOptions) (Changes, error) {
	before, err := Build(older, Options{RankFlagged: o.RankFlagged})
	if err != nil {
		return Changes{}, err
	}
	after, err := Build(newer, Options{RankFlagged: o.RankFlagged})
	if err != nil {
		return Changes{}, err
	}
	metrics, err := o.metrics()
	if err != nil {
		return Changes{}, &ChoiceError{err}
	}
	for _, side := range []struct {
		file string
		t    Tables
	}{{older.Name, before}, {newer.Name, after}} {
		if err := o.check(side.file, side.t); err != nil {
			return Changes{}, &ChoiceError{err}
		}
	}
	c := Changes{Schema: Schema, Old: side(older, before), New: side(newer, after), Control: o.Control,
		Suspects: suspects(older, newer), Changes: []Change{}, Incomparable: []Incomparable{}, Checks: []Check{},
		Warnings: append(append([]result.Warning{}, named(older.Name, before.Warnings)...), named(newer.Name, after.Warnings)...)}
	both := overlapOf(older, newer)
	c.Warnings = append(c.Warnings, both.warnings("nothing new is compared there", false)...)
	c.same = trialsByRow(both.same)
	for _, p := range pairs(before, after) {
		c.compare(p, metrics, before, after)
	}
	c.conclude()
	c.hold(o.Limits)
	c.Words = c.words()
	return c, nil
}

func side(f result.File, t Tables) Side {
	return Side{File: f.Name, Experiment: t.Experiment, Version: t.Version, Started: t.Started, Rounds: t.Rounds, Planned: t.Planned, Measured: t.Measured}
}

// named says of which file a warning is.
func named(file string, ws []result.Warning) []result.Warning {
	ws = slices.Clone(ws)
	for i, w := range ws {
		if !strings.HasPrefix(w.Text, file+":") {
			ws[i].Text = file + ": " + w.Text
		}
	}
	return ws
}

// metrics are the figures to compare, in the order of Metrics.
func (o ChangeOptions) metrics() ([]Metric, error) {
	names := o.Metrics
	if len(names) == 0 {
		names = DefaultChanges
	}
	for _, name := range names {
		if !slices.Contains(metricNames(), name) {
			return nil, nearest.Unknown("metric", name, metricNames())
		}
	}
	for _, l := range o.Limits {
		names = append(names[:len(names):len(names)], l.Metric)
	}
	var ms []Metric
	for _, m := range Metrics {
		if slices.Contains(names, m.Name) {
			ms = append(ms, m)
		}
	}
	return ms, nil
}

func metricNames() []string {
	var names []string
	for _, m := range Metrics {
		names = append(names, m.Name)
	}
	return names
}

// check refuses what a file can't answer at all.
func (o ChangeOptions) check(file string, t Tables) error {
	var subjects, known []string
	for _, r := range t.Rows {
		subjects = append(subjects, r.Subject)
		for name := range r.Metrics {
			known = append(known, name)
		}
	}
	if len(known) == 0 {
		return nil // nothing was measured: that is no wrong choice, and no row of the file passes a limit
	}
	slices.Sort(subjects)
	if o.Control != "" && !slices.Contains(subjects, o.Control) {
		return fmt.Errorf("%s: %w", file, nearest.Unknown("control", o.Control, slices.Compact(subjects)))
	}
	inOrder := slices.DeleteFunc(metricNames(), func(name string) bool { return !slices.Contains(known, name) })
	for _, l := range o.Limits {
		if !slices.Contains(known, l.Metric) {
			return fmt.Errorf("%s has no figure for %q: %w", file, l, nearest.Unknown("metric of this file", l.Metric, inOrder))
		}
	}
	return nil
}

// compare compares the figures of one pair.
func (c *Changes) compare(p pair, metrics []Metric, before, after Tables) {
	cannot := func(metric, format string, args ...any) {
		c.Incomparable = append(c.Incomparable, Incomparable{RowKey: p.key, Metric: metric, Reason: fmt.Sprintf(format, args...)})
	}
	switch {
	case p.old == nil:
		cannot("", "it is not in %s", c.Old.File)
		return
	case p.new == nil:
		cannot("", "it is not in %s", c.New.File)
		return
	case !p.old.Ranked || !p.new.Ranked:
		cannot("", "%s", whyNot(*p.old, *p.new))
		return
	case p.old.Subject == c.Control:
		return
	case c.same[p.new.group()] > 0:
		cannot("", "%d of its %s are the same trials in both files", c.same[p.new.group()], plural.Of(p.new.Rounds, "round"))
		return
	}
	for _, m := range metrics {
		if !m.isOf(p.old) {
			continue
		}
		if why := missing(p, m.Name, c.Old.File, c.New.File); why != "" {
			cannot(m.Name, "%s", why)
			continue
		}
		if before.unrankedFigure(m.Name, *p.old, *p.new) {
			cannot(m.Name, "the driver was the limiter in most rounds, so that it is the driver's as much as the subject's")
			continue
		}
		olds, why := c.observations(*p.old, before, m.Name)
		news, whyNew := c.observations(*p.new, after, m.Name)
		if why != "" || whyNew != "" {
			cannot(m.Name, "%s", why+whyNew)
			continue
		}
		s, ok := stats.CompareUnpaired(olds, news)
		if !ok {
			cannot(m.Name, "it is zero in one of the files, so that there is no ratio")
			continue
		}
		c.Changes = append(c.Changes, Change{RowKey: p.key, Metric: m.Name, Old: p.old.Metrics[m.Name], New: p.new.Metrics[m.Name],
			Ratio: s.Ratio, Low: s.Low, High: s.High, Coverage: s.Coverage, P: s.P, shift: s,
			calls: [2][]Observation{p.old.Calls, p.new.Calls}})
	}
}

// observations are the figures of the rounds, divided by the control's of the same round where there is one.
func (c *Changes) observations(r Row, t Tables, metric string) (vs []float64, why string) {
	byRound := map[int]float64{}
	if c.Control != "" {
		t.Baseline = c.Control // t is a copy
		control := t.baselineOf(r)
		if control == nil {
			return nil, fmt.Sprintf("%s has no row of the control %s at this level", rowName(nil, r), c.Control)
		}
		for _, o := range control.Metrics[metric].Observations {
			byRound[o.Round] = o.Value
		}
	}
	for _, o := range r.Metrics[metric].Observations {
		if c.Control == "" {
			vs = append(vs, o.Value)
		} else if v, ok := byRound[o.Round]; ok && v > 0 {
			vs = append(vs, o.Value/v)
		}
	}
	if len(vs) == 0 {
		return nil, fmt.Sprintf("the control %s has no round in common with it", c.Control)
	}
	return vs, ""
}

// conclude corrects the p-values over the whole table and says what they allow to say.
func (c *Changes) conclude() {
	ps := make([]float64, len(c.Changes))
	for i, ch := range c.Changes {
		ps[i] = ch.P
	}
	for i, holm := range stats.Holm(ps) {
		ch := &c.Changes[i]
		ch.PHolm, ch.Detected = holm, ch.shift.Detected(holm)
		effect, ok := ch.shift.SmallestEffect(len(ps))
		switch {
		case ch.Detected:
			ch.Verdict = verdict(ch.Metric, ch.Ratio)
			ch.Text = strings.TrimSpace(fmt.Sprintf("%s [%s, %s] %s", signed(ch.Ratio), signed(ch.Low), signed(ch.High), ch.Verdict))
			continue
		case !ok:
			ch.Text = "no difference detected: too few rounds to see any"
			continue
		case ch.equal():
			ch.Text = "no difference detected: equal in all rounds"
		default:
			ch.Text = fmt.Sprintf("no difference detected; one of %s would have been seen", percent(effect))
		}
		ch.SmallestEffect = &effect
	}
}

func (ch *Change) equal() bool { return ch.shift.Equal() }

func verdict(metric string, ratio float64) string {
	switch m := metricOf(metric); {
	case m.Better == Neither:
		return ""
	case (m.Better == Higher) == (ratio > 1):
		return "better"
	}
	return "worse"
}
