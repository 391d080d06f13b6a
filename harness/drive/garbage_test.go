package drive

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestPercentFor(t *testing.T) {
	const mib = 1 << 20
	for _, row := range []struct {
		name                 string
		percent, client, own uint64
		want                 uint64
	}{
		{"nothing of our own", 100, mib, 0, 100},
		{"goal max(4, 1+1) + 0.5 = 4.5 MiB = 4 x 112.5 %", 100, mib, mib / 2, 113},
		{"GOGC=400: goal max(16, 1+4) + 0.5 = 16.5 MiB = 4 x 412.5 %", 400, mib, mib / 2, 413},
		{"GOGC=50: goal max(2, 1+0.5) + 1 = 3 MiB: 75 % of 4 below 2 x (1 + 50 %)", 50, mib, mib, 50},
		{"a large client: goal max(4, 10+10) + 1 = 21 MiB = 11 + 91 %", 100, 10 * mib, mib, 91},
		{"off", math.MaxUint64, mib, mib, math.MaxUint64},
		{"unknown", 0, mib, mib, 0},
	} {
		if got := percentFor(row.percent, row.client, row.own); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

// TestGarbageIsPutBack where a driver shares its process.
func TestGarbageIsPutBack(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(90))
	g := findGarbage()
	held := make([]byte, 2<<20)
	g.made()
	if own := float64(g.own); own < 1.9*(1<<20) || own > 2.5*(1<<20) { // other tests leave something to be collected late
		t.Errorf("%d bytes are taken for our own, of 2 MiB", g.own)
	}
	g.collect()
	got, want := read("/gc/gogc:percent"), percentFor(90, g.before, g.own)
	if math.Abs(float64(got)-float64(want)) > 5 {
		t.Errorf("GOGC is %d while 2 MiB of our own are held beside %d bytes, want about %d", got, g.before, want)
	}
	held[0] = 1
	g.restore()
	if p := read("/gc/gogc:percent"); p != 90 {
		t.Errorf("GOGC is %d afterwards, was 90", p)
	}
}
