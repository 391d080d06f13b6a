package suite

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"bakeoff/protocol/conformance/conformancetest"
)

// dateClock is the goroutine of fasthttp that writes the Date header, started by the process's first server for good.
var dateClock = goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, dateClock) }

// TestConformance holds every contestant to the same vectors: this is where a new protocol hears what is wrong.
func TestConformance(t *testing.T) {
	for _, p := range All {
		t.Run(p.Name, func(t *testing.T) { conformancetest.Test(t, p, dateClock) })
	}
}

func TestNamesAreUniqueAndFound(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All {
		if seen[p.Name] || p.Name == "" || p.Doc == "" {
			t.Errorf("%q: a name stands once, and with a Doc (%q)", p.Name, p.Doc)
		}
		seen[p.Name] = true
		if got, err := Find(p.Name); err != nil || got.Name != p.Name {
			t.Errorf("Find(%q) = %q, %v", p.Name, got.Name, err)
		}
	}
}

// TestTunedKnobsExist keeps the Doc of a tuned subject honest: its knobs exist, and GOGC is named where it is set.
func TestTunedKnobsExist(t *testing.T) {
	for _, p := range All {
		if err := p.Check(p.Options(50, 0)); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		o := p.Options(50, 0)
		o.Knobs = map[string]string{"no-such-knob": "1"}
		if err := p.Check(o); err == nil || !strings.Contains(err.Error(), "no-such-knob") {
			t.Errorf("%s: Check of an unknown knob: %v", p.Name, err)
		}
		if p.Tuning.GCPercent != 0 && !strings.Contains(p.Doc, "GOGC=") {
			t.Errorf("%s sets GOGC and does not say so: %q", p.Name, p.Doc)
		}
	}
}

func TestFindSuggests(t *testing.T) {
	_, err := Find("grcp")
	if err == nil || !strings.Contains(err.Error(), `did you mean "grpc"`) || !strings.Contains(err.Error(), "thrift-tuned") {
		t.Errorf("Find(grcp): %v", err)
	}
}

func TestConnectionsAreWhatUsersOpen(t *testing.T) {
	for _, c := range []struct {
		subject  string
		inFlight int
		want     int
	}{
		{"grpc", 50, 1}, {"grpc", 800, 1}, {"grpc-tuned", 50, 1}, {"grpc-tuned", 800, 4},
		{"thrift", 50, 50}, {"thrift-tuned", 800, 800}, {"connect", 800, 1}, {"grpc-gateway", 800, 1}, {"http", 50, 50}, {"http-tuned", 1, 1},
		{"http-std", 50, 50}, {"http2", 800, 1}, {"grpc-http", 800, 1},
	} {
		p, err := Find(c.subject)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Options(c.inFlight, 0).Conns; got != c.want {
			t.Errorf("%s with %d in flight: %d connections, want %d", c.subject, c.inFlight, got, c.want)
		}
	}
}
