package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func settings() Settings {
	return Settings{Subjects: []string{"a", "b", "c"}, Workloads: []string{"w"}, Concurrency: []int{5, 80}, Rounds: 3, Seed: 42,
		Duration: 2 * time.Second, Warmup: time.Second}
}

// The order that a seed gives is part of what a published result file claims: "seed 42" must mean the same next year.
// If this fails after an update of Go, say so in the schema's notes; do not just paste the new order.
func TestGoldenOrder(t *testing.T) {
	want := []string{
		"1: round 1 c@5 seed 078289deb31d81b0",
		"2: round 1 b@5 seed 078289deb31d81b0",
		"3: round 1 a@5 seed 078289deb31d81b0",
		"4: round 1 a@80 seed 2d5e705b48935245",
		"5: round 1 b@80 seed 2d5e705b48935245",
		"6: round 1 c@80 seed 2d5e705b48935245",
		"7: round 2 a@5 seed 1f11d05347d622e9",
		"8: round 2 a@80 seed 8fb70ec13cefc795",
		"9: round 2 b@5 seed 1f11d05347d622e9",
		"10: round 2 c@5 seed 1f11d05347d622e9",
		"11: round 2 b@80 seed 8fb70ec13cefc795",
		"12: round 2 c@80 seed 8fb70ec13cefc795",
		"13: round 3 c@5 seed dfcc8f5a51bbfae4",
		"14: round 3 b@5 seed dfcc8f5a51bbfae4",
		"15: round 3 b@80 seed c9648e9e0314ad4c",
		"16: round 3 a@5 seed dfcc8f5a51bbfae4",
		"17: round 3 c@80 seed c9648e9e0314ad4c",
		"18: round 3 a@80 seed c9648e9e0314ad4c",
	}
	var got []string
	s := settings()
	s.Turns = 1
	for _, tr := range Blocks(s) {
		got = append(got, fmt.Sprintf("%d: round %d %s@%d seed %016x", tr.Order, tr.Round, tr.Subject, tr.Concurrency, tr.Seed))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestBlocks(t *testing.T) {
	s := settings()
	s.Rounds = 40
	trials := Blocks(s)
	if want := 40 * 3 * 2; len(trials) != want {
		t.Fatalf("%d trials, want %d", len(trials), want)
	}
	type pair struct {
		subject string
		level   int
	}
	type at struct{ round, level int }
	seeds, seedOf := map[uint64]at{}, map[at]uint64{}
	firsts := map[string]int{}
	for i := 0; i < len(trials); i += 6 {
		once := map[pair]int{}
		for j, tr := range trials[i : i+6] {
			once[pair{tr.Subject, tr.Concurrency}]++
			if tr.Order != i+j+1 || tr.Round != i/6+1 {
				t.Errorf("trial %d has order %d and round %d, want %d and %d", i+j, tr.Order, tr.Round, i+j+1, i/6+1)
			}
			if tr.Workload != s.Workloads[0] || tr.Duration != s.Duration || tr.Warmup != s.Warmup {
				t.Errorf("trial %d is not of the settings: %+v", i+j, tr)
			}
			where := at{tr.Round, tr.Concurrency}
			if old, ok := seeds[tr.Seed]; ok && old != where {
				t.Errorf("one seed at %+v and %+v", old, where)
			}
			if old, ok := seedOf[where]; ok && old != tr.Seed {
				t.Errorf("subjects meet different requests at %+v", where)
			}
			seeds[tr.Seed], seedOf[where] = where, tr.Seed
		}
		firsts[trials[i].Subject]++
		for _, subject := range s.Subjects {
			for _, level := range s.Concurrency {
				if once[pair{subject, level}] != 1 {
					t.Errorf("block %d has %s@%d %d times", i/6+1, subject, level, once[pair{subject, level}])
				}
			}
		}
	}
	// 40 blocks, three subjects: 13.3 each; under 5 would be 1 in 2,000 and the seed is fixed.
	for _, subject := range s.Subjects {
		if firsts[subject] < 5 {
			t.Errorf("%s comes first in %d of 40 blocks: %v", subject, firsts[subject], firsts)
		}
	}
}

func TestSeedAndRounds(t *testing.T) {
	s := settings()
	first := Blocks(s)
	if d := cmp.Diff(first, Blocks(s)); d != "" {
		t.Errorf("the same seed gives another plan: %s", d)
	}
	s.Rounds++
	if d := cmp.Diff(first, Blocks(s)[:len(first)]); d != "" {
		t.Errorf("another round changes those before it: %s", d)
	}
	s.Rounds--
	s.Seed++
	if cmp.Equal(first, Blocks(s)) {
		t.Error("another seed gives the same plan")
	}
}

func TestEstimate(t *testing.T) {
	// 3 subjects x 2 levels x 3 rounds, each 1 s warm-up + 2 s window + 0.5 s
	if got, want := Estimate(Blocks(settings()), Overhead), 18*3500*time.Millisecond; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Each level has its own number of iterations, in every round.
func TestIterationsGoWithTheirLevel(t *testing.T) {
	s := settings()
	s.Iterations = []int{100, 1000}
	for _, tr := range Blocks(s) {
		if want := map[int]int{5: 100, 80: 1000}[tr.Concurrency]; tr.Iterations != want {
			t.Errorf("%d iterations at %d, want %d", tr.Iterations, tr.Concurrency, want)
		}
	}
	// How long they take is not known: 18 trials with 1 s of warm-up and 0.5 s of overhead.
	if got, want := Estimate(Blocks(s), Overhead), 18*1500*time.Millisecond; got != want {
		t.Errorf("the estimate is %v, want %v", got, want)
	}
}

func TestValid(t *testing.T) {
	change := func(f func(*Settings)) Settings { s := settings(); f(&s); return s }
	for _, row := range []struct {
		s    Settings
		want []string // in the error, in this order; none: valid
	}{
		{settings(), nil},
		{change(func(s *Settings) { s.Warmup = 0 }), nil},
		{change(func(s *Settings) { s.Concurrency = []int{1, 10000} }), nil},
		{change(func(s *Settings) { s.Subjects = nil }), []string{"subjects: there are none"}},
		{change(func(s *Settings) { s.Subjects = []string{"grpc", ""} }), []string{"subjects: number 2 has no name"}},
		{change(func(s *Settings) { s.Subjects = []string{"grpc", "http", "grpc"} }), []string{`"grpc" stands there twice`}},
		{change(func(s *Settings) { s.Workloads = nil }), []string{"workload: there is none"}},
		{change(func(s *Settings) { s.Concurrency = nil }), []string{"concurrency: there is none"}},
		{change(func(s *Settings) { s.Concurrency = []int{0} }), []string{"concurrency 0: it must be from 1 to 10000"}},
		{change(func(s *Settings) { s.Concurrency = []int{10001, -1} }), []string{"concurrency 10001: ", "concurrency -1: "}},
		{change(func(s *Settings) { s.Iterations = []int{100, 1000} }), nil},
		{change(func(s *Settings) { s.Iterations = []int{100} }), []string{"iterations: 1 number for 2 levels of concurrency: give one for each"}},
		{change(func(s *Settings) { s.Iterations = []int{100, 0} }), []string{"iterations 0: it must be from 1 to 1000000000, or 0 alone for none"}},
		{change(func(s *Settings) { s.Iterations, s.Rates = []int{100, 1000}, []string{"500"} }), []string{"iterations: they end a closed loop, and there are rates"}},
		{change(func(s *Settings) { s.Concurrency = []int{50, 50} }), []string{"concurrency 50: it stands there twice"}},
		{change(func(s *Settings) { s.Rounds = 0 }), []string{"rounds 0: at least 1"}},
		{change(func(s *Settings) { s.Rounds = 1667 }), []string{"rounds 1667: with 3 subjects at 2 levels that is over 10000 trials; at most 1666"}}, // 1667*6 = 10002
		{change(func(s *Settings) { s.Subjects, s.Concurrency, s.Rounds = s.Subjects[:1], []int{5}, MaxTrials+1 }), []string{"with 1 subject at 1 level that is over"}},
		{change(func(s *Settings) { s.Rounds = 1666 }), nil}, // 1666*6 = 9996
		{change(func(s *Settings) { s.Duration = 0 }), []string{"duration 0s: it must be above 0"}},
		{change(func(s *Settings) { s.Duration = 25 * time.Hour }), []string{"duration 25h0m0s: "}},
		{change(func(s *Settings) { s.Warmup = -1 }), []string{"warmup -1ns: it must be from 0"}},
		{change(func(s *Settings) { s.Turns = 3 }), []string{"turns 3: it must be 1 (one trial after another), 2, 5 or 10"}},
		{Settings{}, []string{"subjects: ", "workload: ", "concurrency: ", "rounds 0", "duration 0s"}}, // all of it at once
	} {
		err := row.s.Valid()
		if len(row.want) == 0 {
			if err != nil {
				t.Errorf("%+v: %v", row.s, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%+v: no error, want %q", row.s, row.want)
			continue
		}
		rest := err.Error()
		for _, want := range row.want {
			i := strings.Index(rest, want)
			if i < 0 {
				t.Errorf("%q is not in (the rest of) %q", want, err)
				break
			}
			rest = rest[i+len(want):]
		}
		if n := strings.Count(err.Error(), "\n") + 1; n != len(row.want) {
			t.Errorf("%d complaints, want %d: %v", n, len(row.want), err)
		}
	}
}

func TestExperiments(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if e.Name == "" || e.Doc == "" || seen[e.Name] {
			t.Errorf("%q: name and doc must be there, the name once", e.Name)
		}
		seen[e.Name] = true
		trials, err := e.Plan(e.Defaults)
		if err != nil {
			t.Errorf("%s: the defaults are not valid: %v", e.Name, err)
		}
		if len(trials) == 0 {
			t.Errorf("%s: no trials", e.Name)
		}
		if len(e.Quick.Subjects) > 0 {
			quick, err := e.Plan(e.Quick)
			if err != nil || Estimate(quick, Overhead) <= 0 {
				t.Errorf("%s: the short form: %d trials, %v", e.Name, len(quick), err)
			}
			if e.Quick.Rounds < 6 {
				t.Errorf("%s: the short form has %d rounds: six are needed for an interval", e.Name, e.Quick.Rounds)
			}
		}
		for _, v := range e.Variants {
			if v.Name == "" || v.Of == "" || len(v.Options) == 0 {
				t.Errorf("%s: variant %+v", e.Name, v)
			}
		}
		if _, err := e.Plan(Settings{}); err == nil {
			t.Errorf("%s: empty settings give a plan", e.Name)
		}
		got, err := Find(e.Name)
		if err != nil || got.Name != e.Name {
			t.Errorf("Find(%q): %q, %v", e.Name, got.Name, err)
		}
	}
	if first := All()[0].Name; first != "datatype" {
		t.Errorf("the experiment without a name is %q, want datatype", first)
	}
	if _, err := Find("datatpye"); err == nil || !strings.Contains(err.Error(), `did you mean "datatype"?`) {
		t.Errorf("Find of a slip of the pen: %v", err)
	}
}

// The published levels, and what help and readme promise of the first of them alone: 30 trials of 2 s, together about 90 seconds.
func TestDataTypeDefaults(t *testing.T) {
	if got := dataType.Defaults.Concurrency; !slices.Equal(got, []int{50, 100, 200, 400, 800}) {
		t.Errorf("levels %v", got)
	}
	first := dataType.Defaults
	first.Concurrency = first.Concurrency[:1]
	trials, err := dataType.Plan(first)
	if err != nil {
		t.Fatal(err)
	}
	if got := Estimate(trials, Overhead); len(trials) != 3*1*10 || got != 90*time.Second {
		t.Errorf("%d trials in %v, want 30 in 90s", len(trials), got)
	}
	subjects := map[string]bool{}
	for _, tr := range trials {
		subjects[tr.Subject] = true
		if tr.Concurrency != 50 || tr.Workload != "datatype" {
			t.Errorf("trial %+v", tr)
		}
	}
	for _, s := range []string{"grpc", "thrift", "http"} {
		if !subjects[s] || !slices.Contains(dataType.Defaults.Subjects, s) {
			t.Errorf("%s is not among the subjects", s)
		}
	}
}
