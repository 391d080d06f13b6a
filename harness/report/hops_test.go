package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

// complete is the synthetic run with nothing missing.
func complete(t *testing.T) result.File {
	t.Helper()
	file, err := result.ReadFile("testdata/complete.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// withBackend is the same where the second subject is a front of the first.
func withBackend(t *testing.T) Tables {
	t.Helper()
	file := complete(t)
	front := file.Header.Subjects[1].Name
	file.Header.Subjects[1].Alone = file.Header.Subjects[0].Name
	file.Header.Baseline = file.Header.Subjects[0].Name
	alone := map[[2]int]result.Trial{} // by level and round
	for _, tr := range file.Trials {
		if tr.Subject == file.Header.Subjects[0].Name {
			alone[[2]int{tr.Concurrency, tr.Round}] = tr
		}
	}
	for i, tr := range file.Trials {
		if tr.Subject != front || tr.Error != "" {
			continue
		}
		base := alone[[2]int{tr.Concurrency, tr.Round}]
		file.Trials[i].Conns = base.Conns
		tr.Values[result.Throughput] = base.Values[result.Throughput] - 1000
		tr.Values[result.ServerCPUPerReq] = base.Values[result.ServerCPUPerReq] + 10e-6
		tr.Values[result.BackendCPU], tr.Values[result.BackendCPUPerReq] = 1, 15e-6
		tr.Values[result.BackendRSS] = 30 << 20
	}
	tables, err := Build(file, Options{Load: 10_000, CorePrice: 1})
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// TestHops: a front stands beside the server alone with what it is short of and what it and its backend add, each round by itself; nobody else
// has a backend's figures.
func TestHops(t *testing.T) {
	tables := withBackend(t)
	if len(tables.Hops) != 2 {
		t.Fatalf("%d hops, want one at each of two levels: %+v", len(tables.Hops), tables.Hops)
	}
	close := func(got, want float64) bool { return got > want-1e-9*(1+want) && got < want+1e-9*(1+want) }
	for _, h := range tables.Hops {
		if d := h.More["throughput"]; !close(-d.Median, 1000) || !close(-d.Low, 1000) || d.TooFew {
			t.Errorf("throughput at %d: %+v, want 1000 less in every round", h.Concurrency, d)
		}
		if d := h.More[answerCPU]; !close(d.Median*1e6, 25) || !close(d.High*1e6, 25) {
			t.Errorf("CPU at %d: %+v, want 10 us of the front and 15 of the backend more", h.Concurrency, d)
		}
		if _, ok := h.More["latency_p50"]; !ok || h.Alone != tables.Baseline || h.Rounds < 6 {
			t.Errorf("%+v", h)
		}
	}
	h := tables.Hops[0]
	for _, r := range tables.Rows {
		_, known := r.Metrics[backendCPU]
		if _, why := r.Unknown[backendCPU]; known != (r.Subject == h.Subject) || why {
			t.Errorf("%s: backend's CPU known: %t, said to be unknown: %t", r.Subject, known, why)
		}
		if v := r.Metrics["cores_per_10k"]; known {
			sum := 10_000 * (r.Metrics[answerCPU].Median + r.Metrics["client_cpu_per_req"].Median + r.Metrics["store_cpu_per_req"].Median)
			if v.Median < sum*0.99 || v.Median > sum*1.01 {
				t.Errorf("cores for 10,000 calls a second: %v, want about %v with the backend's", v.Median, sum)
			}
		}
	}
	for _, c := range tables.Capacity.Rows {
		if c.Backend != nil != (c.Subject == h.Subject) {
			t.Errorf("capacity of %s: backend %v", c.Subject, c.Backend)
		}
		if c.Backend != nil && !close(c.Month.Median, (c.Server.Median+c.Backend.Median)*HoursPerMonth) {
			t.Errorf("a month costs %v, of %v cores of the server and %v of the backend", c.Month.Median, c.Server.Median, c.Backend.Median)
		}
	}
	for _, name := range []string{textName, wideName, "html"} {
		var b strings.Builder
		f := All[slices.IndexFunc(All, func(f Format) bool { return f.Name == name })]
		if err := f.Write(&b, tables); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "backend") || !strings.Contains(b.String(), "A front and its backend beside "+h.Alone+": by how much more") {
			t.Errorf("%s says nothing of the backend, or of how far the front lies from %s:\n%.3000s", name, h.Alone, b.String())
		}
	}
}

// TestNoHops: a report without fronts has nothing about them.
func TestNoHops(t *testing.T) {
	tables, err := Build(complete(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := All[0].Write(&b, tables); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Hop(nil), tables.Hops); d != "" || strings.Contains(b.String(), "backend") {
		t.Errorf("hops: %s; report:\n%s", d, b.String())
	}
}
