package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

// warned are the warnings of the kinds that are about trials in two files.
func warned(ws []result.Warning) []string {
	var all []string
	for _, w := range ws {
		if slices.Contains([]string{FlagSameTrials, FlagChangedTrials, FlagSamePlan}, w.Kind) {
			all = append(all, w.Kind+": "+w.Text)
		}
	}
	return all
}

func under(f result.File, name string, trials []result.Trial) result.File {
	f.Name, f.Trials = name, slices.Clone(trials)
	for i := range f.Trials {
		f.Trials[i].Line = len(name) + i // a line stands elsewhere in each file
	}
	return f
}

// written is a file with other blanks in its lines.
func written(f result.File) result.File {
	f.Trials = slices.Clone(f.Trials)
	for i := range f.Trials {
		f.Trials[i].Options = json.RawMessage(`{ "b": 2, "a": 1 }`)
	}
	return f
}

// TestTheSameTrialsCountOnce puts files together of which several have the same trials: the report is that of the whole, and says so.
func TestTheSameTrialsCountOnce(t *testing.T) {
	whole, odd, even := split(t)
	for _, f := range []result.File{whole, odd, even} {
		for i := range f.Trials {
			f.Trials[i].Options = json.RawMessage(`{"a":1,"b":2}`)
		}
	}
	lost := whole.Trials[4] // thrown in where a file has it, and done by the whole
	lost.Started, lost.Error = lost.Started.Add(-time.Second), "the driver died"
	a, b := under(whole, "a.jsonl", whole.Trials), under(whole, "b.jsonl", whole.Trials)
	for _, c := range []struct {
		name  string
		files []result.File
		want  []string
	}{
		{"a copy", []result.File{a, b}, []string{"a.jsonl and b.jsonl have the same 18 trials: each was counted once"}},
		{"a copy that went through a tool", []result.File{a, written(b)}, []string{"a.jsonl and b.jsonl have the same 18 trials: each was counted once"}},
		{"a file twice", []result.File{a, a}, []string{"a.jsonl is named twice, and has the same 18 trials each time: each was counted once"}},
		{"a copy of when the run went on", []result.File{a, under(whole, "b.jsonl", whole.Trials[:5])}, []string{"all that is in b.jsonl (5 trials) is in a.jsonl, too: each was counted once"}},
		{"the other way round", []result.File{under(whole, "b.jsonl", whole.Trials[:5]), a}, []string{"all that is in b.jsonl (5 trials) is in a.jsonl, too: each was counted once"}},
		{"shards that overlap", []result.File{under(whole, "a.jsonl", whole.Trials[:10]), under(whole, "b.jsonl", whole.Trials[8:])},
			[]string{"a.jsonl and b.jsonl have 2 trials in common, such as trial 9 (c at 10, round 3): each was counted once"}},
		{"shards and the whole", []result.File{odd, even, a},
			[]string{"all that is in odd.jsonl (9 trials) is in a.jsonl, too: each was counted once", "all that is in even.jsonl (9 trials) is in a.jsonl, too: each was counted once"}},
		{"shards", []result.File{odd, even}, nil},
		{"a copy with what failed", []result.File{under(whole, "a.jsonl", append(slices.Clone(whole.Trials[:4]), lost)), under(whole, "b.jsonl", append([]result.Trial{lost}, whole.Trials...))},
			[]string{"all that is in a.jsonl (5 trials) is in b.jsonl, too: each was counted once"}},
	} {
		all := merge(t, c.files...)
		if len(all) != 1 {
			t.Errorf("%s: %d runs, want 1", c.name, len(all))
			continue
		}
		got, err := all[0].Build(Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := Build(whole, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(render(t, CSV, want), render(t, CSV, got)); d != "" || got.Measured != 18 || got.Present != 18 {
			t.Errorf("%s: %d trials, %d present: %s", c.name, got.Measured, got.Present, d)
		}
		for i := range c.want {
			c.want[i] = FlagSameTrials + ": " + c.want[i]
		}
		if d := cmp.Diff(c.want, warned(got.Warnings)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestSearchesOfACopy has runs that looked for their rates: copies are one run, and others are not.
func TestSearchesOfACopy(t *testing.T) {
	whole, _, _ := split(t)
	search := whole.Trials[0]
	search.Search = &result.Search{HighestHeld: 600}
	whole.Header.Started, whole.Header.FindRate, whole.Searches = search.Started, &result.FindRate{Objective: "p99<5ms", Shares: []string{"100%"}, Rounds: 6}, []result.Trial{search}
	part := under(whole, "b.jsonl", whole.Trials[:3])
	another := later(under(whole, "c.jsonl", whole.Trials), time.Hour)
	another.Searches = later(result.File{Trials: whole.Searches}, time.Hour).Trials
	for _, c := range []struct {
		files []result.File
		runs  int
	}{{[]result.File{whole, part}, 1}, {[]result.File{part, whole}, 1}, {[]result.File{whole, another}, 2}} {
		all := merge(t, c.files...)
		if len(all) != c.runs || len(all[0].Searches) != 1 {
			t.Errorf("%v: %d runs, want %d", c.files[1].Name, len(all), c.runs)
		}
	}
}

// TestBesideSaysWhatIsTwice lays files side by side that have trials in common and are no shards.
func TestBesideSaysWhatIsTwice(t *testing.T) {
	whole, _, _ := split(t)
	a, b := under(whole, "a.jsonl", whole.Trials), under(whole, "b.jsonl", whole.Trials)
	edited := b
	edited.Trials = slices.Clone(b.Trials)
	edited.Trials[3].Window++
	moved := b
	moved.Header.Experiment = "other"
	for _, c := range []struct {
		name  string
		files []result.File
		want  []string
	}{
		{"runs of one plan", []result.File{a, later(b, time.Hour)},
			[]string{"same_plan: a.jsonl and b.jsonl are runs of one plan that have both measured 18 trials of it, such as trial 1 (a at 10, round 1), each at its own time: they are two runs and no shards, and are not put together"}},
		{"a copy that was changed", []result.File{a, edited}, []string{
			"same_trials: a.jsonl and b.jsonl have 17 trials in common, such as trial 1 (a at 10, round 1): they stand beside themselves there, and nothing new was measured",
			"changed_trials: a.jsonl and b.jsonl have 1 trial that began at the same moment and differ, such as trial 4 (a at 10, round 2): one of the files was changed"}},
		{"a header that was changed", []result.File{a, moved}, []string{"same_trials: a.jsonl and b.jsonl have the same 18 trials: they stand beside themselves there, and nothing new was measured"}},
		{"runs of two plans", []result.File{a, later(moved, time.Hour)}, nil},
	} {
		laid, err := LayBeside(merge(t, c.files...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, warned(laid.Warnings)); d != "" || len(laid.Runs) != 2 {
			t.Errorf("%s: %d runs: %s", c.name, len(laid.Runs), d)
		}
	}
}

// TestCompareOfTheSame holds a file to its copy: nothing is compared, and no limit passes.
func TestCompareOfTheSame(t *testing.T) {
	whole, _, _ := split(t)
	limit, err := ParseLimit("throughput<-5%")
	if err != nil {
		t.Fatal(err)
	}
	a, b := under(whole, "a.jsonl", whole.Trials), under(whole, "b.jsonl", whole.Trials)
	edited := under(whole, "b.jsonl", whole.Trials)
	for i := range edited.Trials {
		edited.Trials[i].Window++
	}
	for _, c := range []struct {
		name         string
		older, newer result.File
		warnings     string
		compared     int // rows
		reason       string
	}{
		{"a copy", a, b, "same_trials: a.jsonl and b.jsonl have the same 18 trials: nothing new is compared there", 0, "6 of its 6 rounds are the same trials in both files"},
		{"itself", a, a, "same_trials: a.jsonl is named twice, and has the same 18 trials each time: nothing new is compared there", 0, "6 of its 6 rounds are the same trials in both files"},
		{"a run and what it was before", under(whole, "b.jsonl", whole.Trials[:5]), a, "same_trials: all that is in b.jsonl (5 trials) is in a.jsonl, too: nothing new is compared there", 0, "2 of its 6 rounds are the same trials in both files"},
		{"a copy that was changed", a, edited, "changed_trials: a.jsonl and b.jsonl have 18 trials that began at the same moment and differ, such as trial 1 (a at 10, round 1): one of the files was changed", 3, ""},
		{"a later run", a, later(b, time.Hour), "", 3, ""},
	} {
		got := compare(t, c.older, c.newer, ChangeOptions{Metrics: []string{"throughput"}, Limits: []Limit{limit}})
		if text := strings.Join(warned(got.Warnings), "\n"); text != c.warnings || len(got.Changes) != c.compared {
			t.Errorf("%s: %d compared, %s", c.name, len(got.Changes), text)
		}
		if c.compared > 0 {
			continue
		}
		if got.Worst() != CheckUnknown || len(got.Checks) != 3 || got.Checks[0].Text != c.reason {
			t.Errorf("%s: %+v", c.name, got.Checks)
		}
		for _, f := range ChangeFormats {
			var b strings.Builder
			if err := f.Write(&b, got); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, "are the same trials in both files") {
				t.Errorf("%s as %s does not say why nothing is compared:\n%s", c.name, f.Name, fmt.Sprintf("%.2000s", text))
			}
		}
	}
}
