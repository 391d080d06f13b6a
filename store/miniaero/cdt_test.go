package miniaero

import (
	"math"
	"testing"
)

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		index, count int64
		n            int
		from, to     int
	}{
		{0, 2, 5, 0, 2},
		{3, 9, 5, 3, 5},  // 9 are wanted, 5-3 = 2 are there
		{5, 1, 5, 0, 0},  // behind the end
		{-2, 2, 5, 3, 5}, // 5-2 = 3
		{-2, 1, 5, 3, 4},
		{-7, 3, 5, 0, 1}, // starts 2 before the first: 3-2 = 1 is left
		{-7, 2, 5, 0, 0},
		{0, 0, 5, 0, 0},
		{0, -1, 5, 0, 0},
		{0, math.MaxInt64, 5, 0, 5},
		{math.MinInt64, math.MaxInt64, 5, 0, 4}, // (2^63-1) - 2^63 + 5
		{math.MinInt64, math.MinInt64, 5, 0, 0},
		{math.MaxInt64, math.MaxInt64, 5, 0, 0},
		{0, 1, 0, 0, 0},
	} {
		if from, to := span(c.index, c.count, c.n); from != c.from || to != c.to {
			t.Errorf("%d from %d of %d: %d to %d, want %d to %d", c.count, c.index, c.n, from, to, c.from, c.to)
		}
	}
}

// TestOrder: nothing < booleans < numbers < text < lists < maps < blobs < floats, and by value within each.
func TestOrder(t *testing.T) {
	blob := func(b ...byte) []byte { return encodeRaw(typeBlob, b) }
	text := func(s string) []byte { return encodeRaw(typeString, []byte(s)) }
	ascending := [][]byte{
		{0xC0}, {0xC2}, {0xC3},
		encodeInt(math.MinInt64), encodeInt(-40_000), encodeInt(-200), encodeInt(-33), encodeInt(-1), encodeInt(0), encodeInt(127), encodeInt(128),
		encodeInt(300), encodeInt(70_000), encodeInt(math.MaxInt64),
		text(""), text("a"), text("ab"), text("b"),
		{0x90}, {0x91, 1}, {0x92, 1, 1}, {0x91, 2},
		{0x80}, {0x81, 1, 1}, {0x81, 1, 2}, {0x81, 2, 0}, {0x82, 1, 1, 2, 1},
		blob(), blob(0), blob(1),
		encodeFloat(math.Inf(-1)), encodeFloat(-1.5), encodeFloat(0), {0xCA, 0x3F, 0x80, 0, 0}, encodeFloat(2),
	}
	for i := range ascending {
		for j := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := compare(ascending[i], ascending[j]); got != want {
				t.Errorf("% x against % x: %d, want %d", ascending[i], ascending[j], got, want)
			}
		}
	}
	if compare([]byte{0xCC, 7}, []byte{7}) != 0 || plainKey([]byte{0xCC, 7}) != plainKey([]byte{7}) {
		t.Error("a number is the same in one byte and in two")
	}
}

func TestInts(t *testing.T) {
	for _, n := range []int64{0, 1, 127, 128, 255, 256, 65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64, -1, -32, -33, -128, -129, -32768, -32769, math.MinInt32, math.MinInt32 - 1, math.MinInt64} {
		if got, ok := decodeInt(encodeInt(n)); !ok || got != n {
			t.Errorf("%d became %d", n, got)
		}
	}
}

func TestDepth(t *testing.T) {
	nested := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = 0x91
		}
		return append(b, 0xC0)
	}
	if b := nested(maxDepth - 1); valueLength(b) != len(b) {
		t.Errorf("%d deep is refused", maxDepth-1)
	}
	if valueLength(nested(maxDepth)) != 0 {
		t.Errorf("%d deep is taken", maxDepth)
	}
}

// TestLargeMaps: an unordered map that is large enough to be indexed behaves as a small one.
func TestLargeMaps(t *testing.T) {
	for _, flags := range []byte{0, mapKeyOrdered} {
		m := &mapping{}
		m.order(flags)
		var pairs []pair
		for i := range int64(1000) {
			pairs = append(pairs, pair{encodeInt((i * 7) % 1000), encodeInt(i)}) // 7 and 1000 have no common factor
		}
		m.putAll(pairs[:500])
		m.putAll(pairs)
		m.put(encodeInt(7), encodeInt(-1))
		if len(m.pairs) != 1000 {
			t.Fatalf("flags %d: %d pairs, want 1000", flags, len(m.pairs))
		}
		again, ok := parseMap(m.encode())
		if !ok {
			t.Fatal("it does not come out as a map")
		}
		for i := range int64(1000) {
			want := i
			if i == 1 {
				want = -1 // key 7
			}
			at, ok := again.find(encodeInt((i * 7) % 1000))
			if got, _ := decodeInt(again.pairs[at].value); !ok || got != want {
				t.Fatalf("flags %d: value of key %d: %d, %t, want %d", flags, i*7%1000, got, ok, want)
			}
		}
	}
}

func TestGenerationWraps(t *testing.T) {
	for old, want := range map[uint16]uint16{1: 2, 65534: 65535, 65535: 1} {
		if got := nextGeneration(old); got != want {
			t.Errorf("after %d comes %d, want %d", old, got, want)
		}
	}
}
