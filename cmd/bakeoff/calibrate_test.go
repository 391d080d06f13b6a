package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bakeoff/harness/result"
	"bakeoff/harness/result/resulttest"
)

// TestCalibrate is a calibration for real, too short to tell anything: what was planted is in the trials and in nobody else's, and
// --from says the same again.
func TestCalibrate(t *testing.T) {
	results := filepath.Join(t.TempDir(), "c.jsonl")
	r := bakeoff(t, "calibrate", "--subject", "http", "--plant", "300%", "--runs", "1")
	if r.code != exitUsage {
		t.Errorf("exit code %d", r.code)
	}
	wantAll(t, r.err, `--plant "300%"`, "below 100%")
	r = bakeoff(t, "calibrate", "--subject", "http", "--plant", "90%", "--runs", "2", "--rounds", "3", "--duration", "30ms", "--warmup", "5ms", "--concurrency", "4",
		"--seed", "5", "--store", "memory", "--results", results)
	if r.code != exitOK {
		t.Fatalf("exit code %d:\n%s", r.code, r.err)
	}
	wantAll(t, r.err, "warning: a run of 3 rounds can't find anything", "--rounds 7", "2 runs of 3 rounds, 9 trials each: about ", "http-planted burns", "run 1: ", "run 2: ", results)
	wantAll(t, r.out, "http against itself in 2 runs of 3 rounds", "server_cpu_per_req", "0 of 2", "nothing: too few rounds", "planted in server CPU per request: found in 0 of 2 runs")
	f, err := result.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Trials) != 18 || f.Header.Planned != 18 || f.Header.Experiment != "calibrate" {
		t.Errorf("%d trials, %d planned, experiment %s", len(f.Trials), f.Header.Planned, f.Header.Experiment)
	}
	planted := map[string]int{}
	for _, trial := range f.Trials {
		if trial.Error != "" {
			t.Errorf("trial %d: %s", trial.Order, trial.Error)
		}
		if v, ok := trial.Values[plantedCPU]; ok {
			planted[trial.Subject]++
			if v <= 0 || v > 0.1 {
				t.Errorf("trial %d: %g s are planted", trial.Order, v)
			}
		}
	}
	if len(planted) != 1 || planted["http-planted"] != 6 {
		t.Errorf("planted in %v, want 6 of http-planted", planted)
	}
	again := bakeoff(t, "calibrate", "--from", results)
	if again.code != exitOK || again.out != r.out {
		t.Errorf("--from says something else (exit code %d):\n%s\nthan\n%s", again.code, again.out, r.out)
	}
}

// synthetic writes the file of a calibration on a machine whose speed wanders by a factor of two, where each figure of a round is off by
// some share of its own; what is planted is a share of the server's CPU.
func synthetic(t *testing.T, runs int, off, plant float64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	h := result.Header{Schema: result.Schema, Kind: "bakeoff-header", Experiment: "calibrate", Seed: 1, Planned: runs * 30, Settings: []byte(`{"rounds":10}`)}
	names := []string{"x", "x-twin", "x-planted"}
	for _, n := range names {
		h.Subjects = append(h.Subjects, result.Subject{Name: n, Conformant: true})
	}
	w, err := result.Create(path, h, false)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for round := 1; round <= 10*runs; round++ {
		speed := 1 + r.Float64()
		for i, n := range names {
			tr := result.Trial{Kind: "bakeoff-trial", Subject: n, Workload: "w", Mode: result.ModeClosed, Concurrency: 50, Conns: 1, Round: round, Order: 3*round - 2 + i, Store: "memory", Messages: 1, Window: 2, Elapsed: 2,
				Outcomes: result.Outcomes{Started: 1000, OK: 1000}, Values: map[string]float64{}, Histograms: []result.Histogram{resulttest.Times(t, "w", result.OutcomeOK, 1000, 1e6)}}
			noisy := func(v float64) float64 { return v * math.Exp(off*r.NormFloat64()) }
			tr.Values[result.Throughput] = noisy(10_000 / speed)
			tr.Values[result.ClientCPUPerReq] = noisy(20e-6 * speed)
			tr.Values[result.ServerRSS] = 20e6
			cost := 30e-6 * speed
			if n == "x-planted" {
				cost *= 1 + plant
				tr.Values[plantedCPU] = plant * 30e-6 * 1.5
			}
			tr.Values[result.ServerCPUPerReq] = noisy(cost)
			if err := w.Append(tr); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Over synthetic noise the truth is known: alarms, what can be detected, and whether what was planted was found.
func TestCalibrationOfKnownNoise(t *testing.T) {
	const runs = 60
	file, err := result.ReadFile(synthetic(t, runs, 0.02, 0.05))
	if err != nil {
		t.Fatal(err)
	}
	c, err := calibrationOf(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.runs) != runs || c.partial != 0 || c.base != "x" || c.planted != "x-planted" {
		t.Fatalf("%d runs, %d rounds beyond, %s and %s", len(c.runs), c.partial, c.base, c.planted)
	}
	for _, m := range []string{result.Throughput, result.ServerCPUPerReq, result.ClientCPUPerReq} {
		alarms, of := c.detected(c.twin, m)
		if of != runs || alarms > 8 { // 60 x 5 % = 3, and 3 standard errors of 1.7
			t.Errorf("%s: %d false alarms in %d runs", m, alarms, of)
		}
		// the ratio of two is off by 0.02 sqrt(2) = 2.83 %, half of the time by more than 0.674 of that: 1.91 %
		if got := c.noise(m).Typical(); math.Abs(got-0.0191) > 0.002 {
			t.Errorf("%s: twins differ by %g, want 0.019", m, got)
		}
	}
	if n := c.anyAlarm(); n > 8 {
		t.Errorf("%d of %d runs raise some alarm after correction", n, runs)
	}
	found, of := c.detected(c.planted, result.ServerCPUPerReq)
	if of != runs || float64(found)/runs < 0.9 { // 5 % are 1.77 standard deviations of a round's ratio
		t.Errorf("what was planted is found in %d of %d runs", found, of)
	}
	if n, _ := c.detected(c.planted, result.ClientCPUPerReq); n > 8 {
		t.Errorf("what was not planted is found in %d runs", n)
	}
	var b strings.Builder
	if err := c.write(&b); err != nil {
		t.Fatal(err)
	}
	wantAll(t, b.String(), "x against itself in 60 runs of 10 rounds", "server_rss          0.00%", "store_cpu_per_req   unknown",
		fmt.Sprintf("planted in server CPU per request: found in %d of 60 runs", found), "find +4.9%")
}

func TestCalibrationOfWhatIsNone(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ header, want string }{
		"run":    {`{"schema":1,"kind":"bakeoff-header","planned":30,"experiment":"datatype","subjects":[]}`, "not the file of a calibration"},
		"alone":  {`{"schema":1,"kind":"bakeoff-header","planned":30,"experiment":"calibrate","subjects":[{"name":"a"}]}`, "not the file of a calibration"},
		"rounds": {`{"schema":1,"kind":"bakeoff-header","planned":30,"experiment":"calibrate","subjects":[{"name":"a"},{"name":"b"}],"settings":{"rounds":0}}`, "how many rounds"},
	} {
		path := filepath.Join(dir, name+".jsonl")
		if err := os.WriteFile(path, []byte(c.header+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		r := bakeoff(t, "calibrate", "--from", path)
		if r.code != exitFailed {
			t.Errorf("%s: exit code %d", name, r.code)
		}
		wantAll(t, r.err, path, c.want)
	}
	// no trial yet, and a run cut short
	none := filepath.Join(dir, "none.jsonl")
	if err := os.WriteFile(none, []byte(`{"schema":1,"kind":"bakeoff-header","planned":30,"experiment":"calibrate","subjects":[{"name":"a"},{"name":"b"}],"settings":{"rounds":10}}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := bakeoff(t, "calibrate", "--from", none); r.code != exitOK || !strings.Contains(r.out, "a against itself in 0 runs of 10 rounds") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.err)
	}
}
