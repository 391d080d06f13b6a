package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"
)

// BenchFmt is the format of Go benchmarks, one line for each row and round, for benchstat and what else reads it. The number behind the
// name is that of the calls that succeeded; ns/op is the window divided by them, as testing.B has it for parallel benchmarks, and
// latencies have units of their own. What must not be compared (another machine, loop or store) is a configuration line, by
// which benchstat makes another table; what may well differ between two files (Go, kernel, seed) is a comment, for
// benchstat compares nothing across configurations. Rows that are not ranked are comments only.
var BenchFmt = Format{Name: "benchfmt", Alias: "gobench", Doc: "for benchstat: the rounds as Go benchmark lines", Write: writeBenchFmt}

func writeBenchFmt(w io.Writer, t Tables) error {
	var head strings.Builder
	for _, l := range headLines(t) {
		fmt.Fprintf(&head, "# %s\n", l)
	}
	for _, warning := range t.Warnings {
		fmt.Fprintf(&head, "# warning: %s\n", clean(warning.Text))
	}
	for _, r := range t.Rows {
		if !r.Ranked && r.Step == "" {
			fmt.Fprintf(&head, "# not written, for it is not ranked: %s: %s\n", rowName(t.Rows, r), clean(r.whyNot(t)))
		}
	}
	head.WriteString(benchUnits())
	if err := writeAll(w, "benchfmt", head.String()); err != nil {
		return err
	}
	out := benchfmt.NewWriter(w)
	machine := []benchEntry{{"goos", t.Environment.OS}, {"goarch", t.Environment.Arch}, {"pkg", "bakeoff"}, {"cpu", t.Environment.CPUModel}}
	for _, rows := range sectionsOf(t.Rows, true) {
		for _, r := range rows {
			var doubts strings.Builder
			for _, f := range r.Flags {
				fmt.Fprintf(&doubts, "# %s: %s\n", strings.TrimSpace(rowName(rows, r)), clean(f.Text))
			}
			if err := writeAll(w, "benchfmt", doubts.String()); err != nil {
				return err
			}
			for _, calls := range r.Calls {
				res := &benchfmt.Result{Config: benchConfig(r, machine...), Name: benchName(rows, r), Iters: int(calls.Value), Values: benchValues(r, calls.Round)}
				if len(res.Values) == 0 || res.Iters == 0 {
					continue // no call succeeded: nothing that has a time
				}
				if err := out.Write(res); err != nil {
					return fmt.Errorf("write benchfmt: %w", err)
				}
			}
		}
	}
	return nil
}

// benchUnits says of each figure which direction is the better one.
func benchUnits() string {
	var b strings.Builder
	for _, m := range Metrics {
		if better := map[Direction]string{Lower: "lower", Higher: "higher"}[m.Better]; better != "" {
			unit, _ := benchUnit(m)
			fmt.Fprintf(&b, "Unit %s better=%s\n", unit, better)
		}
	}
	return b.String()
}

// benchEntry is a line of a configuration.
type benchEntry struct{ key, value string }

// benchConfig is what keeps rows from being compared: what is known of the files, then of the row.
func benchConfig(r Row, files ...benchEntry) []benchfmt.Config {
	var all []benchfmt.Config
	for _, c := range slices.Concat(files, []benchEntry{{"loop", r.Mode}, {"arrivals", r.Arrivals}, {"store", storeKind(r.Store)}}) {
		if value := strings.TrimSpace(clean(c.value)); value != "" {
			all = append(all, benchfmt.Config{Key: c.key, Value: []byte(value), File: true})
		}
	}
	return all
}

// benchName is Datatype/subject=grpc/concurrency=50. Connections stand in it only where they tell rows apart: otherwise -col /subject
// of benchstat could not lay subjects side by side. The number at the end keeps a "-8" of any name from being read as GOMAXPROCS.
func benchName(rows []Row, r Row) benchfmt.Name {
	name := benchWord(r.Workload)
	first, size := utf8.DecodeRuneInString(name)
	name = string(unicode.ToUpper(first)) + name[size:] + "/subject=" + benchWord(r.Subject)
	if r.Step != "" {
		name += "/step=" + benchWord(r.Step)
	}
	for _, o := range rows {
		if o.Subject == r.Subject && o.Concurrency == r.Concurrency && o.Rate == r.Rate && o.Conns != r.Conns {
			name += fmt.Sprintf("/conns=%d", r.Conns)
			break
		}
	}
	if r.Rate != "" {
		name += "/rate=" + benchWord(r.Rate)
	}
	return benchfmt.Name(fmt.Sprintf("%s/concurrency=%d", name, r.Concurrency))
}

// benchWord keeps a name in its place: no blanks, which end the whole name, and no slashes, which end a part.
func benchWord(s string) string {
	if s == "" {
		return "_"
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || c == '/' || c == '=' {
			return '_'
		}
		return c
	}, clean(s))
}

func benchValues(r Row, round int) []benchfmt.Value {
	var vs []benchfmt.Value
	for _, m := range Metrics {
		for _, o := range r.Metrics[m.Name].Observations {
			if o.Round != round {
				continue
			}
			if m.Name == "throughput" && o.Value > 0 {
				vs = append(vs, benchfmt.Value{Value: 1e9 / o.Value, Unit: "ns/op"})
			}
			unit, factor := benchUnit(m)
			vs = append(vs, benchfmt.Value{Value: o.Value * factor, Unit: unit})
		}
	}
	return vs
}

// benchUnit names a figure as benchmarks do (server-cpu-ns/op, latency-p99-ns, server-rss-B) and says by what to multiply it.
func benchUnit(m Metric) (unit string, factor float64) {
	name, per := strings.CutSuffix(m.Name, "_per_req")
	name, factor = strings.ReplaceAll(strings.TrimPrefix(name, "bytes_"), "_", "-"), 1
	switch m.Unit {
	case unitRate:
		if rate, ok := strings.CutSuffix(m.Name, "_rate"); ok {
			return rate + "-" + m.Unit, 1 // one unit is one figure
		}
		return m.Unit, 1
	case unitSeconds:
		name, factor = name+"-ns", 1e9
	case unitBytes:
		name += "-B"
	}
	if per {
		name += "/op"
	}
	return name, factor
}
