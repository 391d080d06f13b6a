package suite

import (
	"maps"
	"testing"

	"bakeoff/protocol/conformance/conformancetest"
)

// TestConformanceOfFronts holds every front to what all subjects do alike: the hop shows in no answer.
func TestConformanceOfFronts(t *testing.T) {
	for _, p := range Fronts {
		t.Run(p.Name, func(t *testing.T) { conformancetest.Test(t, p, dateClock) })
	}
}

// TestConformanceOfConnections holds subjects that don't keep their connections to the same, on either side of a front.
func TestConformanceOfConnections(t *testing.T) {
	for _, row := range []struct {
		name, of string
		knobs    map[string]string
	}{
		{"http, no connection kept", "http", map[string]string{"keep-alive": "off"}},
		{"http, two idle ones kept", "http", map[string]string{"keep-alive": "2"}},
		{"a front, no connection kept on either side", "front-http", map[string]string{"keep-alive": "off", "backend-keep-alive": "off"}},
		{"a front over two idle ones", "front-http", map[string]string{"backend-keep-alive": "2"}},
		{"a front over two", "front-grpc", map[string]string{"backend-conns": "2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, err := Find(row.of)
			if err != nil {
				t.Fatal(err)
			}
			p.Tuning.Knobs = maps.Clone(row.knobs)
			conformancetest.Test(t, p, dateClock)
		})
	}
}
