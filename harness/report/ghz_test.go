package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

// TestGHZErrors has each message of a class with its own count. What no message is kept of counts under its class, and all together are the failures.
func TestGHZErrors(t *testing.T) {
	trial := func(round int, failed map[string]uint64, examples ...result.Example) result.Trial {
		tr := small("a", round, 100, 1e-6, 1e-6)
		tr.Outcomes = result.Outcomes{OK: 5, Failed: failed}
		for _, n := range failed {
			tr.Outcomes.Started += n
		}
		tr.Outcomes.Started += tr.Outcomes.OK
		tr.Examples = examples
		return tr
	}
	for _, row := range []struct {
		name   string
		trials []result.Trial
		want   map[string]uint64
	}{
		{"messages of two classes", []result.Trial{
			trial(1, map[string]uint64{"unavailable": 7, "timeout": 2}, result.Example{Class: "unavailable", Message: "unavailable: reset", Count: 4},
				result.Example{Class: "unavailable", Message: "refused\nat once", Count: 3}, result.Example{Class: "timeout", Message: "after 5s", Count: 2}),
			trial(2, map[string]uint64{"unavailable": 9}, result.Example{Class: "unavailable", Message: "unavailable: reset", Count: 9}),
		}, map[string]uint64{"unavailable: reset": 13, "unavailable: refused": 3, "timeout: after 5s": 2}},
		{"more than messages are kept of", []result.Trial{
			trial(1, map[string]uint64{"other": 100}, result.Example{Class: "other", Message: "call 1", Count: 1}, result.Example{Class: "other", Message: "call 2", Count: 1}),
		}, map[string]uint64{"other: call 1": 1, "other: call 2": 1, "other": 98}},
		{"none, and empty ones", []result.Trial{trial(1, map[string]uint64{"reset": 3, "local": 2}, result.Example{Class: "local", Count: 2})},
			map[string]uint64{"reset": 3, "local": 2}},
		{"more than failed", []result.Trial{trial(1, map[string]uint64{"reset": 3}, result.Example{Class: "reset", Message: "x", Count: 5})}, map[string]uint64{"reset: x": 3}},
	} {
		tables := build(t, fileOf([]string{"a"}, row.trials...), "")
		var g ghzReport
		if err := json.Unmarshal([]byte(render(t, GHZ, tables)), &g); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(row.want, g.Errors); d != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, d)
		}
		var errs, statuses uint64
		for n := range maps.Values(g.Errors) {
			errs += n
		}
		for n := range maps.Values(g.Statuses) {
			statuses += n
		}
		if out := tables.Rows[0].Outcomes; errs != out.Failed || statuses != g.Count || g.Count != out.OK+out.Failed {
			t.Errorf("%s: %d errors, %d statuses and a count of %d of %d failed and %d ok", row.name, errs, statuses, g.Count, out.Failed, out.OK)
		}
		summary := strings.Join(strings.Fields(render(t, GHZLike, tables)), " ")
		for e, n := range row.want {
			if !strings.Contains(summary, fmt.Sprintf("[%d] %s", n, e)) {
				t.Errorf("%s: no %s in %s", row.name, e, summary)
			}
		}
	}
}
