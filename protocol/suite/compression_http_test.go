package suite

import (
	"bytes"
	"io"
	stdhttp "net/http"
	"strings"
	"testing"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/protocol/gzipped"
)

// TestCompressedHTTP has what clients of all kinds may send to the servers of the HTTP API, one request after another over one
// connection.
func TestCompressedHTTP(t *testing.T) {
	message := `{"text":"` + strings.Repeat("語音接通 ", 1000) + `","data":""}`
	for _, name := range []string{"http", "http-std"} {
		for _, on := range []bool{true, false} {
			p, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			if on {
				p.Tuning.Knobs = map[string]string{protocol.KnobCompression: protocol.Gzip}
			}
			addr := serving(t, p, nil)
			library := &stdhttp.Transport{DisableCompression: true, MaxConnsPerHost: 1}
			for _, row := range []struct {
				what, encoding, accept string
				body                   []byte
				status                 int
				zipped                 bool // the answer, if the server has the option
			}{
				{"plain", "", "", []byte(message), 200, false},
				{"plain, of one who takes gzip", "", "gzip", []byte(message), 200, true},
				{"plain, of one who does not", "", "br, gzip;q=0", []byte(message), 200, false},
				{"compressed", "gzip", "", gzipped.Append(nil, []byte(message)), 200, false},
				{"compressed both ways", "gzip", "deflate, gzip", gzipped.Append(nil, []byte(message)), 200, true},
				{"no gzip", "gzip", "gzip", []byte(message), 400, false},
				{"half", "gzip", "gzip", gzipped.Append(nil, []byte(message))[:40], 400, false},
				{"compressed otherwise", "br", "gzip", []byte(message), 415, false},
				{"too large once it is expanded", "gzip", "gzip", gzipped.Append(nil, make([]byte, 64<<20)), 413, false},
				{"and plain again", "", "gzip", []byte(message), 200, true},
			} {
				r, err := stdhttp.NewRequestWithContext(t.Context(), "POST", "http://"+addr+httpapi.PathEcho, bytes.NewReader(row.body))
				if err != nil {
					t.Fatal(err)
				}
				for header, value := range map[string]string{"Content-Encoding": row.encoding, "Accept-Encoding": row.accept} {
					if value != "" {
						r.Header.Set(header, value)
					}
				}
				resp, err := library.RoundTrip(r)
				if err != nil {
					t.Fatalf("%s, %s: %v", name, row.what, err)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				encoding := ""
				if row.zipped && on {
					encoding = "gzip"
				}
				if err != nil || resp.StatusCode != row.status || resp.Header.Get("Content-Encoding") != encoding {
					t.Errorf("%s, option %t, %s: status %d, encoding %q, %v: %.200s", name, on, row.what, resp.StatusCode, resp.Header.Get("Content-Encoding"), err, body)
					continue
				}
				if encoding != "" {
					if body, err = gzipped.Expand(nil, bytes.NewReader(body), 1<<20); err != nil {
						t.Errorf("%s, %s: %v", name, row.what, err)
					}
				}
				if row.status == 200 && string(body) != message {
					t.Errorf("%s, option %t, %s: another answer, %.100s", name, on, row.what, body)
				}
			}
			library.CloseIdleConnections()
		}
	}
}
