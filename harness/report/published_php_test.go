package report

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestGatewayBounds: what was published without an interval holds from half to one and a half times the difference, and never from nothing.
func TestGatewayBounds(t *testing.T) {
	of := map[string]float64{"front-grpc": 28, "front-http-idle2": 11, "front-http": 11, "http": 74, "front-grpc-close": 17, "front-http-idle2-close": 8, "http-close": 20,
		"php": 16, "php-http": 6.8, "php-http-dial": 6.8, "php-grpc": 3.5, "php-close": 16, "php-http-close": 6.8, "php-http-dial-close": 6.8, "php-grpc-close": 3.5}
	for _, c := range slices.Concat(gatewayClaims, phpClaims) {
		for _, r := range c.Ratios {
			change := of[r.Of.Subject]/of[r.To.Subject] - 1
			if math.IsNaN(change) || math.IsInf(change, 0) {
				t.Errorf("%s: it is not known what was published of %s and %s", c.Words, r.Of.Subject, r.To.Subject)
				continue
			}
			ends := []float64{max(1+change/2, 0.01), max(1+1.5*change, 0.01)}
			slices.Sort(ends)
			if math.Abs(c.Low-ends[0]) > 0.01 || math.Abs(c.High-ends[1]) > 0.01 {
				t.Errorf("%s: it holds from %v to %v, want %.3f to %.3f", c.Words, c.Low, c.High, ends[0], ends[1])
			}
		}
	}
}

// TestClaimsOfPHP: of a run with its own rows those claims are judged that are about them, each against its own front.
func TestClaimsOfPHP(t *testing.T) {
	row := func(subject string, rate float64) Row {
		return madeUp(subject, 50, "datatype", "throughput", slices.Repeat([]float64{rate}, 6)...)
	}
	own := []Row{row("php", 58000), row("php-http", 11000), row("php-http-dial", 4800), row("php-grpc", 6300)}
	dialling := []Row{row("http-close", 6800), row("php-close", 6000), row("php-http-close", 3000), row("php-http-dial-close", 2900), row("php-grpc-close", 1500)}
	for name, c := range map[string]struct {
		rows []Row
		want []string // of each verdict
	}{
		"clients that keep their connections": {own, []string{
			"Here that holds: throughput: php-grpc @ 50 to php-http @ 50 -43%",
			"Here that does not hold: throughput: php-grpc @ 50 to php-http-dial @ 50 +31%",
			"Here that holds: throughput: php-grpc @ 50 to php @ 50 -89%",
			"Here that holds: throughput: php-http @ 50 to php @ 50 -81%",
		}},
		"clients that dial": {dialling, []string{
			"Here that holds: throughput: php-grpc-close @ 50 to php-http-close @ 50 -50%",
			"Here that holds: throughput: php-grpc-close @ 50 to php-http-dial-close @ 50 -48%",
			"Here that holds: throughput: php-grpc-close @ 50 to php-close @ 50 -75%",
			"Here that holds: throughput: php-http-close @ 50 to php-close @ 50 -50%",
			"Here that holds: throughput: php-close @ 50 to http-close @ 50 -12%",
		}},
		"no backend over HTTP": {own[:1], nil},
		"over gRPC alone":      {[]Row{own[0], own[3]}, []string{"Here that holds: throughput: php-grpc @ 50 to php @ 50 -89%"}},
	} {
		tables := Tables{Experiment: "gateway", Rows: c.rows}
		tables.publish()
		if len(tables.Words) != len(c.want) {
			t.Errorf("%s: %d claims are judged, want %d:\n%s", name, len(tables.Words), len(c.want), strings.Join(tables.Words, "\n"))
			continue
		}
		for _, want := range c.want {
			if !slices.ContainsFunc(tables.Words, func(s string) bool { return strings.Contains(s, want) }) {
				t.Errorf("%s: %q is in none of:\n%s", name, want, strings.Join(tables.Words, "\n"))
			}
		}
	}
}
