package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// With small bodies a is faster, with large ones b; in the middle the rounds don't tell them apart.
func TestOrderChanges(t *testing.T) {
	rate := func(subject, workload string, values ...float64) Row {
		return madeUp(subject, 16, workload, "throughput", values...)
	}
	even := []float64{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}
	more := []float64{120, 121, 122, 123, 124, 125, 126, 127, 128, 129}
	around := []float64{99, 101, 98, 102, 97, 103, 96, 104, 95, 105}
	tables := Tables{Rows: []Row{rate("a", "small", more...), rate("b", "small", even...), rate("a", "middle", around...), rate("b", "middle", even...),
		rate("a", "large", even...), rate("b", "large", more...)}}
	want := "In throughput the order changes with the workload: a is ahead of b with small, and behind with large (not told apart with middle)."
	if got := tables.orderWords(); !slices.Equal(got, []string{want}) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	tables.Rows = append(tables.Rows[:4], rate("a", "none", even...), rate("b", "none", even...))
	want = "In throughput no two subjects change places from one workload to another, as far as these rounds tell."
	if got := tables.orderWords(); !slices.Equal(got, []string{want}) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	tables.Rows = tables.Rows[2:]
	if got := tables.orderWords(); len(got) != 0 {
		t.Errorf("of two workloads: %q", got)
	}
}

// Sections stand as the workloads were asked for, whatever the shuffled first round began with.
func TestSectionsStandAsPlanned(t *testing.T) {
	h := header("payload", 12, grpc, thrift)
	h.Settings = json.RawMessage(`{"workloads":["small","large"]}`)
	var trials []result.Trial
	for _, w := range []string{"large", "small"} {
		for _, f := range []figures{grpc, thrift} {
			tr := f.trial(t, 50, 1, "memory")
			tr.Workload = w
			trials = append(trials, tr)
		}
	}
	tables, err := Build(result.File{Header: h, Trials: trials}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range tables.Rows {
		got = append(got, r.Workload)
	}
	if want := []string{"small", "small", "large", "large"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := tables.ofWorkload(tables.Rows[0]); got != " with small" {
		t.Errorf("a sentence names its workload as %q", got)
	}
	few := slices.DeleteFunc(slices.Clone(tables.Words), func(w string) bool { return !strings.HasPrefix(w, "1 round can't tell") })
	if len(few) != 1 {
		t.Errorf("that rounds are too few is said %d times: %q", len(few), tables.Words)
	}
}

func TestWhatConnectionsChange(t *testing.T) {
	even := []float64{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}
	half := []float64{50, 51, 49, 50, 50, 50, 50, 50, 50, 50}
	many := madeUp("a", 50, "w", "throughput", half...)
	many.Conns = 50
	tables := Tables{Rows: []Row{madeUp("a", 50, "w", "throughput", even...), many}}
	got := tables.byConnections()
	want := "What more connections change in throughput: a @ 50 over 50 instead of 1 connection: 50% less [50% to 51%]."
	if !slices.Equal(got, []string{want}) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if at := atConns(tables.Rows, many); at != "50 over 50 connections" {
		t.Errorf("the level is %q", at)
	}
}

func TestFiguresOfMessages(t *testing.T) {
	r := madeUp("a", 50, "route", "throughput", 100)
	r.Metrics["throughput"] = Value{Unit: unitRate, Median: 100, Low: 100, High: 100}
	r.Metrics["server_cpu_per_req"] = Value{Unit: unitSeconds, Median: 500e-6, Low: 400e-6, High: 600e-6}
	r.Messages = 100
	g, ok := messageGrid([]Row{r}, []string{"a @ 50"}, wideForm)
	// 100 calls/s of 100 messages are 10,000 messages/s; 500 us a call are 5 us a message.
	want := "a @ 50|100|10.0|5.00 [4.00, 6.00]|-|-|-"
	if !ok || strings.Join(g.rows[0], "|") != want || g.head[2] != "k msg/s" || g.head[3] != "server us" {
		t.Errorf("%v %q, want %q", g.head, g.rows, want)
	}
	r.Messages = 1
	if _, ok := messageGrid([]Row{r}, []string{"a @ 50"}, wideForm); ok {
		t.Error("calls of one message have a grid of their own")
	}
}
