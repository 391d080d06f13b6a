package report

import (
	"math"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

func TestParseLimit(t *testing.T) {
	for _, row := range []struct {
		text   string
		metric string
		above  bool
		share  float64
	}{
		{"server_cpu_per_req>+5%", "server_cpu_per_req", true, 0.05},
		{"throughput<-2.5%", "throughput", false, -0.025},
		{" latency_p99 > + 10 % ", "latency_p99", true, 0.1},
		{"latency_p99>-1%", "latency_p99", true, -0.01},
		{"throughput<+0%", "throughput", false, 0},
	} {
		l, err := ParseLimit(row.text)
		if err != nil || l.Metric != row.metric || l.Above != row.above || math.Abs(l.Share-row.share) > 1e-12 || l.String() != row.text {
			t.Errorf("%q: %+v, %v", row.text, l, err)
		}
	}
	for _, row := range []struct{ text, want string }{
		{"", "column 1: want the name of a metric"},
		{">+5%", "column 1: want the name of a metric"},
		{"  server_cpu_per_rq>+5%", `column 3: unknown metric "server_cpu_per_rq": did you mean "server_cpu_per_req"?`},
		{"latency_p9>+5%", `column 1: unknown metric "latency_p9": did you mean "latency_p90"?`},
		{"throughput", "column 11: want > or <"},
		{"throughput=+5%", "column 11: want > or <"},
		{"throughput>5%", "column 12: want + or -"},
		{"throughput>", "column 12: want + or -"},
		{"throughput>+%", "column 13: want a number"},
		{"throughput>+1.2.3%", "column 13: want a number"},
		{"throughput>+5", "column 14: want % behind the number"},
		{"throughput>+5%x", "column 15: want nothing behind the %"},
		{"throughput<-100%", "column 12: nothing can fall by 100%"},
	} {
		_, err := ParseLimit(row.text)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: %v, want %s", row.text, err, row.want)
		}
	}
}

func FuzzParseLimit(f *testing.F) {
	for _, s := range []string{"server_cpu_per_req>+5%", "throughput<-2.5%", "latency_p99 > + 1e3 %", ">", "throughput>+", "throughput>+99999999999999999999%", "throughput>%!d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLimit(text)
		if err != nil {
			if strings.Contains(err.Error(), "%!(") || !strings.Contains(err.Error(), "column ") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if l.Share <= -1 || math.IsNaN(l.Share) || unitOf(l.Metric) == "" {
			t.Errorf("%q: %+v", text, l)
		}
	})
}

func TestLimits(t *testing.T) {
	file := func(cpus []float64) result.File { return fileOf([]string{"a"}, rounds("a", cpus, cpus)...) }
	for _, row := range []struct {
		name, limit string
		by          float64
		rounds      int
		want        string
		shown       bool
	}{
		{"far beyond", "server_cpu_per_req>+5%", 1.5, 10, CheckFailed, false},
		{"within", "server_cpu_per_req>+5%", 1.01, 10, CheckPassed, true},
		{"beyond, but not all of the interval", "server_cpu_per_req>+5%", 1.06, 10, CheckPassed, false},
		{"within, but not all of the interval", "server_cpu_per_req>+2%", 1.01, 10, CheckPassed, false},
		{"the other direction", "server_cpu_per_req>+5%", 0.5, 10, CheckPassed, true},
		{"less than it was", "throughput<-5%", 0.8, 10, CheckFailed, false},
		{"hardly less than it was", "throughput<-2%", 0.99, 10, CheckPassed, false},
		{"more than it was", "throughput<-5%", 1.2, 10, CheckPassed, true},
		{"improved, perhaps not enough", "server_cpu_per_req>-5%", 0.96, 10, CheckPassed, false}, // -4 % with an interval of +-3 % reaches below -5 %
		{"not improved at all", "server_cpu_per_req>-5%", 1.2, 10, CheckFailed, false},
		{"too few rounds", "server_cpu_per_req>+5%", 9, 3, CheckUnknown, false}, // 2 of 20 orders: 90 %
		{"four are enough for one check", "server_cpu_per_req>+5%", 9, 4, CheckFailed, false},
	} {
		l, err := ParseLimit(row.limit)
		if err != nil {
			t.Fatal(err)
		}
		xs := spread[:row.rounds]
		c := compare(t, file(xs), file(times10(xs, row.by)), ChangeOptions{Limits: []Limit{l}})
		if len(c.Checks) != 1 || c.Checks[0].Result != row.want || c.Worst() != row.want {
			t.Errorf("%s: %+v, want %s", row.name, c.Checks, row.want)
			continue
		}
		k, words := c.Checks[0], strings.Join(c.Words, "\n")
		unseen := row.want == CheckPassed && !row.shown
		if k.Shown != row.shown || strings.Contains(k.Text, "could not have been seen") != unseen || strings.Contains(words, "may hide a change beyond the limit") != unseen {
			t.Errorf("%s: shown %v, want %v: %s\n%s", row.name, k.Shown, row.shown, k.Text, words)
		}
		if (k.FailsFrom == nil) != (row.want == CheckUnknown) {
			t.Errorf("%s: fails from %v", row.name, k.FailsFrom)
		}
	}
}

// TestFailsFrom holds the change that a check says it would have seen to what it then does with one a little larger, and with one in the middle.
func TestFailsFrom(t *testing.T) {
	file := func(cpus []float64) result.File { return fileOf([]string{"a"}, rounds("a", cpus, cpus)...) }
	for _, text := range []string{"server_cpu_per_req>+1%", "throughput<-1%"} {
		l, err := ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		o := ChangeOptions{Limits: []Limit{l}}
		k := compare(t, file(spread), file(spread), o).Checks[0]
		if k.Result != CheckPassed || k.Shown || (*k.FailsFrom > l.Share) != l.Above {
			t.Fatalf("%+v", k)
		}
		if k := compare(t, file(spread), file(times10(spread, (1+*k.FailsFrom)*(1+(*k.FailsFrom-l.Share)/10))), o).Checks[0]; k.Result != CheckFailed {
			t.Errorf("%s: a larger change than it says: %+v", text, k)
		}
		if k := compare(t, file(spread), file(times10(spread, 1+(l.Share+*k.FailsFrom)/2)), o).Checks[0]; k.Result != CheckPassed {
			t.Errorf("%s: a change in the middle: %+v", text, k)
		}
	}
}

// What is unknown in a row, and a row that is gone, are told of and not passed; what a file does not know at all is an error.
func TestLimitsOfUnknowns(t *testing.T) {
	older := fileOf([]string{"a", "b", "c"}, append(append(rounds("a", spread, spread), rounds("b", spread, spread)...), rounds("c", spread, spread)...)...)
	newer := fileOf([]string{"a", "b", "d"}, append(append(rounds("a", spread, spread), rounds("b", spread, spread)...), rounds("d", spread, spread)...)...)
	newer.Name = "new.jsonl"
	for i := range newer.Trials {
		if newer.Trials[i].Subject == "b" {
			delete(newer.Trials[i].Values, result.ServerCPUPerReq)
		}
	}
	l, err := ParseLimit("server_cpu_per_req>+5%")
	if err != nil {
		t.Fatal(err)
	}
	c := compare(t, older, newer, ChangeOptions{Limits: []Limit{l}})
	got := map[string]Check{}
	for _, k := range c.Checks {
		got[k.Subject] = k
	}
	for subject, want := range map[string][2]string{
		"a": {CheckPassed, "+0.0% ["}, "b": {CheckUnknown, "unknown in new.jsonl: not measured"}, "c": {CheckUnknown, "it is not in new.jsonl"},
	} {
		if k := got[subject]; k.Result != want[0] || !strings.Contains(k.Text, want[1]) {
			t.Errorf("%s: %+v, want %v", subject, k, want)
		}
	}
	if len(c.Checks) != 3 || c.Worst() != CheckUnknown { // d was not there before: nothing has changed
		t.Errorf("%d checks, %s", len(c.Checks), c.Worst())
	}
	l.Metric = "store_cpu_per_req"
	if _, err := Compare(older, newer, ChangeOptions{Limits: []Limit{l}}); err == nil ||
		!strings.Contains(err.Error(), "f.jsonl has no figure") || !strings.Contains(err.Error(), `did you mean "server_cpu_per_req"`) {
		t.Errorf("%v", err)
	}
}
