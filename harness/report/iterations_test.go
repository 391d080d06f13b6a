package report

import (
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// withFirsts is a trial of a scenario at a level, with n first iterations, of which the later ones take longer.
func withFirsts(t testing.TB, f figures, concurrency, round, n int, ms int64) result.Trial {
	tr := f.trial(t, concurrency, round, "memory")
	tr.Workload, tr.Histograms = "scenario", nil
	for _, step := range []string{"login", "verification", "execution"} {
		tr.Histograms = append(tr.Histograms, times(t, step, result.OutcomeOK, result.TimeResponse, int64(tr.Outcomes.OK)/3, float64(ms)/1e3))
	}
	for i := range n {
		took := ms * 1e6 * int64(20+i) / 20
		tr.Firsts = append(tr.Firsts, result.Iteration{N: i + 1, Steps: []int64{took / 2, took, 3 * took}, Outcome: result.OutcomeOK})
	}
	return tr
}

// levelsOf builds a file with two rounds at two levels. At the higher one an iteration fails in its last step, one in its first, one
// was not finished, and one was cut off before any step had ended.
func levelsOf(t testing.TB) Tables {
	var trials []result.Trial
	for round := 1; round <= 2; round++ {
		for _, f := range []figures{grpc, http} {
			low, high := withFirsts(t, f, 20, round, 12, 2), withFirsts(t, f, 100, round, 12, 7)
			high.Firsts[2].Outcome = "unavailable"
			high.Firsts[3] = result.Iteration{N: 4, Steps: []int64{9e6}, Outcome: "timeout"}
			high.Firsts[10].Steps = high.Firsts[10].Steps[:2]
			high.Firsts = append(high.Firsts[:5], high.Firsts[6:]...)
			trials = append(trials, low, high)
		}
	}
	tables, err := Build(result.File{Name: "levels", Header: header("levels", 8, grpc, http), Trials: trials}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func TestIterationsGolden(t *testing.T) {
	out := render(t, Iterations, levelsOf(t))
	fits(t, "levels", out, chartWidth)
	golden(t, "levels.iterations", []byte(out))
}

// The page has a picture of each row, all of a subject on one scale, with the figures in words.
func TestIterationsInHTML(t *testing.T) {
	out := render(t, HTML, levelsOf(t))
	for _, want := range []string{"<title>First iterations of grpc @ 20</title>", "<title>First iterations of http @ 100</title>",
		"First iterations of grpc @ 100, ms: 1 31.5; 2 33.1; 3 34.6 unavailable; 4 9.00 timeout; 5 37.8; 7 41.0;", "11 15.8 unfinished; 12 48.8."} {
		if !strings.Contains(out, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if n := strings.Count(out, `data-chart="first-iterations"`); n != 4 {
		t.Errorf("%d pictures of first iterations, want one for each of 2 subjects at 2 levels", n)
	}
}

// What a file says of iterations bounds neither the chart nor breaks it.
func TestIterationsOfAStrangeFile(t *testing.T) {
	tr := withFirsts(t, grpc, 20, 1, 1, 2)
	tr.Firsts = []result.Iteration{
		{N: 2_000_000_000, Steps: []int64{1}, Outcome: "ok"}, {N: -3, Outcome: "ok"}, {N: 7, Steps: []int64{-5, 1 << 62, 1 << 62, 4, 5, 6, 7}, Outcome: "a\x1b[1mb"},
	}
	tables, err := Build(result.File{Header: header("levels", 1, grpc), Trials: []result.Trial{tr}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := render(t, Iterations, tables)
	_, picture, found := strings.Cut(render(t, HTML, tables), `data-chart="first-iterations"`)
	picture, _, _ = strings.Cut(picture, "</svg>")
	if !found || strings.Contains(picture, "\x1b") || strings.Contains(picture, "NaN") || strings.Contains(picture, "Inf") {
		t.Errorf("the page has what a browser can't draw: %s", picture)
	}
	if strings.Contains(out, "\x1b") || strings.Count(out, "\n") != 2 || !strings.Contains(out, " 7 grpc @ 20") {
		t.Errorf("got %q", out)
	}
}
