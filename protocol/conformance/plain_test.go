package conformance

import (
	"slices"
	"testing"
)

// TestPlainIsWhatNeedsNoProbe: a server without Probe passes the Plain vectors and no others.
func TestPlainIsWhatNeedsNoProbe(t *testing.T) {
	p, addr := serveLocal(t, rules(t))
	if Probed(t.Context(), p, addr) {
		t.Error("a server without Probe is taken for one with it")
	}
	if found, err := RunPlain(t.Context(), p, addr); len(found) > 0 || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	for _, v := range Vectors {
		plain := slices.ContainsFunc(Plain, func(o Vector) bool { return o.Name == v.Name })
		if v.Name == "token-refused" {
			continue // it needs no Probe, but a server with auth
		}
		if err := Check(t.Context(), p, addr, v); (err == nil) != plain {
			t.Errorf("vector %q, plain: %t: %v", v.Name, plain, err)
		}
	}
	p, addr = serveLocal(t, Probe(rules(t)))
	if !Probed(t.Context(), p, addr) {
		t.Error("a server with Probe is taken for one without")
	}
	// A fault that shows in answers is found without Probe, too.
	for _, f := range faults {
		if !slices.Contains(f.caughtBy, "miss") {
			continue
		}
		p, addr := serveLocal(t, rules(t))
		p.Dial = f.plant(p.Dial)
		if found, err := RunPlain(t.Context(), p, addr); len(found) == 0 || err != nil {
			t.Errorf("%s: %v, %v", f.name, found, err)
		}
	}
}
