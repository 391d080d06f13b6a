package report

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"bakeoff/harness/result"
)

// times makes the histogram of n calls of one step, spread about a median in seconds the way latencies are.
func times(t testing.TB, step, outcome, kind string, n int64, median float64) result.Histogram {
	t.Helper()
	h := hdrhistogram.New(1, 120e9, 3)
	lo, hi, sum, left := int64(math.MaxInt64), int64(0), 0.0, n
	for _, part := range []struct{ share, times float64 }{{0.001, 12}, {0.01, 4}, {0.09, 2}, {0.4, 1.2}, {1, 0.95}} {
		c := min(left, int64(math.Ceil(part.share*float64(n))))
		if c <= 0 {
			continue
		}
		ns := int64(part.times * median * 1e9)
		if err := h.RecordValues(min(ns, 120e9), c); err != nil {
			t.Fatal(err)
		}
		left -= c
		lo, hi, sum = min(lo, ns), max(hi, ns), sum+float64(c)*float64(ns)
	}
	e, err := result.EncodeHistogram(step, outcome, kind, h, lo, sum/float64(n), hi)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// figures are what a synthetic subject does at concurrency 50 on a quiet machine.
type figures struct {
	name                 string
	conns                int // 0: as many as the concurrency
	rate, server, client float64
	store                float64 // 0: none of its own
	rss, sent, received  float64
	latency              float64
	differences          []string
	unchecked            string
}

var (
	grpc   = figures{"grpc", 1, 30000, 24e-6, 22e-6, 9e-6, 31e6, 121, 98, 1.5e-3, nil, ""}
	thrift = figures{"thrift", 0, 42000, 15e-6, 13e-6, 9.1e-6, 22e6, 150, 84, 1.1e-3, nil, ""}
	http   = figures{"http", 0, 30200, 19e-6, 17e-6, 9e-6, 27e6, 310, 260, 1.48e-3, nil, ""}
)

// trial is a round of a subject. The machine slows down to half over ten rounds, and each figure has noise of a few percent that is the
// same in every run of the tests.
func (f figures) trial(t testing.TB, concurrency, round int, store string) result.Trial {
	t.Helper()
	noise := func(k int) float64 {
		name := fnv.New64a()
		name.Write([]byte(f.name))
		return 1 + 0.03*(2*rand.New(rand.NewPCG(name.Sum64(), uint64(1000*concurrency+100*round+k))).Float64()-1)
	}
	slow := 1 + 0.1*float64(round-1)
	level := 1 + 0.0002*float64(concurrency-50)
	rate := f.rate / slow / level * noise(1)
	const window, elapsed = 2.0, 2.05
	n := uint64(rate * window)
	conns := f.conns
	if conns == 0 {
		conns = concurrency
	}
	tr := result.Trial{Subject: f.name, Workload: "datatype", Mode: "closed", Concurrency: concurrency, Conns: conns, Round: round, Seed: uint64(round),
		Store: store, Messages: 1, Started: time.Unix(1767366000+int64(60*round), 0).UTC(), Window: window, Elapsed: elapsed,
		Options:  json.RawMessage(`{"timeout":"5s"}`),
		Outcomes: result.Outcomes{Started: n + 3, OK: n, CutOff: 3},
		Values: map[string]float64{
			result.Throughput: rate, result.ServerCPUPerReq: f.server * slow * level * noise(2), result.ClientCPUPerReq: f.client * slow * level * noise(3),
			result.SentPerReq: f.sent, result.ReceivedPerReq: f.received, result.ServerRSS: f.rss * noise(5), result.ClientRSS: 25e6 * noise(6),
			result.ServerSwitches: 0.8 * noise(7), result.ClientSwitches: 0.9 * noise(8), result.Dials: 0,
		},
		Histograms: []result.Histogram{times(t, "datatype", result.OutcomeOK, result.TimeResponse, int64(n), f.latency*slow*float64(concurrency)/50*noise(9))},
	}
	tr.Values[result.ServerCPU] = tr.Values[result.ServerCPUPerReq] * float64(n)
	tr.Values[result.ClientCPU] = tr.Values[result.ClientCPUPerReq] * float64(n)
	if f.store > 0 && store != "memory" {
		tr.Values[result.StoreCPUPerReq] = f.store * slow * noise(4)
		tr.Values[result.StoreCPU] = tr.Values[result.StoreCPUPerReq] * float64(n)
		tr.Values[result.StoreRSS] = 18e6
	}
	return tr
}

func header(experiment string, planned int, subjects ...figures) result.Header {
	h := result.Header{Version: "v0.1.0", Experiment: experiment, Started: time.Unix(1767366000, 0).UTC(), Command: []string{"bakeoff", "run", experiment}, Seed: 42,
		Planned: planned, Settings: json.RawMessage(`{"concurrency":[50,800],"duration":"2s"}`),
		Env: result.Environment{CPUModel: "Example CPU 3000", CPUs: 2, Kernel: "6.1.0", OS: "linux", Arch: "amd64", Go: "go1.26.8", GOMAXPROCS: 2,
			Modules: map[string]string{"google.golang.org/grpc": "v1.85.0"}}}
	for _, f := range subjects {
		h.Subjects = append(h.Subjects, result.Subject{Name: f.name, Doc: f.name + " as its users get it", Multiplexed: f.conns == 1,
			Conformant: f.differences == nil && f.unchecked == "", Differences: f.differences, Unchecked: f.unchecked})
	}
	return h
}

// synthetic are the runs behind the golden files.
var synthetic = []struct {
	name string
	make func(t testing.TB) (result.Header, []result.Trial)
	tail string // behind the last line
}{
	{name: "complete", make: func(t testing.TB) (result.Header, []result.Trial) {
		h := header("datatype", 60, grpc, thrift, http)
		h.Warnings = []result.Warning{{Kind: "shared_cpu", Text: "server, store and driver share 2 CPUs"}}
		var trials []result.Trial
		for round := 1; round <= 10; round++ {
			for _, c := range []int{50, 800} {
				for _, f := range []figures{http, grpc, thrift} {
					tr := f.trial(t, c, round, "aerospike://127.0.0.1:3000/test")
					if f.name == "thrift" && c == 800 && round != 4 {
						tr.Warnings = append(tr.Warnings, result.Warning{Kind: FlagDriverLimited, Text: fmt.Sprintf("the driver used %d %% of its CPUs", 90+round)})
					}
					if f.name == "http" && c == 800 && round%3 == 0 {
						n := uint64(10 * round)
						tr.Outcomes.OK -= n
						tr.Outcomes.Failed = map[string]uint64{"timeout": n - 1, "reset": 1}
						tr.Examples = []result.Example{{Class: "timeout", Message: "POST /v1/datatype: i/o timeout\nafter 5s", Count: n - 1}}
						tr.Histograms[0] = times(t, "datatype", result.OutcomeOK, result.TimeResponse, int64(tr.Outcomes.OK), 25e-3)
						tr.Histograms = append(tr.Histograms, times(t, "datatype", "timeout", result.TimeResponse, int64(n), 5))
					}
					trials = append(trials, tr)
				}
			}
		}
		return h, trials
	}},
	{name: "interrupted", tail: `{"kind":"bakeoff-trial","subject":"grpc","wor`, make: func(t testing.TB) (result.Header, []result.Trial) {
		wide, odd := grpc, http
		wide.name, wide.conns = "語音接通", 2
		odd.name, odd.differences = "http|odd", []string{"unicode: want \"語音接通\", got \"????\"", "empty: want not_found, got ok"}
		h := header("datatype", 30, thrift, wide, odd)
		h.Baseline = "thrift"
		var trials []result.Trial
		for round := 1; round <= 4; round++ {
			for _, f := range []figures{thrift, wide, odd} {
				tr := f.trial(t, 50, round, "memory")
				if f.name == wide.name && round == 3 {
					tr = result.Trial{Subject: f.name, Workload: "datatype", Concurrency: 50, Round: round, Error: "the server died: exit status 2; its last words: panic: <b>boom</b>\ngoroutine 1"}
				}
				trials = append(trials, tr)
			}
		}
		return h, trials
	}},
	{name: "single", make: func(t testing.TB) (result.Header, []result.Trial) {
		slow := grpc
		slow.rate = 900 // too few calls for a p99.9
		return header("datatype", 2, slow, thrift), []result.Trial{slow.trial(t, 50, 1, "memory"), thrift.trial(t, 50, 1, "memory")}
	}},
	{name: "steps", make: func(t testing.TB) (result.Header, []result.Trial) {
		h := header("levels", 12, grpc, http)
		var trials []result.Trial
		for round := 1; round <= 6; round++ {
			for _, f := range []figures{grpc, http} {
				tr := f.trial(t, 20, round, "memory")
				tr.Workload, tr.Mode = "levels", "open"
				n, median := int64(tr.Outcomes.OK), f.latency*(1+0.01*float64(round))
				tr.Histograms = nil
				for _, step := range []string{"login", "verification"} {
					tr.Histograms = append(tr.Histograms, times(t, step, result.OutcomeOK, result.TimeResponse, n/2, median*1.5),
						times(t, step, result.OutcomeOK, result.TimeService, n/2, median))
				}
				tr.Outcomes.Dropped = 7
				tr.Rate, tr.Arrivals = "30000", "poisson"
				tr.Values[result.TargetRate], tr.Values[result.AchievedRate] = 30003.5, 30000
				tr.Values[result.LatenessP50], tr.Values[result.LatenessP99], tr.Values[result.LatenessMax] = 21e-6, 90e-6, 1.2e-3
				tr.Values[result.InFlight] = 14
				trials = append(trials, tr)
			}
		}
		return h, trials
	}},
	{name: "failures", make: func(t testing.TB) (result.Header, []result.Trial) {
		unchecked, lost := thrift, grpc
		unchecked.name, unchecked.unchecked = "thrift-tuned", "server thrift-tuned exited (signal: killed)"
		lost.name = "grpc-tuned"
		h := header("datatype", 24, grpc, lost, http, unchecked)
		var trials []result.Trial
		for round := 1; round <= 6; round++ {
			for _, f := range []figures{grpc, lost, http, unchecked} {
				tr := f.trial(t, 50, round, "memory")
				switch {
				case f.name == http.name: // far more are due than it can do
					tr.Outcomes.Dropped = 900
					tr.Warnings = []result.Warning{{Kind: result.WarnDropped, Text: "900 calls were due and never started"}, {Kind: "stolen_cpu", Text: "3 % of the CPU"}}
				case f.name == grpc.name:
					tr.Outcomes.OK -= 40
					tr.Outcomes.Failed = map[string]uint64{"unavailable": 30, "timeout": 10}
					tr.Examples = []result.Example{{Class: "unavailable", Message: "connection <reset> by peer", Count: 30}, {Class: "timeout", Message: "deadline of 5s", Count: 10}}
					tr.Histograms[0] = times(t, "datatype", result.OutcomeOK, result.TimeResponse, int64(tr.Outcomes.OK), 1.6e-3)
				case f.name == lost.name && round < 3: // nothing comes back
					tr = result.Trial{Subject: f.name, Workload: "datatype", Mode: "closed", Concurrency: 50, Conns: 1, Round: round, Store: "memory", Error: "the driver died"}
				case f.name == lost.name:
					tr.Outcomes = result.Outcomes{Started: 50, Failed: map[string]uint64{"unavailable": 50}}
					tr.Values = map[string]float64{result.Throughput: 0}
					tr.Histograms = nil
				}
				trials = append(trials, tr)
			}
		}
		return h, trials
	}},
	{name: "drifting", make: func(t testing.TB) (result.Header, []result.Trial) { // one round of thrift's drifts, and all but one of http's
		var trials []result.Trial
		for round := 1; round <= 6; round++ {
			for _, f := range []figures{grpc, thrift, http} {
				tr := f.trial(t, 50, round, "aerospike://127.0.0.1:3000/test")
				rise := 0.0
				if drifts := map[string][]int{thrift.name: {4}, http.name: {1, 2, 3, 5, 6}}; slices.Contains(drifts[f.name], round) {
					rise = 0.02 // a slice
					tr.Warnings = []result.Warning{{Kind: result.WarnDrift, Text: "over the window throughput rose by 18 % (Mann-Kendall over 10 slices, p = 8.3e-05)"}}
				}
				for i := range 10 {
					share := (1 + rise*(float64(i)-4.5)) / 10
					sl := result.Slice{OK: uint64(share * float64(tr.Outcomes.OK)), Mean: f.latency * 1e9 / share / 10}
					if f.name != thrift.name || round != 3 { // there no clock could be read
						sl.CPU = map[string]float64{"server": tr.Values[result.ServerCPU] / 10, "client": tr.Values[result.ClientCPU] / 10}
						if f.name != grpc.name { // whose store ran already, and tells nothing
							sl.CPU["store"] = tr.Values[result.StoreCPU] / 10
						}
					}
					tr.Slices = append(tr.Slices, sl)
				}
				trials = append(trials, tr)
			}
		}
		return header("datatype", 18, grpc, thrift, http), trials
	}},
	{name: "empty", make: func(testing.TB) (result.Header, []result.Trial) { return header("datatype", 30, grpc, thrift), nil }},
}

// write makes the result files in testdata anew.
func write(t testing.TB) {
	for _, s := range synthetic {
		h, trials := s.make(t)
		path := filepath.Join("testdata", s.name+".jsonl")
		w, err := result.Create(path, h, true)
		if err != nil {
			t.Fatal(err)
		}
		for i, tr := range trials {
			tr.Order = i + 1
			if err := w.Append(tr); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(s.tail); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
