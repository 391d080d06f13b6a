package drive

import (
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"bakeoff/harness/load"
	"bakeoff/harness/record"
	"bakeoff/harness/result"
)

// TestAnOpenTrial drives at a rate that the toy can't miss, over real sockets.
func TestAnOpenTrial(t *testing.T) {
	job := toyJob(serve(t, 0))
	job.Rate, job.Arrivals, job.Duration = "200", "poisson", 200*time.Millisecond
	trial := whole(t, job, toyProtocol(nil))
	o, v := trial.Outcomes, trial.Values
	due := float64(o.Started + o.Dropped)
	if trial.Mode != result.ModeOpen || trial.Rate != "200" || trial.Arrivals != "poisson" || trial.Window != 0.2 {
		t.Errorf("trial %+v", trial)
	}
	if due == 0 || v[result.TargetRate] != due/0.2 || v[result.AchievedRate] != float64(o.Started)/0.2 {
		t.Errorf("outcomes %+v, values %v", o, v)
	}
	if v[result.LatenessP50] > v[result.LatenessP99] || v[result.LatenessP99] > v[result.LatenessMax] || v[result.LatenessMax] <= 0 {
		t.Errorf("lateness %v, %v, %v", v[result.LatenessP50], v[result.LatenessP99], v[result.LatenessMax])
	}
	if len(trial.Histograms) != 2 || trial.Histograms[0].Time != result.TimeResponse || trial.Histograms[1].Time != result.TimeService ||
		trial.Histograms[0].Mean < trial.Histograms[1].Mean {
		t.Errorf("histograms %+v", trial.Histograms)
	}
	if len(trial.Slices) != record.Slices {
		t.Errorf("%d slices", len(trial.Slices))
	}
}

// TestTooManyFailuresEndATrial has every answer be of another data type than was asked for.
func TestTooManyFailuresEndATrial(t *testing.T) {
	job := toyJob(serve(t, 0))
	job.Warmup, job.Duration, job.MaxFailures = 0, time.Minute, 0.1
	trial := whole(t, job, toyProtocol(func(c *toy) { c.wrong = true }))
	if trial.Window >= 60 || trial.Outcomes.Failed["wrong_answer"] < 100 || trial.Outcomes.OK != 0 {
		t.Errorf("a window of %v s, outcomes %+v", trial.Window, trial.Outcomes)
	}
	for _, part := range []string{"calls failed (100 %), over the limit of 10 %, so the load was stopped early", " wrong_answer (the answer is"} {
		if !strings.Contains(trial.Error, part) {
			t.Errorf("the error is %q, want %q in it", trial.Error, part)
		}
	}
}

// times is so many calls of d each.
func times(n int64, d time.Duration) record.Times {
	h := hdrhistogram.New(record.Min, record.Max, record.Digits)
	h.RecordValues(int64(d), n)
	return record.Times{Time: record.Response, Outcome: record.OK, Mean: float64(d), Hist: h}
}

func TestLittle(t *testing.T) {
	for _, row := range []struct {
		name             string
		inFlight, window float64
		times            []record.Times
		want             string
	}{
		{"10 workers, 1000 calls of 20 ms in 2 s", 10, 2, []record.Times{times(1000, 20*time.Millisecond)}, ""},
		{"failures are calls, too", 10, 2, []record.Times{times(500, 20*time.Millisecond), times(100, 100*time.Millisecond)}, ""}, // 10 + 10 s
		{"4 % are missing", 10, 2, []record.Times{times(960, 20*time.Millisecond)}, ""},
		{"one of ten hangs all the time", 10, 2, []record.Times{times(900, 20*time.Millisecond)},
			"10 calls were in flight, but 450 ended a second x 20 ms each is 9 (-10 %): the latencies are not those of all calls"},
		{"nothing ended", 10, 2, nil, ""},
	} {
		if got := little(row.inFlight, row.window, record.Summary{Times: row.times}); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestDoubtsOfAPacedLoad shows which share of the due calls raises which warning.
func TestDoubtsOfAPacedLoad(t *testing.T) {
	profile, err := load.ParseProfile("1000")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		started, dropped uint64
		want             string
	}{
		{10_000, 0, ""},
		{9990, 10, ""}, // 0.1 %
		{9989, 11, "dropped"},
		{9900, 100, "dropped"}, // 1 %
		{9899, 101, "dropped rate_missed"},
		{0, 0, ""},
	} {
		tr := &trial{profile: profile, stats: load.Stats{Iterations: row.started, Dropped: row.dropped, Window: 10 * time.Second}}
		out := result.Trial{Values: map[string]float64{}}
		tr.doubt(&out, record.Summary{})
		var kinds []string
		for _, w := range out.Warnings {
			kinds = append(kinds, w.Kind)
		}
		if got := strings.Join(kinds, " "); got != row.want {
			t.Errorf("%d started, %d dropped: %q, want %q", row.started, row.dropped, got, row.want)
		}
	}
}
