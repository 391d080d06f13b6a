package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bakeoff/harness/result"
)

// GHZ is the JSON of ghz (its type runner.Report), one report a line and one for each row, so that what reads ghz's reports reads these: ghz-web
// takes each line at /api/ingest. Its figures are those of all rounds together (Row.Latency), where those of the other formats are medians of the
// rounds. Details are empty, for single calls are not kept. What ghz has no place for stands in the tags.
var GHZ = Format{Name: "ghz", Doc: "for ghz-web and what else reads ghz's JSON: a report a line for each row", Write: writeGHZ}

// The names of ghz's report, those of its options that have a meaning here.
type (
	ghzReport struct {
		Name         string            `json:"name"`
		EndReason    string            `json:"endReason"`
		Date         string            `json:"date"`
		Options      ghzOptions        `json:"options"`
		Count        uint64            `json:"count"`
		Total        time.Duration     `json:"total"`
		Average      time.Duration     `json:"average"`
		Fastest      time.Duration     `json:"fastest"`
		Slowest      time.Duration     `json:"slowest"`
		RPS          float64           `json:"rps"`
		Errors       map[string]uint64 `json:"errorDistribution"`
		Statuses     map[string]uint64 `json:"statusCodeDistribution"`
		Distribution []ghzPercentile   `json:"latencyDistribution"`
		Histogram    []ghzBucket       `json:"histogram"`
		Details      []struct{}        `json:"details"`
		Tags         map[string]string `json:"tags"`
	}
	ghzOptions struct {
		Call        string        `json:"call"`
		RPS         int           `json:"rps,omitempty"`
		Concurrency int           `json:"concurrency,omitempty"`
		Connections int           `json:"connections,omitempty"`
		Duration    time.Duration `json:"duration,omitempty"`
		Name        string        `json:"name"`
	}
	ghzPercentile struct {
		Percentage int           `json:"percentage"`
		Latency    time.Duration `json:"latency"`
	}
	ghzBucket struct {
		Mark      float64 `json:"mark"` // seconds
		Count     int64   `json:"count"`
		Frequency float64 `json:"frequency"`
	}
)

func writeGHZ(w io.Writer, t Tables) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range t.ghzReports() {
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("write ghz: %w", err)
		}
	}
	return writeAll(w, "ghz", b.String())
}

// ghzReports are the rows with figures, without those of steps, which have no outcomes of their own.
func (t Tables) ghzReports() []ghzReport {
	var all []ghzReport
	for _, r := range t.Rows {
		if r.Outcomes == nil || r.Rounds == 0 {
			continue
		}
		all = append(all, t.ghzReport(r))
	}
	return all
}

// nanoseconds is a time in seconds as ghz has it.
func nanoseconds(seconds float64) time.Duration {
	return time.Duration(math.Round(min(seconds, math.MaxInt64/2e9) * 1e9))
}

func (t Tables) ghzReport(r Row) ghzReport {
	name := strings.TrimSpace(rowName(t.Rows, r))
	rate, _ := strconv.Atoi(r.Rate) // one that changes has no place there
	g := ghzReport{Name: name, EndReason: "normal", Date: t.Started.UTC().Format(time.RFC3339), Count: r.Outcomes.OK + r.Outcomes.Failed,
		Options: ghzOptions{Call: r.Workload, RPS: rate, Concurrency: r.Concurrency, Connections: r.Conns, Name: name},
		Errors:  map[string]uint64{}, Statuses: map[string]uint64{}, Distribution: []ghzPercentile{}, Histogram: []ghzBucket{}, Details: []struct{}{},
		Tags: map[string]string{"experiment": t.Experiment, "subject": r.Subject, "loop": r.Mode, "store": r.Store, "seed": t.SeedText, "rounds": strconv.Itoa(r.Rounds),
			"ranked": strconv.FormatBool(r.Ranked), "cut_off": strconv.FormatUint(r.Outcomes.CutOff, 10), "dropped": strconv.FormatUint(r.Outcomes.Dropped, 10)}}
	if r.Rate != "" {
		g.Tags["rate"], g.Tags["arrivals"] = r.Rate, r.Arrivals
	}
	if r.Outcomes.OK > 0 {
		g.Statuses["OK"] = r.Outcomes.OK
	}
	for class, n := range r.Outcomes.FailedByClass {
		g.Statuses[class] += n
		for _, m := range r.Outcomes.Messages {
			if m.Class == class && firstLine(m.Message) != "" {
				had := min(m.Count, n)
				g.Errors[m.Class+": "+strings.TrimPrefix(firstLine(m.Message), m.Class+": ")] += had // many an error names its class itself
				n -= had
			}
		}
		if n > 0 { // a trial keeps some messages of each class
			g.Errors[class] += n
		}
	}
	g.Total = nanoseconds(r.Seconds)
	g.Options.Duration = g.Total
	if rps, why := known(float64(g.Count) / r.Seconds); why == "" {
		g.RPS = rps
	}
	d := r.Latency
	if d == nil {
		return g
	}
	g.Average, g.Fastest, g.Slowest = nanoseconds(d.Mean), nanoseconds(d.Fastest), nanoseconds(d.Slowest)
	for _, p := range d.Percentiles {
		if p.Percent == math.Trunc(p.Percent) { // ghz has no place for parts of a percent
			g.Distribution = append(g.Distribution, ghzPercentile{int(p.Percent), nanoseconds(p.Latency)})
		}
	}
	for _, b := range d.Buckets {
		g.Histogram = append(g.Histogram, ghzBucket{b.Mark, b.Count, float64(b.Count) / float64(d.Count)})
	}
	return g
}

// messages are the failures of trials by class and message, the most frequent first.
func messages(trials []*result.Trial) []result.Example {
	var all []result.Example
	for _, t := range trials {
		for _, e := range t.Examples {
			i := slices.IndexFunc(all, func(m result.Example) bool { return m.Class == e.Class && m.Message == e.Message })
			if i < 0 {
				i = len(all)
				all = append(all, result.Example{Class: e.Class, Message: e.Message})
			}
			all[i].Count += e.Count
		}
	}
	slices.SortStableFunc(all, func(a, b result.Example) int { return cmp.Compare(b.Count, a.Count) })
	return all
}
