package suite

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"bakeoff/protocol"
	"bakeoff/protocol/conformance"
	"bakeoff/protocol/conformance/conformancetest"
	"bakeoff/service"
)

// needPHP skips a test where a subject of PHP can't run, unless the environment says that it must.
func needPHP(t *testing.T) {
	t.Helper()
	if err := PHP[0].Missing(t.Context()); err != nil {
		if os.Getenv("REQUIRE_PHP") != "" {
			t.Fatalf("REQUIRE_PHP is set: %v", err)
		}
		t.Skipf("skipped: %v", err)
	}
}

// TestConformanceOfPHP holds the subjects in PHP to what all do alike, as far as they have the calls, under each of their options.
func TestConformanceOfPHP(t *testing.T) {
	needPHP(t)
	with := func(name string, knobs map[string]string) protocol.Protocol {
		p, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Name += fmt.Sprint(" ", knobs)
		p.Tuning.Knobs = maps.Clone(knobs)
		return p
	}
	all := slices.Clone(PHP)
	for _, name := range []string{"php-http", "php-grpc"} {
		all = append(all, with(name, map[string]string{"backend-reuse": "off"}), with(name, map[string]string{"keep-alive": "off", "workers": "8"}))
	}
	for _, p := range all {
		t.Run(p.Name, func(t *testing.T) { conformancetest.Test(t, p, dateClock) })
	}
}

// TestPartsOfPHP: the subjects in PHP are asked for what they have, and for no more.
func TestPartsOfPHP(t *testing.T) {
	for _, p := range PHP {
		vectors := conformance.Asked(p, conformance.Vectors)
		if hop := p.Backend != nil; hop != p.Has(service.CallLogin) || !p.Has(service.CallKnown) || p.Has(service.CallEcho) || hop && len(vectors) < 25 || len(vectors) == 0 {
			t.Errorf("%s has the calls %v, and %d vectors", p.Name, p.Calls, len(vectors))
		}
		if err := p.Check(p.Options(50, 0)); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		for knob, value := range map[string]string{"workers": "0", "backend-reuse": "sometimes", "backend-timeout": "1us", "codec": "fast", "keep-alive": "maybe"} {
			o := p.Options(50, 0)
			o.Knobs = map[string]string{knob: value}
			if err := p.Check(o); err == nil || !strings.Contains(err.Error(), knob) {
				t.Errorf("%s: %s=%s: got %v", p.Name, knob, value, err)
			}
		}
		o := p.Options(50, 0)
		o.TLS = &protocol.TLS{}
		if err := p.Check(o); err == nil || !strings.Contains(err.Error(), "no TLS") {
			t.Errorf("%s over TLS: got %v", p.Name, err)
		}
	}
}
