package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

// split parts the trials of a complete run by the round, as two machines might have measured them.
func split(t *testing.T) (whole, odd, even result.File) {
	t.Helper()
	var trials []result.Trial
	for round := 1; round <= 6; round++ {
		for _, subject := range []string{"a", "b", "c"} {
			tr := small(subject, round, 100/float64(round), 1e-6*float64(round), 1e-6)
			tr.Order = len(trials) + 1
			tr.Started = time.Unix(1767366000+int64(60*tr.Order), 0).UTC()
			tr.Outcomes = result.Outcomes{Started: 20, OK: 20}
			trials = append(trials, tr)
		}
	}
	trials[0].Histograms = []result.Histogram{times(t, "s", result.OutcomeOK, result.TimeResponse, 20, 1e-3)}
	whole = fileOf([]string{"a", "b", "c"}, trials...)
	whole.Header.Env.CPUModel, whole.Header.Settings = "Example CPU 3000", json.RawMessage(`{"concurrency":[10],"duration":"2s"}`)
	odd, even = whole, whole
	odd.Name, even.Name, odd.Trials, even.Trials = "odd.jsonl", "even.jsonl", nil, nil
	for _, tr := range whole.Trials {
		if tr.Round%2 == 1 {
			odd.Trials = append(odd.Trials, tr)
		} else {
			even.Trials = append(even.Trials, tr)
		}
	}
	return whole, odd, even
}

func fileNamed(t *testing.T, name string) result.File {
	t.Helper()
	f, err := result.ReadFile("testdata/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// later is a file of trials that began so much later.
func later(f result.File, d time.Duration) result.File {
	f.Trials = slices.Clone(f.Trials)
	for i := range f.Trials {
		f.Trials[i].Started = f.Trials[i].Started.Add(d)
	}
	return f
}

func merge(t *testing.T, files ...result.File) []Merged {
	t.Helper()
	all, err := Merge(files)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestShardsMakeTheWhole puts the halves of a run together: the report is that of the whole, in whichever order they come.
func TestShardsMakeTheWhole(t *testing.T) {
	whole, odd, even := split(t)
	want, err := Build(whole, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]result.File{{odd, even}, {even, odd}} {
		all := merge(t, files...)
		if len(all) != 1 {
			t.Fatalf("%d runs of two shards", len(all))
		}
		got, err := all[0].Build(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Files, []string{files[0].Name, files[1].Name}) {
			t.Errorf("files %v", got.Files)
		}
		got.Files = want.Files
		if d := cmp.Diff(render(t, JSON, want), render(t, JSON, got)); d != "" {
			t.Error(d)
		}
	}
}

func TestShardsOfAnotherPlan(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f *result.File)
	}{
		{"another seed", func(f *result.File) { f.Header.Seed++ }},
		{"another experiment", func(f *result.File) { f.Header.Experiment = "levels" }},
		{"other settings", func(f *result.File) { f.Header.Settings = json.RawMessage(`{"concurrency":[10],"duration":"3s"}`) }},
		{"another flag", func(f *result.File) {
			f.Header.Settings = json.RawMessage(`{"concurrency":[10],"duration":"2s","flags":{"conns":"1"}}`)
		}},
		{"other subjects", func(f *result.File) { f.Header.Subjects = f.Header.Subjects[:2] }},
		{"a precision", func(f *result.File) {
			f.Header.Precision = &result.Precision{Figure: "throughput", Target: 0.02, First: 10}
		}},
		{"the same places, measured again", func(f *result.File) { *f, _, _ = split(t); *f = later(*f, time.Hour) }},
		{"a copy that was changed", func(f *result.File) {
			_, *f, _ = split(t)
			f.Trials[0].Values[result.Throughput]++
		}},
	} {
		_, odd, even := split(t)
		c.change(&even)
		if n := len(merge(t, odd, even)); n != 2 {
			t.Errorf("%s: %d runs, want 2", c.name, n)
		}
	}
}

// TestShardsThatDiffer are told: another machine, a verdict that only one has, a trial that failed in one and not in the other.
func TestShardsThatDiffer(t *testing.T) {
	_, odd, even := split(t)
	even.Header.Env.CPUModel = "Other CPU"
	even.Header.Subjects = slices.Clone(even.Header.Subjects)
	even.Header.Subjects[2].Conformant, even.Header.Subjects[2].Differences = false, []string{"empty: want not_found, got ok"}
	again := odd.Trials[0]
	again.Error, again.Started = "the driver died", again.Started.Add(time.Hour)
	even.Trials = append(even.Trials, again)
	all := merge(t, odd, even)
	if len(all) != 1 {
		t.Fatalf("%d runs, want 1", len(all))
	}
	tables, err := all[0].Build(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(tables.Warnings, func(w result.Warning) bool {
		return w.Kind == FlagShards && strings.Contains(w.Text, "even.jsonl") && strings.Contains(w.Text, "Example CPU 3000 -> Other CPU")
	}) {
		t.Errorf("warnings %+v", tables.Warnings)
	}
	if len(tables.NotRanked) != 1 || tables.NotRanked[0].Subject != "c" || tables.Rows[0].Missing != 0 || tables.Interrupted {
		t.Errorf("not ranked %+v, interrupted %v, row %+v", tables.NotRanked, tables.Interrupted, tables.Rows[0])
	}
}

// TestABrokenShardNamesItsLine has a histogram that can't be read in the second file.
func TestABrokenShardNamesItsLine(t *testing.T) {
	_, odd, even := split(t)
	even.Trials = slices.Clone(even.Trials)
	even.Trials[3].Histograms = []result.Histogram{{Outcome: result.OutcomeOK, Time: result.TimeResponse, Count: 1, Data: "AAAA"}}
	even.Trials[3].Line = 5
	if _, err := Merge([]result.File{odd, even}); err == nil || !strings.HasPrefix(err.Error(), "even.jsonl:5:1: ") {
		t.Errorf("got %v", err)
	}
}

// beside lays three runs side by side, of which one stands on another machine and has a subject without a place.
func beside(t *testing.T) Beside {
	t.Helper()
	whole := fileNamed(t, "single")
	other := later(whole, time.Hour)
	other.Name, other.Header.Env.CPUModel, other.Header.Settings = "other.jsonl", "Other CPU", json.RawMessage(`{"concurrency":[50,800],"duration":"3s"}`)
	other.Trials[1].Concurrency, other.Trials[1].Values = 800, map[string]float64{result.Throughput: 40e3, result.ServerCPUPerReq: 15e-6}
	b, err := LayBeside(merge(t, whole, other, later(fileNamed(t, "failures"), 2*time.Hour)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBesideGolden(t *testing.T) {
	b := beside(t)
	for _, f := range BesideFormats {
		var got bytes.Buffer
		if err := f.Write(&got, b); err != nil {
			t.Fatal(err)
		}
		golden(t, "beside."+f.Name, got.Bytes())
		if err := f.Write(full{}, b); err == nil || !strings.HasPrefix(err.Error(), "write "+f.Name+": ") {
			t.Errorf("%s on a full disk: %v", f.Name, err)
		}
	}
	fits(t, "beside", string(mustGolden(t, "beside.table")), 80)
}

// TestBesideEqualsReports holds each column to the report of its run.
func TestBesideEqualsReports(t *testing.T) {
	b := beside(t)
	if len(b.Runs) != 3 || len(b.Runs[0].Differs) != 0 || len(b.Runs[1].Differs) != 2 || b.Runs[1].Name != "other" {
		t.Errorf("runs %+v", b.Runs)
	}
	for i, name := range []string{"single", "", "failures"} {
		if name == "" {
			continue
		}
		n := 0
		for _, r := range load(t, name).Rows {
			n++
			at := slices.IndexFunc(b.Rows, func(o BesideRow) bool { return o.RowKey == r.key() && o.Cells[i] != nil })
			if at < 0 {
				t.Fatalf("%s: no row %+v", name, r.key())
			}
			if d := cmp.Diff(r.Metrics, b.Rows[at].Cells[i].Metrics); d != "" {
				t.Error(d)
			}
		}
		for _, r := range b.Rows {
			if r.Cells[i] != nil {
				n--
			}
		}
		if n != 0 {
			t.Errorf("%s: %d rows more than side by side", name, n)
		}
	}
}

func TestRunNames(t *testing.T) {
	for _, c := range []struct{ files, want []string }{
		{[]string{"a/old.jsonl", "new.jsonl"}, []string{"old", "new"}},
		{[]string{"a/x.jsonl", "b/x.jsonl"}, []string{"run 1", "run 2"}},
		{[]string{"datatype-20261130-184137.jsonl", "x.jsonl"}, []string{"run 1", "run 2"}},
		{[]string{"", "x"}, []string{"run 1", "run 2"}},
	} {
		var runs []Merged
		for _, f := range c.files {
			runs = append(runs, Merged{Names: filesOf(result.File{Name: f})})
		}
		if got := runNames(runs); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.files, got, c.want)
		}
	}
}
