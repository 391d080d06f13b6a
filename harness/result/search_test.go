package result

import (
	"path/filepath"
	"testing"
)

// TestSearchLines has the trials of a search stand in the file and not among those that figures are made of.
func TestSearchLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	w, err := Create(path, Header{Planned: 1, Subjects: []Subject{{Name: "a"}}, FindRate: &FindRate{Objective: "p99<5ms", Shares: []string{"50%", "100%"}, Rounds: 2}}, false)
	if err != nil {
		t.Fatal(err)
	}
	held := false
	search := Trial{Subject: "a", Round: 1, Order: 1, Window: 1, Rate: "700", Search: &Search{Held: &held, Why: "p99 7.00 ms", HighestHeld: 600, LowestMissed: 700, End: EndFound, Rates: []uint64{300, 600}}}
	if err := w.AppendSearch(search); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(Trial{Subject: "a", Round: 1, Order: 1, Window: 1, Rate: "300"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := ReadFile(path)
	if err != nil || len(f.Warnings) > 0 || len(f.Trials) != 1 || len(f.Searches) != 1 {
		t.Fatalf("%d trials, %d of searches, %v, %v", len(f.Trials), len(f.Searches), f.Warnings, err)
	}
	if f.Header.FindRate == nil || f.Header.FindRate.Rounds != 2 || f.Trials[0].Rate != "300" || f.Trials[0].Search != nil {
		t.Errorf("%+v, %+v", f.Header.FindRate, f.Trials[0])
	}
	got := f.Searches[0]
	if s := got.Search; got.Kind != KindSearch || got.Line != 2 || s == nil || s.Held == nil || *s.Held || s.Why != "p99 7.00 ms" || s.HighestHeld != 600 || s.LowestMissed != 700 || s.End != EndFound || len(s.Rates) != 2 {
		t.Errorf("%+v, %+v", got, got.Search)
	}
}
