package workload

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"bakeoff/service"
)

// TestBodies: each body is of the size that its workload names, the same every time, and compresses as its kind should.
func TestBodies(t *testing.T) {
	sizes := map[string]int{"0": 0, "100": 100, "1k": 1 << 10, "10k": 10 << 10, "100k": 100 << 10, "1m": 1 << 20}
	for _, w := range Payloads {
		var seen []service.Payload
		for worker := range 2 {
			api := &echoes{}
			calls, err := w.Start(t.Context(), api, settings(worker))
			if err != nil {
				t.Fatal(err)
			}
			if err := calls[0](t.Context(), 0); err != nil {
				t.Errorf("%s: %v", w.Name, err)
			}
			seen = append(seen, api.last)
		}
		var size, kind string
		fmt.Sscanf(w.Name, "payload-%s", &size)
		if before, ok := strings.CutSuffix(size, "-bytes"); ok {
			size, kind = before, "bytes"
		}
		p, want := seen[0], sizes[size]
		if p.Text != seen[1].Text || !bytes.Equal(p.Data, seen[1].Data) {
			t.Errorf("%s: two workers send two bodies", w.Name)
		}
		if kind == "bytes" && (len(p.Data) != want || p.Text != "") || kind == "" && (len(p.Text) != want || p.Data != nil) || !utf8.ValidString(p.Text) {
			t.Errorf("%s: %d bytes of text and %d others, want %d of one kind", w.Name, len(p.Text), len(p.Data), want)
		}
		if want < 10<<10 {
			continue
		}
		ratio := float64(want) / float64(len(zipped(append([]byte(p.Text), p.Data...))))
		if kind == "bytes" && ratio > 1 || kind == "" && (ratio < 3 || ratio > 6) {
			t.Errorf("%s: gzip makes it %.2f times smaller", w.Name, ratio)
		}
	}
}

type echoes struct {
	service.API
	last service.Payload
}

func (e *echoes) Echo(_ context.Context, p service.Payload) (service.Payload, error) {
	e.last = p
	return p, nil
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}
