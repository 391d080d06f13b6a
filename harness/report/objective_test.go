package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

func TestParseObjective(t *testing.T) {
	for text, want := range map[string][]condition{
		"p99<5ms":                    {{"p99", 0.99, 0.005}},
		" p99.9 < 1.5s ":             {{"p99.9", 0.999, 1.5}},
		"p50.0<1m30s":                {{"p50", 0.5, 90}},
		"mean<800us,max<1s":          {{"mean", 0, 0.0008}, {"max", 0, 1}},
		"p99<5ms , failed < 0.1 %":   {{"p99", 0.99, 0.005}, {"failed", 0, 0.001}},
		"p90<1ms,p99<2ms,p99.99<3ms": {{"p90", 0.9, 0.001}, {"p99", 0.99, 0.002}, {"p99.99", 0.9999, 0.003}},
	} {
		o, err := ParseObjective(text)
		if err != nil || o.String() != strings.TrimSpace(text) || len(o.conditions) != len(want) {
			t.Errorf("%q: %+v, %v", text, o, err)
			continue
		}
		for i, c := range o.conditions {
			if w := want[i]; c.name != w.name || math.Abs(c.q-w.q) > 1e-12 || math.Abs(c.limit-w.limit) > 1e-12 {
				t.Errorf("%q: condition %d is %+v, want %+v", text, i+1, c, w)
			}
		}
		if again, err := ParseObjective(o.String()); err != nil || fmt.Sprint(again) != fmt.Sprint(o) {
			t.Errorf("%q, read again from %q: %+v, %v", text, o, again, err)
		}
	}
	const which = "want a percentile from p1 to p99.99, mean, max or failed, as in p99<5ms"
	for text, want := range map[string]string{
		"":                "column 1: " + which,
		"  ":              "column 3: " + which,
		"latency<5ms":     "column 1: " + which,
		"p100<5ms":        "column 1: " + which,
		"p0.5<5ms":        "column 1: " + which,
		"pNaN<5ms":        "column 1: " + which,
		"99<5ms":          "column 1: " + which,
		"p99":             "column 4: want < after p99",
		"p99 > 5ms":       "column 5: want < after p99",
		"p99<=5ms":        "column 5: want a time above 0 with its unit, such as 5ms or 1.5s",
		"p99<5":           "column 5: want a time above 0 with its unit",
		"p99<0ms":         "column 5: want a time above 0",
		"p99<-1ms":        "column 5: want a time above 0",
		"p99<":            "column 5: want a time above 0",
		"p99<5ms p50<1ms": "column 9: want nothing more, or a comma and a further condition",
		"p99<5ms,":        "column 9: " + which,
		"p99<5ms, p99<9s": "column 10: p99 stands there twice",
		"failed<0.1":      "column 8: want a share from 0.0001% to below 100%, as in failed<0.1%",
		"failed<0%":       "column 8: want a share",
		"failed<NaN%":     "column 8: want a share",
		"failed<5ms":      "column 8: want a share",
		"max<1s;mean<1ms": "column 5: want a time",
	} {
		if _, err := ParseObjective(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestObjectiveCalls(t *testing.T) {
	for text, want := range map[string]float64{
		"p50<1s": 20, "p90<1s": 100, "p99<1s": 1000, "p99.9<1s": 10_000, "p99.99<1s": 100_000, "mean<1s": 20, "max<1s": 20,
		"failed<0.1%": 1000, "failed<50%": 20, "p90<1s,failed<1%": 100, "mean<1s,p99<1s": 1000,
	} {
		if o, err := ParseObjective(text); err != nil || o.Calls() != want {
			t.Errorf("%s: %v calls, %v, want %v", text, o.Calls(), err, want)
		}
	}
}

// answered is a trial of which ok calls took 0.95 to 12 ms (of median 1 ms), and others failed or were cut off.
func answered(t *testing.T, ok, failed, cutOff uint64, warnings ...string) result.Trial {
	t.Helper()
	tr := result.Trial{Subject: "a", Round: 3, Mode: result.ModeOpen, Rate: "1000",
		Outcomes: result.Outcomes{Started: ok + failed + cutOff, OK: ok, CutOff: cutOff, Failed: map[string]uint64{"timeout": failed}}}
	if ok > 0 {
		tr.Histograms = []result.Histogram{times(t, "s", result.OutcomeOK, result.TimeResponse, int64(ok), 1e-3),
			times(t, "s", result.OutcomeOK, result.TimeService, int64(ok), 1e-6), times(t, "s", "timeout", result.TimeResponse, int64(failed+1), 1e-6)}
	}
	for _, w := range warnings {
		tr.Warnings = append(tr.Warnings, result.Warning{Kind: w, Text: "evidence of " + w})
	}
	return tr
}

// TestJudge has the times of 10,000 calls: 10 of 12 ms, then 100 of 4 ms, 900 of 2 ms, 4000 of 1.2 ms, 4990 of 0.95 ms.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		objective string
		trial     result.Trial
		held      bool
		why       string
	}{
		{"p99<4.1ms", answered(t, 10_000, 0, 0), true, "p99 4.00 ms"},
		{"p99<4ms", answered(t, 10_000, 0, 0), false, "p99 4.00 ms"},
		{"p50<1.3ms", answered(t, 10_000, 0, 0), true, "p50 1.20 ms"},
		{"p90<2.1ms,p99<4.1ms,p99.9<4.1ms", answered(t, 10_000, 0, 0), true, "p90 2.00 ms, p99 4.00 ms, p99.9 4.00 ms"},
		{"p90<2.1ms,p99<4ms", answered(t, 10_000, 0, 0), false, "p90 2.00 ms, p99 4.00 ms"},
		{"max<12ms", answered(t, 10_000, 0, 0), false, "max 12.0 ms"},
		{"max<12.1ms", answered(t, 10_000, 0, 0), true, "max 12.0 ms"},
		{"mean<1.2ms", answered(t, 10_000, 0, 0), true, "mean 1.19 ms"}, // (10*12+100*4+900*2+4000*1.2+4990*0.95)/10,000
		{"mean<1.1ms", answered(t, 10_000, 0, 0), false, "mean 1.19 ms"},
		// Of 10,100 calls the 99 % are 9,999: the 2nd longest of the 10,000 that succeeded.
		{"p99<12ms", answered(t, 10_000, 60, 40), false, "p99 12.0 ms"},
		{"p99<13ms", answered(t, 10_000, 60, 40), true, "p99 12.0 ms"},
		// Of 10,200 they are 10,098, and so many did not succeed.
		{"p99<13ms", answered(t, 10_000, 150, 50), false, "p99 is beyond all times: 200 of 10200 calls failed or were cut off"},
		{"max<13ms", answered(t, 10_000, 1, 0), false, "max is beyond all times: 1 of 10001 calls failed or were cut off"},
		{"mean<13ms", answered(t, 10_000, 0, 1), false, "mean is beyond all times"},
		{"failed<1%", answered(t, 10_000, 60, 40), true, "failed 0.990%"},
		{"failed<0.9%", answered(t, 10_000, 60, 40), false, "failed 0.990%"},
		{"failed<1%", answered(t, 0, 2000, 0), false, "failed 100%"},
		{"p99<1s", answered(t, 0, 2000, 0), false, "p99 is beyond all times"},
		{"p99<1s", answered(t, 999, 0, 0), false, "999 calls are too few to tell: p99<1s needs 1000"},
		{"p99<1s", answered(t, 0, 0, 0), false, "0 calls are too few"},
		{"p99<1s", answered(t, 10_000, 0, 0, result.WarnDropped), false, "evidence of dropped"},
		{"p99<1s", answered(t, 10_000, 0, 0, result.WarnDrift, result.WarnRateMissed), false, "evidence of rate_missed"},
		{"p99<1s", answered(t, 10_000, 0, 0, result.WarnDrift), true, "p99 4.00 ms"},
		{"p99<1s", result.Trial{Error: "the server died\nat once"}, false, "the server died"},
	} {
		o, err := ParseObjective(c.objective)
		if err != nil {
			t.Fatal(err)
		}
		held, why, err := o.Judge(c.trial)
		if err != nil || held != c.held || !strings.HasPrefix(why, c.why) {
			t.Errorf("%s, %+v: %v, %q, %v, want %v, %q", c.objective, c.trial.Outcomes, held, why, err, c.held, c.why)
		}
	}
	o, err := ParseObjective("p99<5ms")
	if err != nil {
		t.Fatal(err)
	}
	broken := answered(t, 10_000, 0, 0)
	broken.Histograms[0].Data = "?"
	if _, _, err := o.Judge(broken); err == nil || !strings.Contains(err.Error(), "trial of a, round 3") {
		t.Errorf("a broken histogram: %v", err)
	}
}

// FuzzParseObjective holds what is accepted to what it says: read again it is the same.
func FuzzParseObjective(f *testing.F) {
	for _, text := range []string{"p99<5ms", "p99.9 < 1.5s, failed<0.1%", "mean<1ms,max<2s", "p<", ",", "p1e1<1ns", "failed<1e-3%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseObjective(text)
		if err != nil {
			return
		}
		again, err := ParseObjective(o.String())
		if err != nil || fmt.Sprint(again) != fmt.Sprint(o) || !(o.Calls() >= leastCalls && o.Calls() < math.Inf(1)) {
			t.Errorf("%q: %+v, read again %+v, %v", text, o, again, err)
		}
	})
}
