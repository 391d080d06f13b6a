package report

import (
	"regexp"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// numberless are what no figure may be printed as.
var numberless = regexp.MustCompile(`\bNaN\b|[+-]?\bInf\b|[0-9]{50}`)

var script = regexp.MustCompile(`(?s)<script.*?</script>`)

// TestExtremesArePrintable has figures at the ends of what a result file may hold, one subject at each.
func TestExtremesArePrintable(t *testing.T) {
	file := func(high, low float64) result.File {
		var trials []result.Trial
		for round := 1; round <= 8; round++ {
			for _, s := range []struct {
				name   string
				v, sec float64
				n      uint64
			}{{"a", high, min(high, 1e9), 1e15}, {"b", low, low, 1}} {
				tr := small(s.name, round, s.v, s.sec, s.sec)
				tr.Order, tr.Messages, tr.Window, tr.Elapsed = len(trials)+1, 1e9, 1e9, 1e-9
				tr.Outcomes = result.Outcomes{Started: 2 * s.n, OK: s.n, Failed: map[string]uint64{"timeout": s.n}}
				for _, name := range []string{result.StoreCPUPerReq, result.ServerCPU, result.ClientCPU, result.StoreCPU} {
					tr.Values[name] = s.sec
				}
				for _, name := range []string{result.SentPerReq, result.ReceivedPerReq, result.ServerRSS, result.ClientRSS, result.ServerSwitches, result.InFlight, result.Dials} {
					tr.Values[name] = s.v
				}
				tr.Slices = []result.Slice{{OK: s.n, Mean: 1e18, CPU: map[string]float64{"server": s.sec}}, {OK: s.n, Mean: 1, CPU: map[string]float64{"server": s.sec}}}
				trials = append(trials, tr)
			}
		}
		return fileOf([]string{"a", "b"}, trials...)
	}
	older, newer := file(1e15, 1e-18), file(1e-18, 1e15)
	newer.Name = "new.jsonl"
	check := func(what, s string) {
		t.Helper()
		s = script.ReplaceAllString(s, "")
		if at := numberless.FindStringIndex(s); at != nil {
			t.Errorf("%s: %q", what, s[max(0, at[0]-100):min(len(s), at[1]+20)])
		}
	}
	tables, err := Build(older, Options{RankFlagged: true, Load: 1e12, CorePrice: 1e12})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range All {
		check(f.Name, render(t, f, tables))
	}
	changes := compare(t, older, newer, ChangeOptions{RankFlagged: true})
	for _, f := range ChangeFormats {
		var b strings.Builder
		if err := f.Write(&b, changes); err != nil {
			t.Fatal(err)
		}
		check("a comparison as "+f.Name, b.String())
	}
}
