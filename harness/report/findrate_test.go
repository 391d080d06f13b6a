package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

// searchOf is a search of a subject in a file: the closed loop, then looks.
type searchOf struct {
	subject     string
	concurrency int
	closed      float64
	looks       []lookOf
}

// lookOf is one trial of a search, as the file has it.
type lookOf struct {
	rate        int
	held        bool
	low, high   uint64
	end         string
	driver      bool   // it was the limiter
	error, text string // of a trial that failed; why
}

func (l searchOf) trials(t *testing.T) []result.Trial {
	t.Helper()
	base := result.Trial{Kind: result.KindSearch, Subject: l.subject, Workload: "datatype", Concurrency: l.concurrency, Conns: 1, Store: "miniaero at 127.0.0.1:4711"}
	first := base
	first.Mode, first.Round, first.Search = result.ModeClosed, 1, &result.Search{}
	if first.Values = map[string]float64{result.Throughput: l.closed}; l.closed == 0 {
		first.Error = "the server died: exit status 2\nstack"
	}
	all := []result.Trial{first}
	for i, look := range l.looks {
		tr := base
		tr.Mode, tr.Round, tr.Rate, tr.Arrivals, tr.Error = result.ModeOpen, i+2, strconv.Itoa(look.rate), "constant", look.error
		tr.Search = &result.Search{HighestHeld: look.low, LowestMissed: look.high, End: look.end, Why: look.text}
		if look.error == "" {
			tr.Search.Held = &look.held
		}
		if look.driver {
			tr.Warnings = []result.Warning{{Kind: FlagDriverLimited, Text: "busy"}}
		}
		if look.end != "" && look.low > 0 && look.end != result.EndFailed {
			tr.Search.Rates = []uint64{look.low / 2, look.low}
		}
		all = append(all, tr)
	}
	return all
}

// measuredAt is a round of a subject at a rate of which 10,000 calls took 1 ms in the middle and 12 ms at most, or as many times more.
func measuredAt(t *testing.T, subject string, round, rate int, slower float64) result.Trial {
	t.Helper()
	tr := answered(t, 10_000, 0, 0)
	tr.Histograms = []result.Histogram{times(t, "s", result.OutcomeOK, result.TimeResponse, 10_000, 1e-3*slower)}
	tr.Subject, tr.Workload, tr.Concurrency, tr.Conns, tr.Round, tr.Rate, tr.Arrivals, tr.Store = subject, "datatype", 50, 1, round, strconv.Itoa(rate), "constant", "miniaero at 127.0.0.1:99"
	tr.Values = map[string]float64{result.Throughput: float64(rate)}
	return tr
}

// searched is a file with all that may come of a search.
func searched(t *testing.T) result.File {
	t.Helper()
	f := fileOf([]string{"grpc", "thrift", "http", "dead", "slow", "quick", "split", "late"})
	f.Header.Experiment, f.Header.Baseline, f.Header.Planned = "datatype", "grpc", 8*2*2
	f.Header.FindRate = &result.FindRate{Objective: "p99<5ms", Shares: []string{"50%", "100%"}, Rounds: 2}
	for _, l := range []searchOf{
		{"http", 50, 20_000, []lookOf{ // its trials come first, and stand behind grpc's
			{15_000, true, 15_000, 0, "", false, "", "p99 2.10 ms"}, {17_300, false, 15_000, 17_300, "", true, "", "p99 7.00 ms"},
			{15_000, true, 15_000, 17_300, "", false, "", ""}, {17_300, false, 15_000, 17_300, result.EndFound, true, "", ""}}},
		{"grpc", 50, 12_000, []lookOf{
			{9000, true, 9000, 0, "", false, "", ""}, {9450, false, 9000, 9450, "", false, "", ""}, {9000, true, 9000, 9450, "", false, "", ""},
			{9450, false, 9000, 9450, result.EndFound, false, "", ""}}},
		{"thrift", 50, 12_000, []lookOf{{9200, true, 9200, 0, "", false, "", ""}, {9600, false, 9200, 9600, result.EndFound, false, "", ""}}},
		{"dead", 50, 0, []lookOf{{0, false, 0, 0, result.EndFailed, false, "the server died: exit status 2\nstack", ""}}},
		{"slow", 50, 9000, []lookOf{{500, false, 0, 500, "", false, "", ""}, {500, false, 0, 500, result.EndNone, false, "", "p99 31.0 ms"}}},
		{"quick", 50, 9000, []lookOf{{36_000, true, 36_000, 0, "", false, "", ""}, {36_000, true, 36_000, 0, result.EndAll, false, "", ""}}},
		{"split", 50, 9000, []lookOf{{8000, true, 8000, 0, "", false, "", ""}, {8900, false, 8000, 8900, result.EndSpent, false, "", ""}}},
		{"late", 50, 9000, []lookOf{{8000, true, 8000, 0, "", false, "", ""}}},
	} {
		f.Searches = append(f.Searches, l.trials(t)...)
	}
	for round := 1; round <= 2; round++ {
		f.Trials = append(f.Trials, measuredAt(t, "http", round, 15_000, float64(round)), measuredAt(t, "http", round, 7500, 1),
			measuredAt(t, "grpc", round, 9000, 2), measuredAt(t, "grpc", round, 4500, 1), measuredAt(t, "thrift", round, 9200, 1))
	}
	return f
}

func TestFindRate(t *testing.T) {
	tables, err := Build(searched(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	// dead and slow have no rate: 2 rounds x 2 shares of each are not planned any more.
	if tables.Planned != 32-8 || !tables.Interrupted || tables.Present != 10 {
		t.Errorf("%d of %d trials, interrupted %v", tables.Present, tables.Planned, tables.Interrupted)
	}
	for _, r := range tables.Rows {
		if r.Rounds != 2 || r.Mode != result.ModeOpen {
			t.Errorf("a trial of a search is in a row: %+v", r)
		}
	}
	if len(tables.Rows) != 5 || len(tables.Comparisons) != 0 {
		t.Errorf("%d rows, %d comparisons", len(tables.Rows), len(tables.Comparisons))
	}
	want := []string{"dead @ 50: the search was given up after 2 trials: the server died: exit status 2",
		"slow @ 50: the objective was missed at 500/s already, the lowest rate at which a window has calls enough to judge it (p99 31.0 ms)"}
	if d := cmp.Diff(want, tables.NoRate()); d != "" {
		t.Error(d)
	}

	d := document{title: "the section alone"}
	d.sections = d.findRateSection(tables)
	d.words = tables.findRateWords()
	var got bytes.Buffer
	if err := textOf(&got, d, narrowForm, bare); err != nil {
		t.Fatal(err)
	}
	golden(t, "findrate.section", got.Bytes())
	got.Reset()
	if err := jsonOf(&got, tables.FindRate); err != nil {
		t.Fatal(err)
	}
	golden(t, "findrate.section.json", got.Bytes())
	got.Reset()
	if err := CSV.Write(&got, tables); err != nil {
		t.Fatal(err)
	}
	wantLine := "http,datatype,,open,miniaero at 127.0.0.1,50,1,,,,,,,,,found_rate,req/s,15000,15000,17300,,,,,,,,,,driver_limited,,constant\n"
	if !strings.Contains(got.String(), wantLine) {
		t.Errorf("%s is missing in:\n%s", wantLine, got.String())
	}
	for _, f := range All {
		if err := f.Write(&got, tables); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// TestFindRateInText has the section stand before the others, with its notes and findings.
func TestFindRateInText(t *testing.T) {
	tables, err := Build(searched(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Text.Write(&b, tables); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	at := -1
	for _, want := range []string{"highest rate that holds p99<5ms", "datatype, open loop, constant arrivals", "the search was interrupted after 1 look",
		"Held is the highest rate that held the objective", "The highest rate that holds p99<5ms: grpc @ 50: 9000/s (not 9450)"} {
		i := strings.Index(text, want)
		if i <= at {
			t.Errorf("%q is missing, or in another place, in:\n%s", want, b.String())
		}
		at = i
	}
	if strings.Contains(text, "nothing to compare") {
		t.Error(b.String())
	}
}

// TestFoundRateWithoutAnEnd has no rate called the highest where none above it was seen to miss.
func TestFoundRateWithoutAnEnd(t *testing.T) {
	for _, c := range []struct {
		rate FoundRate
		want string
	}{
		{FoundRate{Rate: 18_700}, "at least 18700/s (the search was interrupted)"},
		{FoundRate{Rate: 18_700, Missed: 20_000}, "18700/s (not 20000; the search was interrupted)"},
		{FoundRate{Rate: 18_700, Missed: 19_000, End: result.EndFound}, "18700/s (not 19000)"},
		{FoundRate{Rate: 18_700, End: result.EndAll}, "at least 18700/s"},
	} {
		if got := c.rate.bracketWords(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.rate, got, c.want)
		}
	}
}

// TestFindRateStrange has files that this version does not write.
func TestFindRateStrange(t *testing.T) {
	f := searched(t)
	f.Header.FindRate.Objective = "p99<soon"
	if _, err := Build(f, Options{}); err == nil || !strings.Contains(err.Error(), "f.jsonl: the header's objective") {
		t.Errorf("an unknown objective: %v", err)
	}
	f = searched(t)
	for i := range f.Searches {
		f.Searches[i].Search = nil
	}
	if tables, err := Build(f, Options{}); err != nil || len(tables.FindRate.Found) != 8 {
		t.Errorf("searches without a word of theirs: %v", err)
	}
	f = searched(t)
	f.Header.FindRate = nil
	if tables, err := Build(f, Options{}); err != nil || tables.FindRate != nil {
		t.Errorf("searches that no header speaks of: %v", err)
	}
	f = searched(t)
	f.Searches = nil
	tables, err := Build(f, Options{})
	if err != nil || len(tables.FindRate.Found) != 0 {
		t.Errorf("no search: %v", err)
	}
	if b, err := json.Marshal(tables.FindRate); err != nil || !strings.Contains(string(b), `"found":[]`) {
		t.Errorf("no search: %s, %v", b, err)
	}
}

// TestFindRateNotRepeated has rounds far below the rate that was found miss the objective: they, and not those at the rate, are told of.
func TestFindRateNotRepeated(t *testing.T) {
	f := searched(t)
	f.Trials = nil
	for round := 1; round <= 3; round++ {
		f.Trials = append(f.Trials, measuredAt(t, "http", round, 7500, float64(min(round, 2))), measuredAt(t, "http", round, 15_000, 2))
	}
	tables, err := Build(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range tables.FindRate.Found {
		var text string
		for _, flag := range found.Flags {
			if flag.Kind == FlagNotRepeated {
				text += flag.Text
			}
		}
		want := ""
		if found.Subject == "http" {
			want = "of the rounds at 50% of the rate that was found 1 of 3 held the objective: the machine was faster while the search went on, or is not quiet enough for this objective"
		}
		if text != want {
			t.Errorf("%s: %q, want %q", found.Subject, text, want)
		}
	}
}
