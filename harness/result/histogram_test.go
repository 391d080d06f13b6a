package result

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// encode makes a histogram of times in nanoseconds, clamped to the histogram's range as a recorder does.
func encode(t testing.TB, times ...int64) Histogram {
	t.Helper()
	h := hdrhistogram.New(1, 120e9, 3)
	sum := 0.0
	for _, v := range times {
		if err := h.RecordValue(min(v, 120e9)); err != nil {
			t.Fatal(err)
		}
		sum += float64(v)
	}
	if len(times) == 0 {
		times = []int64{0}
	}
	e, err := EncodeHistogram("call", OutcomeOK, TimeResponse, h, slices.Min(times), sum/float64(max(h.TotalCount(), 1)), slices.Max(times))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func goodHistogram(t testing.TB) Histogram { return encode(t, 1000, 2000, 3000) }

func TestMergeIsTheUnion(t *testing.T) {
	a, b := []int64{1000, 1500, 900_000}, []int64{2_000_000, 7, 40_000_000_000, 1500}
	m, err := Merge(encode(t, a...), encode(t), encode(t, b...))
	if err != nil {
		t.Fatal(err)
	}
	all := append(slices.Clone(a), b...)
	one, err := Merge(encode(t, all...))
	if err != nil {
		t.Fatal(err)
	}
	// 7 + 1000 + 1500 + 1500 + 900000 + 2000000 + 40000000000 = 40002904007, over 7 = 5714700572.43
	if m.Count != 7 || m.Min != 7 || m.Max != 40_000_000_000 || math.Abs(m.Mean-5714700572.43) > 0.01 || m.Clamped {
		t.Errorf("merged: %+v", m)
	}
	slices.Sort(all)
	for i, exact := range all {
		q := (float64(i) + 0.5) / 7
		got, ok := m.Quantile(q)
		union, _ := one.Quantile(q)
		if !ok || got != union || math.Abs(float64(got-exact)) > 0.001*float64(exact) {
			t.Errorf("quantile %.3f = %d, of the union %d, want %d within 0.1 %%", q, got, union, exact)
		}
	}
}

func TestQuantileStaysBetweenMinAndMax(t *testing.T) {
	m, err := Merge(encode(t, 1_000_003, 1_000_005)) // one bucket: 999,936 to 1,000,447
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		q    float64
		want int64
	}{{-1, 1_000_003}, {0, 1_000_003}, {0.5, 1_000_005}, {1, 1_000_005}, {7, 1_000_005}} {
		if got, ok := m.Quantile(row.q); !ok || got != row.want {
			t.Errorf("quantile %g = %d, want %d", row.q, got, row.want)
		}
	}
	if _, ok := m.Quantile(math.NaN()); ok {
		t.Error("a quantile for NaN")
	}
	var none Merged
	if _, ok := none.Quantile(0.5); ok {
		t.Error("a quantile of no calls")
	}
}

func TestClampedIsSeen(t *testing.T) {
	for _, row := range []struct {
		longest int64
		want    bool
	}{{119e9, false}, {120e9, false}, {121e9, true}, {600e9, true}} {
		m, err := Merge(encode(t, 1000, row.longest))
		if err != nil || m.Clamped != row.want || m.Max != row.longest {
			t.Errorf("longest %d: clamped %v, max %d, %v", row.longest, m.Clamped, m.Max, err)
		}
	}
}

// raw builds an encoded histogram out of hostile parts.
func raw(digits int32, lowest, highest int64, payload []byte) string {
	var in, out bytes.Buffer
	z := zlib.NewWriter(&in)
	binary.Write(z, binary.BigEndian, []int32{hdrhistogram.V2EncodingCookieBase | 0x10, int32(len(payload)), 0, digits})
	binary.Write(z, binary.BigEndian, []int64{lowest, highest})
	binary.Write(z, binary.BigEndian, 1.0)
	z.Write(payload)
	z.Close()
	binary.Write(&out, binary.BigEndian, []int32{hdrhistogram.V2CompressedEncodingCookieBase | 0x10, int32(in.Len())})
	out.Write(in.Bytes())
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func TestDecodeRefuses(t *testing.T) {
	good := goodHistogram(t)
	for _, row := range []struct {
		name   string
		change func(*Histogram)
		want   string
	}{
		{"no data", func(h *Histogram) { h.Data = "" }, "too short"},
		{"not base64", func(h *Histogram) { h.Data = "!!!!" }, "no base64"},
		{"not compressed", func(h *Histogram) { h.Data = base64.StdEncoding.EncodeToString([]byte("a text of some length")) }, "compressed V2 form"},
		{"cut short", func(h *Histogram) { h.Data = h.Data[:24] }, "compressed V2 form"},
		{"huge data", func(h *Histogram) { h.Data = strings.Repeat("A", maxHistogramData+1) }, "want at most"},
		{"a geometry of 50 MB", func(h *Histogram) { h.Data = raw(5, 1, math.MaxInt64, nil) }, "want at most 3 digits"},
		{"a range of years", func(h *Histogram) { h.Data = raw(3, 1, math.MaxInt64, nil) }, "24 h"},
		{"a run of zeros beyond the end", func(h *Histogram) { h.Data = raw(3, 1, 1e9, []byte{0xff, 0xff, 0xff, 0xff, 0x7f}) }, "is damaged"},
		{"lost calls", func(h *Histogram) { h.Count = 4 }, "count says 4 calls, the data hold 3"},
		{"negative count", func(h *Histogram) { h.Count = -3 }, "count says -3"},
		{"mean over max", func(h *Histogram) { h.Mean = 4000 }, "not in order"},
		{"mean under min", func(h *Histogram) { h.Mean = 10 }, "not in order"},
		{"a call of three centuries", func(h *Histogram) { h.Max = math.MaxInt64 }, "want at most 1e15 of 1e18 ns"},
		{"an infinite mean", func(h *Histogram) { h.Mean = math.Inf(1) }, "want at most"},
		{"negative min", func(h *Histogram) { h.Min = -1 }, "not in order"},
	} {
		h := good
		row.change(&h)
		_, err := h.Decode()
		if err == nil || !strings.Contains(err.Error(), row.want) || !strings.HasPrefix(err.Error(), `histogram of step "call", ok: `) {
			t.Errorf("%s: got %v, want the step and %q", row.name, err, row.want)
		}
		if _, err := Merge(good, h); err == nil {
			t.Errorf("%s: merged", row.name)
		}
	}
	if _, err := good.Decode(); err != nil {
		t.Error(err)
	}
}

func TestMergeOfOtherRanges(t *testing.T) {
	small := Histogram{Outcome: OutcomeOK, Count: 1, Min: 1, Mean: 1, Max: 1, Data: raw(3, 1, 4096, []byte{0, 2})}
	big := encode(t, 5e9)
	if m, err := Merge(big, small); err != nil || m.Count != 2 || m.Min != 1 {
		t.Errorf("small into big: %+v, %v", m, err)
	}
	if _, err := Merge(small, big); err == nil || !strings.Contains(err.Error(), "1 calls lie beyond the range") {
		t.Errorf("big into small: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(goodHistogram(f).Data, int64(3))
	f.Add(raw(3, 1, 4096, []byte{0, 2}), int64(1))
	f.Add(raw(5, 1, math.MaxInt64, nil), int64(0))
	f.Add(raw(0, math.MinInt64, math.MinInt64, []byte{1, 2, 3}), int64(0))
	f.Add("", int64(0))
	f.Fuzz(func(t *testing.T, data string, count int64) {
		h := Histogram{Data: data, Count: count, Max: maxNs, Mean: 1}
		d, err := h.Decode()
		if err != nil {
			return
		}
		if d.ByteSize() > 2<<20 {
			t.Errorf("allocated %d bytes for %d bytes of data", d.ByteSize(), len(data))
		}
		m, err := Merge(h, h)
		if err != nil {
			return
		}
		last := int64(0)
		for _, q := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1} {
			v, ok := m.Quantile(q)
			if ok != (count > 0) || v < last {
				t.Errorf("quantile %g = %d after %d, ok %v of %d calls", q, v, last, ok, count)
			}
			last = v
		}
	})
}
