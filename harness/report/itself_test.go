package report

import (
	"slices"
	"testing"

	"bakeoff/harness/result"
)

func TestWhatTLSChanges(t *testing.T) {
	even := []float64{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}
	half := []float64{50, 51, 49, 50, 50, 50, 50, 50, 50, 50}
	tables := Tables{
		Subjects: []result.Subject{{Name: "a"}, {Name: "a+tls", Plain: "a"}, {Name: "b+tls", Plain: "b"}, {Name: "c"}},
		Rows: []Row{madeUp("a", 50, "w", "throughput", even...), madeUp("a+tls", 50, "w", "throughput", half...),
			madeUp("b+tls", 50, "w", "throughput", half...), madeUp("c", 50, "w", "throughput", half...)},
	}
	want := []string{"What TLS changes in throughput: a @ 50 50% less [50% to 51%]."}
	if got := tables.byTLS(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	tables.Rows = append(tables.Rows, madeUp("a", 50, "v", "throughput", half...), madeUp("a+tls", 50, "v", "throughput", half...))
	want = []string{"What TLS changes in throughput: a @ 50 with w 50% less [50% to 51%]; a @ 50 with v the same in every round."}
	if got := tables.byTLS(); !slices.Equal(got, want) {
		t.Errorf("of two workloads:\ngot  %q\nwant %q", got, want)
	}
	tables.Rows[0].Ranked = false
	tables.Rows = tables.Rows[:4]
	if got := tables.byTLS(); len(got) != 0 {
		t.Errorf("against a row that is not ranked: %q", got)
	}
}
