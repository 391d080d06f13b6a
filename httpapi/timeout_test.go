package httpapi_test

import (
	"math"
	"testing"
	"time"

	"bakeoff/httpapi"
)

func TestTimeouts(t *testing.T) {
	for _, row := range []struct {
		d    time.Duration
		text string
		back time.Duration
	}{
		{50 * time.Millisecond, "50000000n", 50 * time.Millisecond},
		{99_999_999, "99999999n", 99_999_999},
		{100_000_000, "100000u", 100 * time.Millisecond},
		{100_000_001, "100001u", 100_001 * time.Microsecond}, // rounded up
		{10 * time.Second, "10000000u", 10 * time.Second},
		{time.Hour, "3600000m", time.Hour},
		{48 * time.Hour, "172800S", 48 * time.Hour / 1000 * 1000},
		{math.MaxInt64, "2562048H", math.MaxInt64},
		{0, "1n", 1},
		{-5, "1n", 1},
	} {
		text := httpapi.AppendTimeout([]byte("x"), row.d)[1:]
		if back, ok := httpapi.ParseTimeout(text); !ok || back != row.back || back < row.d || (row.text != string(text) && row.d < 48*time.Hour) {
			t.Errorf("%v: got %s, and from that %v, %v; want %s and %v", row.d, text, back, ok, row.text, row.back)
		}
	}
	for _, text := range []string{"", "5", "m", "-5m", "+5m", "5 m", "5.5S", "5s", "5M5", "123456789n", "½H"} {
		if d, ok := httpapi.ParseTimeout([]byte(text)); ok {
			t.Errorf("%q: got %v, want it refused", text, d)
		}
	}
}

func FuzzTimeout(f *testing.F) {
	for _, text := range []string{"50m", "1H", "99999999H", "0n", "m", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		d, ok := httpapi.ParseTimeout(in)
		if !ok {
			return
		}
		if d < 0 {
			t.Fatalf("%q is %v", in, d)
		}
		again, ok := httpapi.ParseTimeout(httpapi.AppendTimeout(nil, d))
		if !ok || again < d {
			t.Fatalf("%q is %v, which written and read again is %v, %v", in, d, again, ok)
		}
	})
}
