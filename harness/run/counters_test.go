package run

import (
	"testing"

	"bakeoff/harness/result"
)

func TestStoreDiffers(t *testing.T) {
	type m = map[string]float64
	for _, c := range []struct {
		name          string
		counted, asks m
		outcomes      result.Outcomes
		want          string
	}{
		{"one read a call", m{"read": 100}, m{"read": 1}, result.Outcomes{Started: 100, OK: 100}, ""},
		{"a read too many", m{"read": 101}, m{"read": 1}, result.Outcomes{Started: 100, OK: 100},
			"the store counted 101 of kind read where the calls ask for 100"},
		{"a cache in front of it", m{}, m{"read": 1}, result.Outcomes{Started: 100, OK: 100},
			"the store counted 0 of kind read where the calls ask for 100"},
		{"a kind that nobody asked for", m{"read": 100, "write": 2}, m{"read": 1}, result.Outcomes{Started: 100, OK: 100},
			"the store counted 2 of kind write where the calls ask for 0"},
		{"five of ten failed calls have asked", m{"read": 95}, m{"read": 1},
			result.Outcomes{Started: 100, OK: 90, Failed: map[string]uint64{"x": 10}}, ""},
		{"less than the ok calls asked for", m{"read": 89}, m{"read": 1},
			result.Outcomes{Started: 100, OK: 90, CutOff: 10}, "the store counted 89 of kind read where the calls ask for 90 to 100"},
		{"five writes a call", m{"write": 500}, m{"write": 5}, result.Outcomes{Started: 100, OK: 100}, ""},
	} {
		if got := storeDiffers(c.counted, c.asks, c.outcomes); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestServerDiffers(t *testing.T) {
	failed := result.Outcomes{Started: 100, OK: 90, Failed: map[string]uint64{"x": 7}, CutOff: 3}
	for _, c := range []struct {
		name     string
		counted  int64
		outcomes result.Outcomes
		want     string
	}{
		{"each once", 100, result.Outcomes{Started: 100, OK: 100}, ""},
		{"one was asked twice", 101, result.Outcomes{Started: 100, OK: 100}, "the server handled 101 calls, the driver started 100, of which 100 succeeded"},
		{"one was answered without it", 99, result.Outcomes{Started: 100, OK: 100}, "the server handled 99 calls, the driver started 100, of which 100 succeeded"},
		{"none of the failed ones came", 90, failed, ""},
		{"all of them came", 100, failed, ""},
		{"fewer than succeeded", 89, failed, "the server handled 89 calls, the driver started 100, of which 90 succeeded"},
	} {
		if got := callsDiffer("the server", c.counted, c.outcomes); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
