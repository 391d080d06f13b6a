package report

import (
	"strings"
	"testing"
)

// TestAnUnknownRoleIsNoZero in the bars of CPU by role.
func TestAnUnknownRoleIsNoZero(t *testing.T) {
	us := func(v float64) Value { return Value{Median: v / 1e6} }
	rows := []Row{
		{Subject: "grpc", Metrics: map[string]Value{"server_cpu_per_req": us(20), "client_cpu_per_req": us(10)},
			Unknown: map[string]string{"store_cpu_per_req": noStoreProcess}},
		{Subject: "http", Metrics: map[string]Value{"client_cpu_per_req": us(10), "store_cpu_per_req": us(5)},
			Unknown: map[string]string{"server_cpu_per_req": "no admin listener"}},
	}
	for _, c := range chartsOf(rows) {
		if !strings.HasPrefix(c.title, "CPU per request by role") {
			continue
		}
		if len(c.lines) != 2 || strings.Contains(c.lines[0], "?") || !strings.Contains(c.lines[1], ">15") || !strings.HasSuffix(c.lines[1], "+ ? (server unknown)") {
			t.Errorf("got\n%s", strings.Join(c.lines, "\n"))
		}
		for _, l := range c.lines {
			if len(l) > chartWidth {
				t.Errorf("%d columns: %s", len(l), l)
			}
		}
		return
	}
	t.Error("there is no chart of CPU by role")
}
