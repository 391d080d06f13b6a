package plan

import (
	"fmt"
	"strings"
	"testing"
)

// TestRatesAreLevels has every subject at every level and rate once in each round, with requests that depend on neither
// the subject nor the rate.
func TestRatesAreLevels(t *testing.T) {
	s := settings()
	s.Rates = []string{"500", "500..2000"}
	if err := s.Valid(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	seeds := map[string]uint64{}
	for _, tr := range Blocks(s) {
		seen[fmt.Sprintf("round %d %s@%d %s/s", tr.Round, tr.Subject, tr.Concurrency, tr.Rate)]++
		requests := fmt.Sprintf("round %d @%d", tr.Round, tr.Concurrency)
		if first, ok := seeds[requests]; ok && first != tr.Seed {
			t.Errorf("%s has the seeds %d and %d", requests, first, tr.Seed)
		}
		seeds[requests] = tr.Seed
	}
	if want := 3 * 3 * 2 * 2; len(seen) != want {
		t.Errorf("%d different trials, want %d", len(seen), want)
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s stands there %d times", name, n)
		}
	}
}

func TestRatesAreChecked(t *testing.T) {
	s := settings()
	s.Rates = []string{"500", "", "500"}
	s.Rounds = MaxTrials/18 + 1 // 3 subjects at 2 levels and 3 rates
	err := s.Valid()
	for _, want := range []string{"rates: number 2 is empty", "rate 500: it stands there twice", "with 3 subjects at 6 levels that is over 10000 trials"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
