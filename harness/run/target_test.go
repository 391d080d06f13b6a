package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"bakeoff/harness/control"
	"bakeoff/harness/meter"
	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// answering is a server that the run did not start: it answers the fake driver's call.
func answering(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, ".")
			defer c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String()
}

// scripted gives one reading after another.
func scripted(steps ...any) Meter {
	return func(ctx context.Context) (Remote, error) {
		if len(steps) == 0 {
			return Remote{}, errors.New("asked too often")
		}
		step := steps[0]
		steps = steps[1:]
		switch s := step.(type) {
		case Remote:
			return s, nil
		case error:
			return Remote{}, s
		}
		<-ctx.Done()
		return Remote{}, ctx.Err()
	}
}

// at is a reading of process pid after so many seconds, with so much CPU in milliseconds.
func at(pid int, s float64, cpuMs int, counters map[string]int64) Remote {
	peak := uint64(5 << 20)
	return Remote{Reading: meter.Reading{PID: pid, At: time.Unix(0, 0).Add(time.Duration(s * 1e9)), CPU: time.Duration(cpuMs) * time.Millisecond, RSSPeak: &peak,
		Voluntary: new(uint64(cpuMs)), Involuntary: new(uint64(0))}, Counters: counters}
}

func calls(n int64) map[string]int64 { return map[string]int64{control.Calls: n} }

func withTarget(t *testing.T, target Target) Config {
	c := fakeConfig(executable(t), "")
	c.Server, c.CountCalls = nil, true
	target.Addr = answering(t)
	c.Target = func(plan.Trial) Target { return target }
	return c
}

func warned(tr result.Trial, kind string) string {
	if i := slices.IndexFunc(tr.Warnings, func(w result.Warning) bool { return w.Kind == kind }); i >= 0 {
		return tr.Warnings[i].Text
	}
	return ""
}

// A target's figures come from its meter at the edges of the window; it is neither started nor pinned.
func TestTarget(t *testing.T) {
	throttled := at(7, 12, 1200, calls(1000+endedCalls))
	throttled.Throttled = &meter.Throttled{Periods: 5, Time: 30 * time.Millisecond}
	first := at(7, 10, 1000, calls(1000))
	first.Throttled = &meter.Throttled{Periods: 2, Time: 10 * time.Millisecond}
	c := withTarget(t, Target{Meter: scripted(first, throttled), CPUs: 4, Here: true})
	c.Prepare = func(_ plan.Trial, out *result.Trial) { out.Store = "what the target says" }
	tr := one(t, c, "a")
	for name, want := range map[string]float64{
		result.ServerCPU: 0.2, result.ServerCPUPerReq: 0.2 / endedCalls, result.ServerRSS: 5 << 20, result.ServerSwitches: 200.0 / endedCalls,
		result.ServerCalls: endedCalls,
	} {
		if got, ok := tr.Values[name]; !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s = %v (known: %t), want %v", name, got, ok, want)
		}
	}
	if tr.Values[result.ClientCPU] < 0.020 || tr.Elapsed < 0.020 || tr.Elapsed > 60 {
		t.Errorf("the driver's CPU is %v, elapsed %v; it burns 20 ms", tr.Values[result.ClientCPU], tr.Elapsed)
	}
	if _, ok := tr.CPUSets[Server]; ok || len(tr.CPUSets) > 1 {
		t.Errorf("CPU sets %v, want the driver's alone", tr.CPUSets)
	}
	if tr.Store != "what the target says" {
		t.Errorf("store %q", tr.Store)
	}
	for kind, part := range map[string]string{
		result.WarnNotRestarted: "not restarted between rounds", "shared_cpu": "on this machine",
		"throttled": "the server's CPU quota ran out in 3 periods and held threads up for 20ms",
	} {
		if got := warned(tr, kind); !strings.Contains(got, part) {
			t.Errorf("warning %s is %q, want %q", kind, got, part)
		}
	}
	for _, kind := range []string{result.WarnMeterLost, result.WarnServerCount} {
		if got := warned(tr, kind); got != "" {
			t.Errorf("warning %s: %q", kind, got)
		}
	}
}

// Who used next to nothing while calls were answered is not the one that answered them.
func TestIdle(t *testing.T) {
	for _, row := range []struct {
		cpu      time.Duration
		answered uint64
		want     bool
	}{
		{0, 31_647, true}, {0, 10_000, false}, {50 * time.Millisecond, 1_000_000, true}, {3 * time.Second, 1_000_000, false}, {0, 0, false},
	} {
		if got := idle(row.cpu, row.answered); got != row.want {
			t.Errorf("%v for %d calls: %t, want %t", row.cpu, row.answered, got, row.want)
		}
	}
}

// TestTargetOfAnother has a meter that reads a process which does nothing: its figures are not taken for the server's.
func TestTargetOfAnother(t *testing.T) {
	f := &family{runner: &runner{}, target: &Target{}}
	f.total.driver = &meter.Usage{Elapsed: time.Second}
	f.total.server = &meter.Usage{}
	tr := result.Trial{Outcomes: result.Outcomes{OK: 100_000}}
	f.evaluate(&tr)
	if _, known := tr.Values[result.ServerCPU]; known || !strings.Contains(warned(tr, result.WarnMeterLost), "used 0s of CPU while 100000 calls were answered") {
		t.Errorf("values %v, warnings %v", tr.Values, tr.Warnings)
	}
}

// What is not known of a target is absent, and takes nothing else with it.
func TestTargetUnknown(t *testing.T) {
	gone := errors.New("the meter is gone")
	hang := "hang"
	for _, row := range []struct {
		name  string
		meter Meter
		lost  string // "" for no warning
	}{
		{"no meter", nil, ""},
		{"fails before", scripted(gone, at(7, 2, 20, calls(9))), "the meter is gone"},
		{"fails after", scripted(at(7, 1, 10, calls(9)), gone), "the meter is gone"},
		{"fails twice", scripted(gone, errors.New("later")), "the meter is gone"},
		{"restarted", scripted(at(7, 1, 10, nil), at(8, 2, 20, nil)), "the server was restarted within the window, so that its CPU, memory and counts are unknown: meter: readings of two processes, 7 and 8"},
		{"restarted with the same id", scripted(at(1, 9, 90, nil), at(1, 2, 20, nil)), "the server, or what reads it, was restarted within the window"},
		{"silent", scripted(hang, at(7, 2, 20, nil)), "no answer within 5s"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			tr := one(t, withTarget(t, Target{Meter: row.meter}), "a")
			for _, name := range []string{result.ServerCPU, result.ServerCPUPerReq, result.ServerRSS, result.ServerSwitches} {
				if v, ok := tr.Values[name]; ok {
					t.Errorf("%s = %v, want unknown", name, v)
				}
			}
			if tr.Values[result.Throughput] != 47.5 || tr.Values[result.ClientCPU] < 0.020 {
				t.Errorf("the driver's figures are lost: %v", tr.Values)
			}
			got := warned(tr, result.WarnMeterLost)
			if (row.lost == "") != (got == "") || !strings.Contains(got, row.lost) {
				t.Errorf("warning %q, want %q", got, row.lost)
			}
			if warned(tr, "shared_cpu") != "" {
				t.Error("a target elsewhere shares no CPU")
			}
		})
	}
}

// A store that runs already has figures by its meter, and is compared where it counts.
func TestStoreMeter(t *testing.T) {
	reads := func(n int64) map[string]int64 { return map[string]int64{"read": n, "write": 3} }
	for _, row := range []struct {
		name    string
		after   Remote
		differs bool
	}{
		{"counts", at(7, 3, 60, reads(5+endedCalls)), false},
		{"counts too many", at(7, 3, 60, reads(5+2*endedCalls)), true},
		{"does not count", at(7, 3, 60, nil), false},
	} {
		c := fakeConfig(executable(t), "")
		c.StoreMeter = scripted(at(7, 1, 10, reads(5)), row.after)
		c.Asks = func(plan.Trial) map[string]float64 { return map[string]float64{"read": 1} }
		tr := one(t, c, "a")
		if got := tr.Values[result.StoreCPU]; math.Abs(got-0.050) > 1e-12 {
			t.Errorf("%s: store CPU %v, want 50 ms", row.name, got)
		}
		if got := tr.Values[result.StoreOps+"read"]; row.after.Counters != nil && got != float64(row.after.Counters["read"]-5) {
			t.Errorf("%s: %v reads", row.name, got)
		}
		if _, ok := tr.Values[result.ServerCPU]; !ok || warned(tr, result.WarnNotRestarted) != "" {
			t.Errorf("%s: the server is a process of the run: %v, %v", row.name, tr.Values, tr.Warnings)
		}
		if got := warned(tr, result.WarnStoreCount); (got != "") != row.differs {
			t.Errorf("%s: warning %q, want one: %t", row.name, got, row.differs)
		}
	}
}

// Counts begin anew with a process: those of a store that was restarted are compared with nothing.
func TestStoreMeterRestarted(t *testing.T) {
	reads := func(n int64) map[string]int64 { return map[string]int64{"read": n} }
	c := fakeConfig(executable(t), "")
	c.StoreMeter = scripted(at(7, 1, 10, reads(1000000)), at(8, 3, 60, reads(5)))
	c.Asks = func(plan.Trial) map[string]float64 { return map[string]float64{"read": 1} }
	tr := one(t, c, "a")
	if got := warned(tr, result.WarnStoreCount); got != "" {
		t.Errorf("warning %q", got)
	}
	if got := warned(tr, result.WarnMeterLost); !strings.Contains(got, "the store was restarted within the window") {
		t.Errorf("warning %q", got)
	}
	for _, name := range []string{result.StoreCPU, result.StoreOps + "read"} {
		if v, ok := tr.Values[name]; ok {
			t.Errorf("%s = %v, want unknown", name, v)
		}
	}
}

// A target that is not there fails its trial in the driver's words; the run goes on to the next.
func TestTargetRefuses(t *testing.T) {
	c := withTarget(t, Target{})
	good := c.Target
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	c.Target = func(tr plan.Trial) Target {
		if tr.Subject == "gone" {
			return Target{Addr: closed.Addr().String()}
		}
		return good(tr)
	}
	got, err := Run(t.Context(), c, trialsOf("gone", "a"))
	if err != nil || len(got) != 2 {
		t.Fatalf("%d trials, %v", len(got), err)
	}
	if !strings.Contains(got[0].Error, "refused") || got[1].Error != "" {
		t.Errorf("errors %q and %q", got[0].Error, got[1].Error)
	}
}

func TestNoServerAndNoTarget(t *testing.T) {
	c := fakeConfig(executable(t), "")
	c.Server = nil
	if _, err := Run(t.Context(), c, trialsOf("a")); err == nil {
		t.Error("a run without a server begins")
	}
}

// TestATargetThatAsksABackend: what nobody reads is told, and is not zero.
func TestATargetThatAsksABackend(t *testing.T) {
	for _, asks := range []bool{false, true} {
		c := fakeConfig(executable(t), "")
		addr := answering(t)
		c.Target = func(plan.Trial) Target { return Target{Addr: addr, Asks: asks} }
		tr := one(t, c, "a")
		if told := slices.ContainsFunc(tr.Warnings, func(w result.Warning) bool { return w.Kind == result.WarnBackendUnread }); told != asks {
			t.Errorf("asks %v: warnings %+v", asks, tr.Warnings)
		}
		if v, known := tr.Values[result.BackendCPU]; known {
			t.Errorf("asks %v: the CPU of the backend is %v", asks, v)
		}
	}
}
