package result

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The values of Histogram.Outcome and Histogram.Time.
const (
	OutcomeOK    = "ok"
	TimeResponse = "response" // from the moment when the call was due
	TimeService  = "service"  // from the moment when it was sent
)

// Bounds on what Decode takes. The library checks its input but allocates what the input's geometry asks for, up to
// 50 MB for each histogram; ours need 150 kB.
const (
	maxHistogramData   = 4 << 20            // bytes of base64
	maxHistogramValue  = 24 * 60 * 60 * 1e9 // ns
	maxHistogramDigits = 3                  // significant decimal digits
	v2HeaderSize       = 40                 // bytes in front of the counts, compressed with them
	compressedPrefix   = 8                  // bytes: cookie and length, in front of the compressed part
)

// EncodeHistogram puts the times of one step and outcome into the file's form. min, mean and max are the exact ones,
// in nanoseconds, where the caller has them; h gives the count.
func EncodeHistogram(step, outcome, time string, h *hdrhistogram.Histogram, min int64, mean float64, max int64) (Histogram, error) {
	data, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return Histogram{}, fmt.Errorf("encode the histogram of step %q, %s: %w", step, outcome, err)
	}
	return Histogram{Step: step, Outcome: outcome, Time: time, Count: h.TotalCount(), Min: min, Mean: mean, Max: max, Data: string(data)}, nil
}

// Decode gives the histogram back, in nanoseconds. It bounds what a damaged or hostile file can make it allocate, and
// refuses one whose counts do not add up to Count.
func (h Histogram) Decode() (*hdrhistogram.Histogram, error) {
	d, err := h.decode()
	if err != nil {
		return nil, h.wrong(err)
	}
	return d, nil
}

func (h Histogram) wrong(err error) error {
	return fmt.Errorf("histogram of step %q, %s: %w", h.Step, h.Outcome, err)
}

func (h Histogram) decode() (*hdrhistogram.Histogram, error) {
	if h.Min > maxNs || h.Max > maxNs || h.Mean > maxNs || h.Count > maxNumber {
		return nil, fmt.Errorf("%d calls of %d to %d ns, %g in the mean: want at most %s of %s ns", h.Count, h.Min, h.Max, h.Mean, short(maxNumber), short(maxNs))
	}
	if len(h.Data) > maxHistogramData {
		return nil, fmt.Errorf("data of %d bytes: want at most %d", len(h.Data), maxHistogramData)
	}
	if err := checkGeometry(h.Data); err != nil {
		return nil, err
	}
	d, err := hdrhistogram.Decode([]byte(h.Data))
	if err != nil {
		return nil, &wordError{`"data" is damaged: no HdrHistogram can be made of it`, err} // whose own words are of its encoding
	}
	if d.TotalCount() != h.Count {
		return nil, fmt.Errorf("count says %d calls, the data hold %d", h.Count, d.TotalCount())
	}
	if h.Count > 0 && (h.Min < 0 || float64(h.Min) > h.Mean+1 || h.Mean > float64(h.Max)+1 || math.IsNaN(h.Mean)) { // 1 ns for rounding
		return nil, fmt.Errorf("min %d, mean %g and max %d ns are not in order", h.Min, h.Mean, h.Max)
	}
	return d, nil
}

// checkGeometry reads the range and precision that the encoded histogram asks for, before anything is allocated for them.
func checkGeometry(data string) error {
	r := base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))
	if _, err := io.CopyN(io.Discard, r, compressedPrefix); err != nil {
		return &wordError{`"data" is too short, or no base64`, err}
	}
	z, err := zlib.NewReader(r)
	if err != nil {
		return &wordError{`"data" is no HdrHistogram in its compressed V2 form`, err}
	}
	var header [v2HeaderSize]byte
	if _, err := io.ReadFull(z, header[:]); err != nil {
		return &wordError{`"data" is no HdrHistogram in its compressed V2 form`, err}
	}
	// cookie, payload length, index offset, digits (4 bytes each), lowest, highest (8 bytes each), ratio
	var v struct {
		Cookie, Payload, Offset, Digits int32
		Lowest, Highest                 int64
	}
	if err := binary.Read(bytes.NewReader(header[:]), binary.BigEndian, &v); err != nil {
		return err
	}
	if v.Digits > maxHistogramDigits || v.Highest > maxHistogramValue || v.Lowest > maxHistogramValue {
		return fmt.Errorf("a histogram of %d digits from %d to %d ns: want at most %d digits and 24 h", v.Digits, v.Lowest, v.Highest, maxHistogramDigits)
	}
	return nil
}

// Merged is one population of calls out of one or more histograms, in nanoseconds. Min, Mean and Max are exact; the
// quantiles are the histogram's, held within Min and Max, so that Min <= any quantile <= Max.
type Merged struct {
	Count    int64
	Min, Max int64
	Mean     float64
	// Clamped says that times beyond the histogram's range were counted at its end: quantiles that reach there are too low.
	Clamped bool

	hist *hdrhistogram.Histogram
}

// Merge adds histograms up: percentiles must never be averaged, but counts may. With no histogram, or none that
// counts a call, Count is 0 and there is nothing else to know.
func Merge(hs ...Histogram) (Merged, error) {
	var m Merged
	for _, h := range hs {
		d, err := h.Decode()
		if err != nil {
			return Merged{}, err
		}
		if h.Count == 0 {
			continue
		}
		m.Clamped = m.Clamped || h.Max > d.Max() // the longest time is not in the bucket where it belongs
		if m.hist == nil {
			m.hist, m.Count, m.Min, m.Mean, m.Max = d, h.Count, h.Min, h.Mean, h.Max
			continue
		}
		if dropped := m.hist.Merge(d); dropped > 0 {
			return Merged{}, fmt.Errorf("merge step %q, %s: %d calls lie beyond the range of the first histogram", h.Step, h.Outcome, dropped)
		}
		if m.Count > math.MaxInt64-h.Count {
			return Merged{}, errors.New("merge: more calls than can be counted")
		}
		m.Count += h.Count
		m.Mean += (h.Mean - m.Mean) * (float64(h.Count) / float64(m.Count))
		m.Min, m.Max = min(m.Min, h.Min), max(m.Max, h.Max)
	}
	return m, nil
}

// Quantile is the time in nanoseconds that the share q (0 to 1) of the calls took at most: that of the call with rank
// ceil(q*Count), as in an exact sort (the histogram's own rounding would take the rank below in half of the cases, which
// in a thin tail is another figure). ok is false without calls.
func (m Merged) Quantile(q float64) (ns int64, ok bool) {
	if m.Count == 0 || math.IsNaN(q) {
		return 0, false
	}
	n := float64(m.Count)
	rank := math.Ceil(min(max(q, 0), 1)*n - 1e-6) // 0.9*10 is a little above 9
	v := m.hist.ValueAtPercentile(100 * rank / n)
	return min(max(v, m.Min), m.Max), true
}
