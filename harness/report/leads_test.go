package report

import (
	"math"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"bakeoff/harness/result"
)

// contest is ten rounds of subjects whose throughput is in proportion to shares, on a machine with noise that the rounds have in common and noise of each its own.
func contest(subjects []string, shares []float64) []result.Trial {
	var trials []result.Trial
	own := []float64{1, 1.01, 0.99, 1.005, 0.995, 1.008, 0.992, 1.003, 0.997, 1}
	for round := 1; round <= 10; round++ {
		for i, s := range subjects {
			slow := 1 + 0.1*float64(round)
			tr := small(s, round, 1000*shares[i]/slow*own[(round*(3*i+1)+i)%10], 1e-5/shares[i]*slow, 1e-5)
			tr.Outcomes = result.Outcomes{Started: 10, OK: 10}
			trials = append(trials, tr)
		}
	}
	return trials
}

func TestLeads(t *testing.T) {
	for _, c := range []struct {
		name     string
		subjects []string
		shares   []float64
		want     []string // of throughput
		limited  bool
	}{
		{"one is ahead of all", []string{"a", "b", "c"}, []float64{1, 1.5, 1.2}, []string{"", LeadBest, ""}, false},
		{"two are not told apart", []string{"a", "b", "c"}, []float64{1, 1.5, 1.5}, []string{"", LeadTied, LeadTied}, false},
		{"none are told apart", []string{"a", "b"}, []float64{1, 1}, []string{LeadTied, LeadTied}, false},
		{"nobody to be ahead of", []string{"a"}, []float64{1}, []string{""}, false},
		{"the driver set one", []string{"a", "b"}, []float64{1, 1.5}, []string{"", ""}, true},
	} {
		trials := contest(c.subjects, c.shares)
		if c.limited {
			for i := range trials {
				trials[i].Warnings = []result.Warning{{Kind: FlagDriverLimited, Text: "t"}}
			}
		}
		tables, err := Build(fileOf(c.subjects, trials...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if got := tables.Rows[i].Leads["throughput"]; got != want {
				t.Errorf("%s: %s leads %q, want %q", c.name, c.subjects[i], got, want)
			}
		}
		if c.limited {
			asked, err := Build(fileOf(c.subjects, trials...), Options{RankFlagged: true})
			if err != nil || asked.Rows[1].Leads["throughput"] != LeadBest {
				t.Errorf("%s: asked for, b leads %q, %v", c.name, asked.Rows[1].Leads["throughput"], err)
			}
		}
		// Less CPU is better, whoever set the throughput.
		if got := tables.Rows[len(c.subjects)-1].Leads["server_cpu_per_req"]; c.limited && got != LeadBest {
			t.Errorf("%s: CPU of b leads %q", c.name, got)
		}
	}
}

// TestLeadsAreFewByChance has six subjects that do not differ: the first of them by chance must not be called the best.
func TestLeadsAreFewByChance(t *testing.T) {
	subjects := []string{"a", "b", "c", "d", "e", "f"}
	tables := build(t, fileOf(subjects, contest(subjects, []float64{1, 1, 1, 1, 1, 1})...), "")
	for _, r := range tables.Rows {
		if r.Leads["throughput"] == LeadBest {
			t.Errorf("%s is called the best", r.Subject)
		}
	}
}

func TestCapacity(t *testing.T) {
	f := fileOf([]string{"a", "b"}, small("a", 1, 100, 20e-6, 10e-6), small("b", 1, 100, 10e-6, 10e-6))
	f.Trials[1].Outcomes.Dropped = 8 // it has no place
	delete(f.Trials[0].Values, result.ClientCPUPerReq)
	tables, err := Build(f, Options{Load: 50_000, CorePrice: 0.04})
	if err != nil {
		t.Fatal(err)
	}
	c := tables.Capacity
	if c == nil || len(c.Rows) != 1 || c.Rows[0].Client != nil {
		t.Fatalf("capacity %+v, want that of a alone, without the client's", c)
	}
	// 20 us x 50,000/s = 1 core; 1 core x 0.04 an hour x 730 hours = 29.2.
	if r := c.Rows[0]; math.Abs(r.Server.Median-1) > 1e-9 || math.Abs(r.Month.Median-29.2) > 1e-9 || !r.Server.TooFew {
		t.Errorf("%+v, %+v", *r.Server, *r.Month)
	}
	for _, row := range []struct {
		format Format
		want   string
	}{
		{Text, "Cores for 50000 calls/s"}, {Markdown, "Cores for 50000 calls/s"}, {JSON, `"server_month": {`},
		{ADR, "a @ 10: 1.00 cores [1.00 to 1.00] (too few rounds for an interval: the whole range) of the server for 50000 calls/s, 29.2 a month"},
	} {
		if s := render(t, row.format, tables); !strings.Contains(s, row.want) {
			t.Errorf("%s: no %q in:\n%s", row.format.Name, row.want, s)
		}
	}
	if tables, err = Build(f, Options{}); err != nil || tables.Capacity != nil {
		t.Errorf("without a load: %+v, %v", tables.Capacity, err)
	}
}

// TestFit parts a grid that is too wide and shortens names, whatever their letters.
func TestFit(t *testing.T) {
	g := grid{title: "t", head: []string{"subject @ conc.", strings.Repeat("h", 30), "i", strings.Repeat("j", 30)}}
	g.rows = [][]string{{strings.Repeat("語", 60) + " [1,2]", "1", "2", "3"}, {"b", "4", "5", "6"}}
	g.levels = []string{"", ""}
	parts := g.fit(78)
	if len(parts) != 3 || parts[1].rows[1][1] != "5" || parts[2].rows[1][1] != "6" || !strings.HasSuffix(parts[0].rows[0][0], "語~ [1,2]") {
		t.Errorf("parts %+v", parts)
	}
	for _, p := range parts {
		for _, line := range strings.Split(p.writer(true, bare).Render(), "\n") {
			if w := text.StringWidthWithoutEscSequences(line); w > 80 {
				t.Errorf("%d columns: %q", w, line)
			}
		}
	}
	if whole := g.fit(0); len(whole) != 1 || len(whole[0].head) != 4 || len(g.rows[0][0]) != 186 {
		t.Errorf("without a width: %+v; the names are as they were: %q", whole, g.rows[0][0])
	}
}

// TestColourSaysNothingNew takes the colour away and has the plain table.
func TestColourSaysNothingNew(t *testing.T) {
	for _, f := range All {
		if f.Colour == nil {
			continue
		}
		var b strings.Builder
		if err := f.Colour(&b, load(t, "complete")); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"\x1b[1m*", "\x1b[2mno diff."} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s has no %q", f.Name, want)
			}
		}
		if got := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "").Replace(b.String()); got != render(t, f, load(t, "complete")) {
			t.Errorf("%s without its colours is another:\n%s", f.Name, got)
		}
	}
}
