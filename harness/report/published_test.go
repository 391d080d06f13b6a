package report

import (
	"slices"
	"strings"
	"testing"
)

// madeUp is a row whose rounds have these values of a metric.
func madeUp(subject string, concurrency int, workload, metric string, values ...float64) Row {
	v := Value{Unit: unitOf(metric)}
	for i, x := range values {
		v.Observations = append(v.Observations, Observation{i + 1, x})
	}
	return Row{Subject: subject, Workload: workload, Mode: "closed", Concurrency: concurrency, Conns: 1, Rounds: len(values), Ranked: true, Metrics: map[string]Value{metric: v}}
}

func TestVerdicts(t *testing.T) {
	base := func(n int) []float64 { return slices.Repeat([]float64{10}, n) }
	claim := Claim{Words: "a needs 30% more than b", Figure: "theirs: +30%", Low: 1.15, High: 1.45,
		Ratios: []Ratio{{serverCPU, serverCPUName, "w", RowAt{"a", 50}, RowAt{"b", 50}}}}
	unchanged := Claim{Words: "nothing changes from 50 to 800", Figure: "theirs: none", Low: 0.9, High: 1.1,
		Ratios: []Ratio{{serverCPU, serverCPUName, "w", RowAt{"a", 800}, RowAt{"a", 50}}, {serverCPU, serverCPUName, "w", RowAt{"b", 800}, RowAt{"b", 50}}}}
	everyLevel := Claim{Words: "a is faster by 3% to 17%", Figure: "theirs: +3% to +17%", Low: 1.03, High: 1.17,
		Ratios: []Ratio{{"throughput", "throughput", "w", RowAt{"a", 0}, RowAt{"b", 0}}}}
	ofStep := Claim{Words: "step two becomes 18 times as slow", Figure: "theirs: 18 times", Low: 9.5, High: 26.5, Step: "two",
		Ratios: []Ratio{{"latency_p50", "its median", "w", RowAt{"a", 20}, RowAt{"a", 1}}}}
	step := func(name string, r Row) Row { r.Step = name; return r }
	limited := madeUp("a", 50, "w", "throughput", 11, 11, 11, 11, 11, 11)
	limited.Flags = []Flag{{Kind: FlagDriverLimited, Rounds: 6}}
	unranked := madeUp("b", 50, "w", serverCPU, base(6)...)
	unranked.Ranked = false
	for _, row := range []struct {
		name    string
		claim   Claim
		rows    []Row
		verdict string
		text    []string
	}{
		{"inside of the bounds", claim, []Row{madeUp("a", 50, "w", serverCPU, 12.8, 13, 13.2, 12.9, 13.1, 13), madeUp("b", 50, "w", serverCPU, base(6)...)},
			Holds, []string{`Published: a needs 30% more than b (theirs: +30%). Here that holds: server CPU per request: a @ 50 to b @ 50 +30% [+28% to +32%]. It counts as holding from +15% to +45%.`}},
		{"beyond them, in the same direction", claim, []Row{madeUp("a", 50, "w", serverCPU, 16, 16.1, 16, 15.9, 16, 16), madeUp("b", 50, "w", serverCPU, base(6)...)},
			HoldsNot, []string{"Here that does not hold, though its direction does: ", "+60% [+59% to +61%]"}},
		{"the other way round", claim, []Row{madeUp("a", 50, "w", serverCPU, 8, 8, 8.1, 8, 7.9, 8), madeUp("b", 50, "w", serverCPU, base(6)...)},
			HoldsNot, []string{"Here that does not hold: ", "-20% [-21% to -19%]"}},
		{"across a bound", claim, []Row{madeUp("a", 50, "w", serverCPU, 11, 11.2, 11.4, 11.6, 11.8, 12), madeUp("b", 50, "w", serverCPU, base(6)...)},
			CantBeTold, []string{"Here that can't be told: ", "+15% [+10% to +20%]"}},
		{"five rounds", claim, []Row{madeUp("a", 50, "w", serverCPU, 13, 13, 13, 13, 13), madeUp("b", 50, "w", serverCPU, base(5)...)},
			CantBeTold, []string{"a @ 50 to b @ 50 +30%; without 6 rounds there is no interval"}},
		{"not measured", unchanged, []Row{madeUp("a", 50, "w", serverCPU, base(6)...), madeUp("b", 50, "w", serverCPU, base(6)...)},
			CantBeTold, []string{"a @ 800 with the workload w is not measured; b @ 800 with"}},
		{"one of two does not hold", unchanged, []Row{madeUp("a", 50, "w", serverCPU, base(6)...), madeUp("a", 800, "w", serverCPU, base(6)...),
			madeUp("b", 50, "w", serverCPU, base(6)...), madeUp("b", 800, "w", serverCPU, 15, 15, 15, 15, 15, 15)},
			HoldsNot, []string{"a @ 800 to a @ 50 +0.0% [+0.0% to +0.0%] (holds); b @ 800 to b @ 50 +50%"}},
		{"one of two is missing", unchanged, []Row{madeUp("a", 50, "w", serverCPU, base(6)...), madeUp("a", 800, "w", serverCPU, base(6)...), madeUp("b", 50, "w", serverCPU, base(6)...)},
			CantBeTold, []string{"(holds); b @ 800 with the workload w is not measured"}},
		{"at every level", everyLevel, []Row{madeUp("a", 50, "w", "throughput", 11, 11, 11, 11, 11, 11), madeUp("b", 50, "w", "throughput", base(6)...),
			madeUp("a", 800, "w", "throughput", 10.8, 10.8, 10.8, 10.8, 10.8, 10.8), madeUp("b", 800, "w", "throughput", base(6)...)},
			Holds, []string{"throughput: a @ 50 to b @ 50 +10% [+10% to +10%]; a @ 800 to b @ 800 +8.0%"}},
		{"the driver's throughput", everyLevel, []Row{limited, madeUp("b", 50, "w", "throughput", base(6)...)},
			CantBeTold, []string{"the throughput of a @ 50 is the driver's"}},
		{"not ranked", claim, []Row{madeUp("a", 50, "w", serverCPU, base(6)...), unranked}, CantBeTold, []string{"b @ 50 is not ranked"}},
		{"of one step", ofStep, []Row{madeUp("a", 1, "w", "latency_p50", base(6)...), madeUp("a", 20, "w", "latency_p50", base(6)...),
			step("one", madeUp("a", 1, "w", "latency_p50", base(6)...)), step("one", madeUp("a", 20, "w", "latency_p50", base(6)...)),
			step("two", madeUp("a", 1, "w", "latency_p50", base(6)...)), step("two", madeUp("a", 20, "w", "latency_p50", 150, 151, 149, 150, 150, 150))},
			Holds, []string{"its median: a @ 20 to a @ 1 +1400% ["}},
		{"of a step that is not slow", ofStep, []Row{step("two", madeUp("a", 1, "w", "latency_p50", base(6)...)), step("two", madeUp("a", 20, "w", "latency_p50", base(6)...))},
			HoldsNot, []string{"a @ 20 to a @ 1 +0.0%"}},
		{"of a step at one level", ofStep, []Row{step("two", madeUp("a", 20, "w", "latency_p50", base(6)...)), madeUp("a", 1, "w", "latency_p50", base(6)...)},
			CantBeTold, []string{"a @ 1 with the workload w is not measured"}},
		{"in two ways", claim, []Row{madeUp("a", 50, "w", serverCPU, base(6)...), madeUp("a", 50, "w", serverCPU, base(6)...), madeUp("b", 50, "w", serverCPU, base(6)...)},
			CantBeTold, []string{"a @ 50 with the workload w is measured more than once"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			tables := Tables{Rows: row.rows}
			v := tables.judge(row.claim)
			if v.Verdict != row.verdict {
				t.Errorf("it %s, want: %s\n%s", v.Verdict, row.verdict, v.Text)
			}
			for _, want := range row.text {
				if !strings.Contains(v.Text, want) {
					t.Errorf("%q is not in %q", want, v.Text)
				}
			}
		})
	}
}

// A claim is judged only where the run was about what it is about.
func TestClaimsOfOtherRuns(t *testing.T) {
	rows := []Row{madeUp("grpc", 50, "datatype", serverCPU, 1), madeUp("thrift", 50, "datatype", serverCPU, 1)}
	for _, row := range []struct {
		name, experiment string
		change           func([]Row)
		want             int
	}{
		{"the published experiment", "datatype", func([]Row) {}, 3},
		{"another experiment", "stacks", func([]Row) {}, 0},
		{"without one of the subjects", "datatype", func(rs []Row) { rs[1].Subject = "http" }, 0},
		{"with another workload", "datatype", func(rs []Row) { rs[0].Workload, rs[1].Workload = "getfeature", "getfeature" }, 0},
		{"in the open loop", "datatype", func(rs []Row) { rs[0].Mode, rs[1].Mode = "open", "open" }, 0},
	} {
		mine := slices.Clone(rows)
		row.change(mine)
		tables := Tables{Experiment: row.experiment, Rows: mine}
		tables.publish()
		if len(tables.Published) != row.want || len(tables.Words) != row.want {
			t.Errorf("%s: %d claims in %d sentences, want %d", row.name, len(tables.Published), len(tables.Words), row.want)
		}
	}
}

func TestClaimsAreMeasurable(t *testing.T) {
	for _, c := range Claims {
		if c.Experiment == "" || c.Words == "" || c.Figure == "" || len(c.Ratios) == 0 || !(0 < c.Low && c.Low < c.High) {
			t.Errorf("%+v", c)
		}
		for _, r := range c.Ratios {
			known := slices.ContainsFunc(Metrics, func(m Metric) bool { return m.Name == r.Metric })
			if !known || r.Name == "" || r.Workload == "" || r.Of.Subject == "" || r.To.Subject == "" || (r.Of.Concurrency == 0) != (r.To.Concurrency == 0) {
				t.Errorf("%s: %+v", c.Words, r)
			}
		}
	}
}
