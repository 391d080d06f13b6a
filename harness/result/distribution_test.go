package result

import (
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestCountAtMost(t *testing.T) {
	h := hdrhistogram.New(1, 120e9, 3)
	for _, ns := range []int64{100, 200, 200, 300, 1000} { // below 2048 each nanosecond has a bucket
		if err := h.RecordValue(ns); err != nil {
			t.Fatal(err)
		}
	}
	e, err := EncodeHistogram("s", OutcomeOK, TimeResponse, h, 100, 360, 1000)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Merge(e, e)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ marks, want []int64 }{
		{[]int64{100, 200, 999, 1000}, []int64{2, 4, 2, 2}},
		{[]int64{99, 199, 500}, []int64{0, 2, 8}}, // 1000 is counted with the last
		{[]int64{5000}, []int64{10}},
		{nil, []int64{}},
	} {
		if got := m.CountAtMost(c.marks); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.marks, got, c.want)
		}
	}
	if got := (Merged{}).CountAtMost([]int64{1, 2}); !slices.Equal(got, []int64{0, 0}) {
		t.Errorf("without calls: %v", got)
	}
}
