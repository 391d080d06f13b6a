package serving

import (
	"bytes"
	"strings"
	"testing"

	"bakeoff/protocol/gzipped"
)

func TestWhoIsAnsweredCompressed(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "br, GZIP ; q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false, "gzip;q=1, br": true, "identity": false, "br": false, "xgzip": false,
	} {
		for _, on := range []bool{true, false} {
			r := Rules{Compressed: on}
			answer := append(make([]byte, 0, 4096), strings.Repeat("an answer ", 100)...)
			body, zipped := r.Compress(accept, answer)
			if zipped != (want && on) {
				t.Errorf("Accept-Encoding %q, option %t: compressed %t", accept, on, zipped)
			}
			if string(answer) != strings.Repeat("an answer ", 100) {
				t.Errorf("Accept-Encoding %q: the answer was overwritten", accept)
			}
			if zipped {
				var err error
				if body, err = gzipped.Expand(nil, bytes.NewReader(body), 1000); err != nil {
					t.Error(err)
				}
			}
			if !bytes.Equal(body, answer) {
				t.Errorf("Accept-Encoding %q, option %t: %q", accept, on, body)
			}
		}
	}
}

func TestContentEncodings(t *testing.T) {
	for _, row := range []struct {
		op       Op
		encoding string
		says     string
	}{
		{DataType, "", ""}, {Echo, "gzip", ""}, {RecordRoute, "", ""}, {Health, "", ""},
		{Echo, "br", `the content encoding is "br": send it as it is, or in gzip`},
		{RecordRoute, "gzip", `the content encoding is "gzip": send it as it is`},
		{Health, "gzip", `the content encoding is "gzip": send it as it is`},
	} {
		no := Encoded(row.op, row.encoding)
		if (no == nil) != (row.says == "") || no != nil && (no.Status != 415 || no.Detail != row.says) {
			t.Errorf("%d with %q: %+v, want %q", row.op, row.encoding, no, row.says)
		}
	}
}
