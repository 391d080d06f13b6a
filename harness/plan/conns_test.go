package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Numbers of connections and workloads are dimensions as levels are; as many connections as calls in flight, and that very
// number, are one and the same.
func TestConnectionsAndWorkloads(t *testing.T) {
	s := settings()
	s.Rounds, s.Subjects, s.Workloads, s.Conns = 1, []string{"a"}, []string{"w", "x"}, []int{1, 0, 5}
	if err := s.Valid(); err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, tr := range Blocks(s) {
		got[fmt.Sprintf("%s @ %d over %d", tr.Workload, tr.Concurrency, tr.Conns)]++
	}
	want := map[string]int{}
	for _, w := range []string{"w", "x"} {
		for _, at := range []string{"5 over 1", "5 over 5", "80 over 1", "80 over 80", "80 over 5"} {
			want[w+" @ "+at] = 1
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Those that have neither are as they were: the protocol's users choose.
func TestWithoutConnections(t *testing.T) {
	for _, tr := range Blocks(settings()) {
		if tr.Conns != 0 {
			t.Errorf("%+v", tr)
		}
	}
}

func TestConnectionsAreChecked(t *testing.T) {
	s := settings()
	s.Conns, s.Workloads = []int{-1, 2, 2}, []string{"w", "", "w"}
	err := s.Valid()
	want := `workloads: number 2 has no name
workloads: "w" stands there twice; name each once
conns -1: it must be 0 (as many as the concurrency) or more, and at most 20000
conns 2: it stands there twice; name each once`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
