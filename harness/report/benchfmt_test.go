package report

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"bakeoff/harness/result"
)

// TestBenchFmtIsRead reads every synthetic run back with the reader that benchstat has, and holds each value to the tables.
func TestBenchFmtIsRead(t *testing.T) {
	for _, s := range synthetic {
		tables := load(t, s.name)
		in := render(t, BenchFmt, tables)
		r := benchfmt.NewReader(strings.NewReader(in), s.name)
		lines := 0
		for r.Scan() {
			switch rec := r.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Errorf("%s: %v", s.name, rec)
			case *benchfmt.Result:
				lines++
				if loop := rec.GetConfig("loop"); rec.GetConfig("pkg") != "bakeoff" || loop != "closed" && loop != "open" {
					t.Errorf("%s: configuration %v", s.name, rec.Config)
				}
				if rec.Iters <= 0 {
					t.Errorf("%s: %s has %d iterations", s.name, rec.Name, rec.Iters)
				}
			}
		}
		if r.Err() != nil {
			t.Error(r.Err())
		}
		want := 0
		for _, row := range tables.Rows {
			for _, calls := range row.Calls {
				if row.Ranked && calls.Value > 0 {
					want++
				}
			}
		}
		if lines != want {
			t.Errorf("%s: %d lines, want %d: one for each round of each ranked row in which a call succeeded", s.name, lines, want)
		}
	}
}

func TestBenchFmtArithmetic(t *testing.T) {
	f := fileOf([]string{"a b/c", "odd"}, small("a b/c", 1, 2000, 20e-6, 10e-6), small("odd", 1, 1, 1, 1))
	f.Header.Subjects[1].Conformant = false
	f.Header.Env = result.Environment{OS: "linux", Arch: "amd64", CPUModel: "Example CPU", Go: "go1.26"}
	in := render(t, BenchFmt, build(t, f, ""))
	for _, want := range []string{"\nBenchmarkW/subject=a_b_c/concurrency=10 5 ", "\ngoos: linux\n", "\ncpu: Example CPU\n", "\nstore: memory\n",
		"\n# not written, for it is not ranked: odd @ 10: its answers differ", "\nUnit server-cpu-ns/op better=lower\n", "\n# a b/c @ 10: "} {
		if !strings.Contains("\n"+in, want) {
			t.Errorf("no %q in:\n%s", want, in)
		}
	}
	if strings.Contains(in, "subject=odd") {
		t.Error("a subject that is not ranked has a line")
	}
	r := benchfmt.NewReader(strings.NewReader(in), "in")
	for r.Scan() {
		rec, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		for unit, want := range map[string]float64{
			"sec/op": 1.0 / 2000, "req/s": 2000, "server-cpu-sec/op": 20e-6, "client-cpu-sec/op": 10e-6, "server-rss-B": 1000, "cores-per-10k": 0.3, // (20+10) us * 10,000
		} {
			if v, ok := rec.Value(unit); !ok || math.Abs(v-want) > 1e-9*want {
				t.Errorf("%s is %g, %v, want %g", unit, v, ok, want)
			}
		}
	}
}

// TestRealBenchstat gives two files to benchstat itself: subjects side by side, and one run against another.
func TestRealBenchstat(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command to build benchstat")
	}
	dir := t.TempDir()
	write := func(name string, cpu float64) string {
		xs := times10(spread, cpu)
		tables := build(t, fileOf([]string{"a", "b"}, append(rounds("a", spread, xs), rounds("b", spread, spread)...)...), "")
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(render(t, BenchFmt, tables)), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	older, newer := write("old.txt", 1), write("new.txt", 1.5)
	both := filepath.Join(dir, "compared.txt")
	c := compare(t, fileOf([]string{"a"}, rounds("a", spread, spread)...), fileOf([]string{"a"}, rounds("a", spread, times10(spread, 1.5))...), ChangeOptions{})
	asBench, err := FindChange("benchfmt")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := asBench.Write(&b, c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(both, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	benchstat := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"tool", "-modfile=../../tools/go.mod", "benchstat"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("benchstat %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	// The middle of spread is (104+105)/2 = 104.5 us, half as much again 156.75 us.
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{older, newer}, []string{"server-cpu-sec/op", "W/subject=a/concurrency=10", "104.5µ", "156.8µ", "+50.00% (p=0.000 n=10)", "~ (p="}},
		{[]string{"-col", "/subject", newer}, []string{"W/concurrency=10", "156.8µ", "104.5µ", "-33.33% (p=0.000 n=10)"}},
		{[]string{"-col", "side", both}, []string{"W/subject=a/concurrency=10", "104.5µ", "156.8µ", "+50.00% (p=0.000 n=10)"}},
	} {
		out := strings.Join(strings.Fields(benchstat(c.args...)), " ")
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("benchstat %v: no %q in:\n%s", c.args, want, out)
			}
		}
	}
}
