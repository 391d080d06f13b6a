package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// noisy is a system of which a trial holds the objective at random, the less likely the higher the rate: half of the time at the edge.
type noisy struct {
	edge   float64 // calls a second
	spread float64 // of the logarithm of the rate: over which the chance falls from 73 % to 27 %
	lapse  float64 // how often a trial misses whatever the rate: the machine hiccups
	rng    *rand.Rand
}

func (n noisy) held(rate uint64) bool {
	if n.lapse > 0 && n.rng.Float64() < n.lapse {
		return false
	}
	if n.spread == 0 {
		return float64(rate) <= n.edge
	}
	return n.rng.Float64() < 1/(1+math.Exp(math.Log(float64(rate)/n.edge)/n.spread))
}

// search is a search to its end.
func search(t testing.TB, s RateSearch, held func(uint64) bool) ([]Look, Standing) {
	t.Helper()
	var looks []Look
	for {
		st := s.After(looks)
		if st.Next == 0 {
			if st.End == "" {
				t.Fatalf("over without an end after %v", looks)
			}
			return looks, st
		}
		if floor, ceiling := s.limits(); st.End != "" || st.Next < floor || st.Next > ceiling || len(looks) >= MaxLooks {
			t.Fatalf("after %v: %+v", looks, st)
		}
		looks = append(looks, Look{st.Next, held(st.Next)})
	}
}

// TestSearchFindsAnEdge has nothing in the way: the bracket holds the edge, is as narrow as it should be, and costs few looks.
func TestSearchFindsAnEdge(t *testing.T) {
	const closed = 40_000
	for edge := 600.0; edge < 3.9*closed; edge *= 1.01 {
		looks, st := search(t, RateSearch{Closed: closed, Floor: 500, Ceiling: 1_000_000}, noisy{edge: edge}.held)
		if st.End != EndFound || float64(st.Held) > edge || float64(st.Missed) <= edge || float64(st.Missed) > (1+RateResolution)*float64(st.Held) {
			t.Errorf("edge %.0f: %+v after %v", edge, st, looks)
		}
		most := 17 // from anywhere
		if edge > 0.4*closed && edge < 1.2*closed {
			most = 11 // from where an edge is likely
		}
		if len(looks) > most {
			t.Errorf("edge %.0f: %d looks", edge, len(looks))
		}
	}
}

// TestSearchUnderNoise counts how often the edge is not where the bracket says, give or take the resolution, over many searches of systems with all
// sorts of noise; and that the looks are bounded, and few on average.
func TestSearchUnderNoise(t *testing.T) {
	const runs = 4000
	for i, c := range []struct {
		spread, lapse float64
		wrong, spent  float64 // shares, at most
		looks         float64 // on average, at most
	}{
		{0, 0, 0, 0, 9},
		{0.01, 0, 0.01, 0.01, 10},
		{0.02, 0, 0.02, 0.01, 10},
		{0.02, 0.05, 0.04, 0.02, 11},
		{0, 0.1, 0.05, 0.01, 10},
		{0.05, 0, 0.18, 0.02, 12}, // noise as wide as the resolution: see the next test
	} {
		rng := rand.New(rand.NewPCG(42, uint64(i)))
		wrong, spent, total := 0, 0, 0
		for range runs {
			edge := math.Exp(math.Log(1000) + rng.Float64()*math.Log(100)) // 1,000 to 100,000
			s := RateSearch{Closed: edge * (0.7 + rng.Float64()), Floor: 500, Ceiling: 1_000_000}
			looks, st := search(t, s, noisy{edge, c.spread, c.lapse, rng}.held)
			total += len(looks)
			switch {
			case st.End == EndSpent:
				spent++
			case st.End != EndFound || float64(st.Held) > (1+RateResolution)*edge || float64(st.Missed) < edge/(1+RateResolution):
				wrong++
			}
		}
		w, sp, l := float64(wrong)/runs, float64(spent)/runs, float64(total)/runs
		t.Logf("spread %g, lapses %g: %.2f%% wrong, %.2f%% not finished, %.1f looks", c.spread, c.lapse, 100*w, 100*sp, l)
		if w > c.wrong || sp > c.spent || l > c.looks {
			t.Errorf("spread %g, lapses %g: %.4f wrong (at most %g), %.4f not finished (%g), %.1f looks (%g)", c.spread, c.lapse, w, c.wrong, sp, c.spent, l, c.looks)
		}
	}
}

// TestSearchScattersWithTheNoise has much noise: the rate that is found is then off by about that, not by more, and not to one side.
func TestSearchScattersWithTheNoise(t *testing.T) {
	const runs, spread = 4000, 0.05
	rng := rand.New(rand.NewPCG(43, 0))
	var off []float64
	for range runs {
		_, st := search(t, RateSearch{Closed: 10_000 * (0.7 + rng.Float64()), Floor: 500, Ceiling: 1_000_000}, noisy{10_000, spread, 0, rng}.held)
		if st.Held == 0 {
			t.Fatalf("nothing found: %+v", st)
		}
		off = append(off, float64(st.Held)/10_000-1)
	}
	slices.Sort(off)
	low, middle, high := off[runs*25/1000], off[runs/2], off[runs*975/1000]
	t.Logf("95%% of the rates that are found are off by %+.1f%% to %+.1f%%, the middle one by %+.1f%%", 100*low, 100*high, 100*middle)
	if low < -0.15 || high > 0.12 || math.Abs(middle) > 0.04 {
		t.Errorf("off by %g to %g, the middle one by %g", low, high, middle)
	}
}

func TestSearchEnds(t *testing.T) {
	s := RateSearch{Closed: 10_000, Floor: 500, Ceiling: 1_000_000}
	for _, c := range []struct {
		name   string
		s      RateSearch
		held   func(uint64) bool
		end    string
		within [2]uint64 // held, missed
	}{
		{"never", s, func(uint64) bool { return false }, EndNone, [2]uint64{0, 500}},
		{"always", s, func(uint64) bool { return true }, EndAll, [2]uint64{40_000, 0}},
		{"always, up to what can be driven", RateSearch{Closed: 900_000, Floor: 500, Ceiling: 1_000_000}, func(uint64) bool { return true }, EndAll, [2]uint64{1_000_000, 0}},
		{"a closed loop below the floor", RateSearch{Closed: 100, Floor: 500, Ceiling: 1_000_000}, func(uint64) bool { return false }, EndNone, [2]uint64{0, 500}},
		{"no floor", RateSearch{Closed: 30}, func(uint64) bool { return false }, EndNone, [2]uint64{0, MinFoundRate}},
		{"low rates", RateSearch{Closed: 40, Ceiling: 1000}, func(r uint64) bool { return r <= 27 }, EndFound, [2]uint64{27, 28}},
	} {
		looks, st := search(t, c.s, c.held)
		if st.End != c.end || st.Held != c.within[0] || st.Missed != c.within[1] {
			t.Errorf("%s: %+v after %v", c.name, st, looks)
		}
	}
	rng := rand.New(rand.NewPCG(44, 0))
	for range 2000 { // what holds at random has no edge: the search ends all the same
		looks, st := search(t, s, func(uint64) bool { return rng.Float64() < 0.5 })
		if len(looks) > MaxLooks {
			t.Errorf("%d looks: %+v", len(looks), st)
		}
	}
}

// TestSearchIsAFunction has the order of the looks, and the order in which a map is walked, change nothing.
func TestSearchIsAFunction(t *testing.T) {
	rng := rand.New(rand.NewPCG(45, 0))
	s := RateSearch{Closed: 20_000, Floor: 500, Ceiling: 1_000_000}
	for range 200 {
		looks, want := search(t, s, noisy{11_000, 0.1, 0.1, rng}.held)
		rng.Shuffle(len(looks), func(i, j int) { looks[i], looks[j] = looks[j], looks[i] })
		if got := s.After(looks); got != want {
			t.Fatalf("%+v, in another order %+v: %v", want, got, looks)
		}
	}
	two := []Look{{900, true}, {900, false}, {800, true}, {800, false}, {500, true}}
	for range 20 {
		if st := s.After(two); st.Next != 800 {
			t.Fatalf("of two rates that are not decided: %+v", st)
		}
	}
}

// TestRepeatedLook has an end of the bracket go over to the other side when further looks say so.
func TestRepeatedLook(t *testing.T) {
	s := RateSearch{Closed: 1000, Floor: 20, Ceiling: 1_000_000}
	looks := []Look{{750, true}, {862, true}, {1000, false}, {928, true}, {963, false}}
	for _, c := range []struct {
		more []Look
		want Standing
	}{
		{nil, Standing{Held: 928, Missed: 963, Next: 928}},
		{[]Look{{928, true}}, Standing{Held: 928, Missed: 963, Next: 963}},
		{[]Look{{928, true}, {963, false}}, Standing{Held: 928, Missed: 963, End: EndFound}},
		{[]Look{{928, true}, {963, true}}, Standing{Held: 928, Missed: 1000, Next: 963}},                  // one each way
		{[]Look{{928, true}, {963, true}, {963, false}}, Standing{Held: 928, Missed: 963, End: EndFound}}, // two of three
		{[]Look{{928, true}, {963, true}, {963, true}}, Standing{Held: 963, Missed: 1000, Next: 1000}},    // it has held: the next end
		{[]Look{{928, false}, {928, false}}, Standing{Held: 862, Missed: 928, Next: 894}},
	} {
		if got := s.After(slices.Concat(looks, c.more)); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.more, got, c.want)
		}
	}
}

func TestAtFound(t *testing.T) {
	s := settings()
	s.Rates, s.Rounds, s.Workloads = FoundShares, 2, []string{"w"}
	if err := s.Valid(); err != nil {
		t.Fatal(err)
	}
	before := Blocks(s)
	found := map[Cell]uint64{{"a", "w", 5, 0}: 1000, {"b", "w", 5, 0}: 21, {"b", "w", 80, 0}: 33_333} // none for a @ 80 and c
	at := AtFound(before, found)
	var rates []string
	seeds := map[string]uint64{}
	for i, tr := range at {
		if tr.Order != i+1 {
			t.Errorf("trial %d has order %d", i+1, tr.Order)
		}
		if tr.Round == 1 {
			rates = append(rates, fmt.Sprintf("%s@%d %s", tr.Subject, tr.Concurrency, tr.Rate))
		}
		seeds[fmt.Sprintf("%d@%d", tr.Round, tr.Concurrency)] = tr.Seed
	}
	slices.Sort(rates)
	want := []string{"a@5 1000", "a@5 500", "a@5 800", "a@5 950", "b@5 10", "b@5 16", "b@5 19", "b@5 21", "b@80 16666", "b@80 26666", "b@80 31666", "b@80 33333"}
	if !slices.Equal(rates, want) || len(at) != 2*len(want) {
		t.Errorf("%d trials; in round 1 %q, want %q", len(at), rates, want)
	}
	if len(seeds) != 4 {
		t.Errorf("the requests depend on more than round and level: %v", seeds)
	}
	if rate := RateOf("70%", 1000); rate != 0 {
		t.Errorf("a share that is none: %d", rate)
	}
}

// FuzzSearch holds the bracket to what it promises, whatever was seen.
func FuzzSearch(f *testing.F) {
	f.Add(1000.0, uint64(20), []byte{1, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, closed float64, floor uint64, answers []byte) {
		if !(closed >= 0) {
			t.Skip("no throughput")
		}
		s := RateSearch{Closed: closed, Floor: floor % 1_000_000, Ceiling: 1_000_000}
		i := 0
		_, st := search(t, s, func(uint64) bool {
			i++
			return i <= len(answers) && answers[i-1]&1 == 1
		})
		if st.Held != 0 && st.Missed != 0 && st.Held >= st.Missed {
			t.Errorf("%+v", st)
		}
	})
}
