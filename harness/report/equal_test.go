package report

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/perf/benchfmt"

	"bakeoff/harness/stats"
)

// asJSON is the report as a program gets it.
func asJSON(t *testing.T, name string) (Tables, Tables) {
	t.Helper()
	tables := load(t, name)
	var read Tables
	if err := json.Unmarshal([]byte(render(t, JSON, tables)), &read); err != nil {
		t.Fatal(err)
	}
	return tables, read
}

// whole calls with every row that is not one of a step.
func whole(t Tables, call func(r Row)) {
	for _, r := range t.Rows {
		if r.Step == "" {
			call(r)
		}
	}
}

func TestJUnitEqualsJSON(t *testing.T) {
	for _, name := range checkedIn() {
		tables, want := asJSON(t, name)
		var got junitSuites
		if err := xml.Unmarshal([]byte(render(t, JUnit, tables)), &got); err != nil {
			t.Fatal(err)
		}
		cases := map[string]junitCase{}
		tests, failures, errs := 0, 0, 0
		for _, s := range got.Suites {
			tests, failures, errs = tests+s.Tests, failures+s.Failures, errs+s.Errors
			for _, c := range s.Cases {
				cases[c.Name] = c
			}
		}
		if got.Tests != tests || got.Failures != failures || got.Errors != errs || tests != len(cases) {
			t.Errorf("%s: %d tests, %d failures, %d errors, and in the suites %d, %d, %d of %d cases", name, got.Tests, got.Failures, got.Errors, tests, failures, errs, len(cases))
		}
		if run := cases["every trial of the plan was made"]; (len(run.Failures) > 0) != want.Interrupted {
			t.Errorf("%s: the run's case is %+v, interrupted %v", name, run, want.Interrupted)
		}
		whole(want, func(r Row) {
			c := cases[strings.TrimSpace(rowName(want.Rows, r))]
			if (len(c.Failures) > 0) == r.Ranked || (len(c.Errors) > 0) != (r.Missing > 0) {
				t.Errorf("%s: %s is ranked %v with %d missing rounds, its case has %d failures, %d errors", name, r.Subject, r.Ranked, r.Missing, len(c.Failures), len(c.Errors))
			}
			n := 0
			if c.Properties != nil {
				for _, p := range c.Properties.All {
					n++
					if p.Value != exact(r.Metrics[p.Name].Median) {
						t.Errorf("%s: %s of %s is %s, want %v", name, p.Name, r.Subject, p.Value, r.Metrics[p.Name].Median)
					}
				}
			}
			if n != len(r.Metrics) {
				t.Errorf("%s: %s has %d figures, want %d", name, r.Subject, n, len(r.Metrics))
			}
		})
	}
}

func TestPrometheusEqualsJSON(t *testing.T) {
	for _, name := range checkedIn() {
		tables, want := asJSON(t, name)
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(render(t, Prometheus, tables)))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for family, f := range families {
			for _, m := range f.Metric {
				labels := map[string]string{}
				for _, l := range m.Label {
					labels[l.GetName()] = l.GetValue()
				}
				got[strings.Join([]string{family, labels["subject"], labels["step"], labels["concurrency"], labels["outcome"], labels["figure"]}, "/")] = m.Gauge.GetValue()
			}
		}
		for _, r := range want.Rows {
			equal := func(gauge, outcome, figure string, v float64) {
				key := strings.Join([]string{"bakeoff_" + gauge, r.Subject, r.Step, strconv.Itoa(r.Concurrency), outcome, figure}, "/")
				if g, ok := got[key]; !ok || g != v {
					t.Errorf("%s: %s is %v (%v), want %v", name, key, g, ok, v)
				}
			}
			for _, m := range Metrics {
				if v, ok := r.Metrics[m.Name]; ok {
					equal(gaugeName(m), "", "", v.Median)
					equal(gaugeName(m)+"_low", "", "", v.Low)
					equal(gaugeName(m)+"_high", "", "", v.High)
				}
				if c := want.Comparison(r, m.Name); c != nil {
					equal("ratio", "", m.Name, c.Ratio)
					equal("ratio_detected", "", m.Name, truth(c.Detected))
				}
			}
			if o := r.Outcomes; o != nil {
				equal("calls", "ok", "", float64(o.OK))
				equal("calls", "failed", "", float64(o.Failed))
				equal("calls", "dropped", "", float64(o.Dropped))
				equal("ranked", "", "", truth(r.Ranked))
			}
		}
	}
}

// TestGHZEqualsJSON reads the lines as ghz's own names have them, and the summary for people.
func TestGHZEqualsJSON(t *testing.T) {
	for _, name := range checkedIn() {
		tables, want := asJSON(t, name)
		dec := json.NewDecoder(strings.NewReader(render(t, GHZ, tables)))
		dec.DisallowUnknownFields()
		summaries := strings.Split(render(t, GHZLike, tables), "Summary:\n")[1:]
		whole(want, func(r Row) {
			if r.Rounds == 0 {
				return
			}
			var g ghzReport
			if err := dec.Decode(&g); err != nil {
				t.Fatal(err)
			}
			summary := strings.Join(strings.Fields(summaries[0]), " ")
			summaries = summaries[1:]
			says := func(format string, args ...any) {
				if s := fmt.Sprintf(format, args...); !strings.Contains(summary, s) {
					t.Errorf("%s: no %q in %s", name, s, summary)
				}
			}
			if g.Tags["subject"] != r.Subject || g.Count != r.Outcomes.OK+r.Outcomes.Failed || g.Statuses["OK"] != r.Outcomes.OK || g.Tags["ranked"] != strconv.FormatBool(r.Ranked) {
				t.Errorf("%s: %+v of %+v", name, g, r)
			}
			says("Count: %d ", g.Count)
			for class, n := range r.Outcomes.FailedByClass {
				if g.Statuses[class] != n {
					t.Errorf("%s: %d %s, want %d", name, g.Statuses[class], class, n)
				}
				says("[%s] %d responses", class, n)
			}
			d := r.Latency
			if d == nil {
				says("unknown: no call succeeded")
				return
			}
			near := func(what string, got float64, want float64) {
				if math.Abs(got-want) > 1e-9+1e-9*want {
					t.Errorf("%s: %s of %s is %v, want %v", name, what, r.Subject, got, want)
				}
			}
			near("slowest", g.Slowest.Seconds(), d.Slowest)
			near("fastest", g.Fastest.Seconds(), d.Fastest)
			near("average", g.Average.Seconds(), d.Mean)
			near("rps", g.RPS*r.Seconds, float64(g.Count))
			near("total", g.Total.Seconds(), r.Seconds)
			says("Slowest: %.2f ms", 1000*d.Slowest)
			says("Requests/sec: %.2f", g.RPS)
			sum := int64(0)
			for i, b := range d.Buckets {
				sum += b.Count
				near("mark", g.Histogram[i].Mark, b.Mark)
				if g.Histogram[i].Count != b.Count {
					t.Errorf("%s: %d in bucket %d, want %d", name, g.Histogram[i].Count, i, b.Count)
				}
				says("%.3f [%d] |", 1000*b.Mark, b.Count)
			}
			steps := slices.ContainsFunc(want.Rows, func(o Row) bool { return o.Step != "" }) // of which a call has several
			if sum != d.Count || uint64(d.Count) != r.Outcomes.OK && !steps {
				t.Errorf("%s: %d calls in buckets, %d in all, %d succeeded", name, sum, d.Count, r.Outcomes.OK)
			}
			for i, p := range g.Distribution {
				near("percentile", p.Latency.Seconds(), d.Percentiles[i].Latency)
				says("%d %% in %.2f ms", p.Percentage, 1000*d.Percentiles[i].Latency)
			}
		})
		if dec.More() || len(summaries) > 0 {
			t.Errorf("%s: more reports than rows with figures", name)
		}
	}
}

// TestBenchFmtEqualsJSON forms the median of the lines of each row.
func TestBenchFmtEqualsJSON(t *testing.T) {
	for _, name := range checkedIn() {
		tables, want := asJSON(t, name)
		got := map[string][]float64{}
		r := benchfmt.NewReader(strings.NewReader(render(t, BenchFmt, tables)), name)
		for r.Scan() {
			if rec, ok := r.Result().(*benchfmt.Result); ok {
				for _, v := range rec.Values {
					got[string(rec.Name)+" "+v.Unit] = append(got[string(rec.Name)+" "+v.Unit], v.Value)
				}
			}
		}
		for _, rows := range sectionsOf(want.Rows, true) {
			for _, row := range rows {
				for metric, unit := range map[string]string{"throughput": "req/s", "server_cpu_per_req": "server-cpu-sec/op", "latency_p99": "latency-p99-sec", "server_rss": "server-rss-B"} {
					v, ok := row.Metrics[metric]
					if !ok || v.Median == 0 {
						continue
					}
					s, _ := stats.Median(got[string(benchName(rows, row))+" "+unit])
					if math.Abs(s.Median-v.Median) > 1e-9*v.Median {
						t.Errorf("%s: %s of %s is %v, want %v", name, metric, row.Subject, s.Median, v.Median)
					}
				}
			}
		}
	}
}

// TestTablesEqualJSON reads the cells of the tables for people back: each must be the figure of JSON, as far as its digits go.
func TestTablesEqualJSON(t *testing.T) {
	columns := regexp.MustCompile(` {2,}`)
	bars := regexp.MustCompile(` *\| *`)
	for _, name := range checkedIn() {
		tables, want := asJSON(t, name)
		for _, f := range []struct {
			Format
			form
			split *regexp.Regexp
		}{{Text, narrowForm, columns}, {Wide, wideForm, columns}, {Markdown, documentForm, bars}, {ADR, documentForm, bars}} {
			seen := 0
			ranked, title := true, ""
			var head []string
			for _, line := range strings.Split(render(t, f.Format, tables), "\n") {
				plain := strings.Trim(strings.NewReplacer("### ", "", "## ", "", `\`, "").Replace(line), "| ")
				cells := f.split.Split(plain, -1)
				switch {
				case strings.Contains(line, " loop"):
					ranked = !strings.Contains(line, "not ranked")
				case cells[0] == "subject @ conc.":
					head = cells
				case len(cells) == 1 && plain != "" && !strings.HasPrefix(plain, "-"):
					title, head = plain, nil
				case head != nil && len(cells) == len(head):
					seen += figuresOf(t, name+" as "+f.Format.Name, want, f.form, title, head, cells, ranked)
				}
			}
			if len(want.Rows) > 0 && seen == 0 {
				t.Errorf("%s as %s: no figure was found", name, f.Format.Name)
			}
		}
	}
}

// figuresOf holds the figures of one line to JSON's and counts them.
func figuresOf(t *testing.T, where string, want Tables, f form, title string, head, cells []string, ranked bool) (seen int) {
	number := regexp.MustCompile(`^[*=]?([0-9.e+-]+)`)
	notes := regexp.MustCompile(` \[[0-9,]+\]$`)
	units := map[string]float64{"k req/s": 1000, "req/s": 1, "ms": 1e-3, "us": 1e-6, "s": 1, "ns": 1e-9, "%": 0.01, "MiB": 1 << 20, "KiB": 1 << 10, "B": 1, "": 1}
	rows := sectionsOf(want.Rows, ranked)
	for _, th := range f.themes {
		if th.title != title {
			continue
		}
		for i, h := range head[1:] {
			for _, c := range th.columns {
				unit, ok := strings.CutPrefix(h, c.head)
				factor, known := units[strings.TrimSpace(unit)]
				if !ok || !known || unit != "" && c.head != "" && unit[0] != ' ' {
					continue
				}
				m := number.FindStringSubmatch(cells[i+1])
				if m == nil {
					continue
				}
				got, err := strconv.ParseFloat(m[1], 64)
				if err != nil {
					continue
				}
				label := notes.ReplaceAllString(cells[0], "")
				found := false
				for _, section := range rows {
					found = found || slices.ContainsFunc(section, func(r Row) bool {
						v, known := r.Metrics[c.metric]
						return known && strings.TrimSpace(rowName(section, r)) == strings.TrimSpace(label) && math.Abs(got*factor-v.Median) <= 0.0055*math.Abs(v.Median)
					})
				}
				if !found {
					t.Errorf("%s: %q of %q in %q is %s, which is not JSON's", where, h, label, title, cells[i+1])
				}
				seen++
				break
			}
		}
	}
	return seen
}
