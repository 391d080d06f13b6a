package report

import (
	"bakeoff/harness/result"
)

// Distribution is a population of latencies, in seconds: the calls that succeeded, of all rounds together. Their histograms are added up,
// for percentiles must never be averaged; so its figures are those of the calls, where a row's metrics are medians of the rounds.
type Distribution struct {
	Count   int64   `json:"count"`
	Fastest float64 `json:"fastest"`
	Mean    float64 `json:"mean"`
	Slowest float64 `json:"slowest"`
	// Percentiles are from the 10th to the 99.99th; those that fewer than ten calls lie beyond are left out.
	Percentiles []Percentile `json:"percentiles"`
	// Curve has the percentiles closer together: for pictures.
	Curve []Percentile `json:"-"`
	// Buckets part the time from the fastest to the slowest into equal parts.
	Buckets []Bucket `json:"buckets"`
}

// Percentile is the time in seconds that a share of the calls took at most.
type Percentile struct {
	Percent float64 `json:"percent"`
	Latency float64 `json:"latency"`
}

// Bucket counts the calls that took at most Mark seconds, and longer than the mark before it.
type Bucket struct {
	Mark  float64 `json:"mark"`
	Count int64   `json:"count"`
}

// commonPercents are those that ghz and hey print, however few the calls; rarePercents need ten calls beyond them.
var (
	commonPercents = []float64{10, 25, 50, 75, 90, 95, 99}
	rarePercents   = []float64{99.9, 99.99}
)

// bucketParts is into how many parts the buckets split the time between the fastest and the slowest call, as ghz does.
const bucketParts = 10

// distribution adds up the latencies of one step, or of all of them for "". It is nil without calls.
func (g *group) distribution(step string) (*Distribution, error) {
	var hs []result.Histogram
	for _, t := range g.ok {
		hs = append(hs, succeeded(t, result.TimeResponse, step)...)
	}
	m, err := result.Merge(hs...)
	if err != nil || m.Count == 0 {
		return nil, err
	}
	d := &Distribution{Count: m.Count, Fastest: float64(m.Min) / 1e9, Mean: m.Mean / 1e9, Slowest: float64(m.Max) / 1e9}
	percents := commonPercents
	for _, p := range rarePercents {
		if (100-p)/100*float64(m.Count) >= 10-1e-6 {
			percents = append(percents[:len(percents):len(percents)], p)
		}
	}
	for _, p := range percents {
		ns, _ := m.Quantile(p / 100)
		d.Percentiles = append(d.Percentiles, Percentile{p, float64(ns) / 1e9})
	}
	d.Curve = curve(m)
	marks := make([]int64, bucketParts+1)
	for i := range marks {
		marks[i] = m.Min + int64(float64(m.Max-m.Min)*float64(i)/bucketParts)
	}
	marks[bucketParts] = m.Max
	for i, n := range m.CountAtMost(marks) {
		d.Buckets = append(d.Buckets, Bucket{float64(marks[i]) / 1e9, n})
	}
	return d, nil
}

// seconds are the windows of the rounds, added up; 0 where they are unknown.
func (g *group) seconds() float64 {
	sum := 0.0
	for _, t := range g.ok {
		sum += t.Window
	}
	if _, why := known(sum); why != "" {
		return 0
	}
	return sum
}
